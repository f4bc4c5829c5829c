import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP

/// A host with one link to a peer it is bonded with, and what that peer knows of the enhanced ATT bearers between them.
struct BearerBench {
    /// What the peer takes on a channel.
    struct Limits {
        var mtu: UInt16
        var mps: UInt16
    }

    /// One channel, as the peer sees it.
    private struct Channel {
        /// The endpoints of the host and of the peer.
        let local: ChannelIdentifier
        let remote: ChannelIdentifier
        var limits: Limits
        /// The longest SDU the host takes, and how many K-frames it lets the peer be ahead.
        let localMTU: UInt16
        let window: Int
        /// How many K-frames the host may send, and the peer.
        var credits: Int
        var peerCredits: Int
        /// The SDU that the host is sending, and how much of it is missing.
        var sdu: [UInt8] = []
        var missing = 0
        /// How many of the peer's PDUs the host may still answer.
        var unanswered = 0
        /// How many requests the host may still send: one more than the peer has sent frames that might be responses.
        var requestsLeft = 1
    }

    /// A request of the peer that waits for its response.
    private enum Request {
        case open([ChannelIdentifier], Limits, credits: UInt16)
        case reconfigure(ChannelIdentifier, Limits)
    }

    var host: HostBench
    private let role: LinkRole
    private var channels: [Channel] = []
    private var requests: [UInt8: Request] = [:]
    /// What the host has asked the peer for.
    private var asked: (identifier: UInt8, CreditBasedConnectionRequest)?
    private var identifier: UInt8 = 0
    private var endpointCount: UInt16 = 0
    /// Whether the peer knows its channels: not after a C-frame that the fuzzer made.
    private var knowsChannels = true
    /// How many K-frames the peer has sent to endpoints that it does not know: the host may be about to tell it of
    /// them.
    private var strayFrames = 0
    /// The beginning of a frame of the host's.
    private var frame: [UInt8] = []

    private static let peer = DeviceAddress(0xC000_0000_0001, kind: .public)
    static let central = BearerBench(role: .central)
    static let peripheral = BearerBench(role: .peripheral)

    private init(role: LinkRole) {
        self.role = role
        var bond = Bond(
            peer: PeerID(Self.peer), address: Self.peer,
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
        bond.centralKey = LongTermKey(key: 1)
        bond.peripheralKey = LongTermKey(key: 1)
        host = HostBench(bond: bond)
        do throws(FuzzViolation) {
            if role == .central { host.connect(to: Self.peer) } else { host.advertise() }
            try answerCommands()
            host.reportConnection(role: role == .central ? 0 : 1, handle: 1, Self.peer)
            try answerCommands()
            // The first packet establishes the link: a read, which is answered.
            receiveAttribute([0x0A, 0x03, 0x00].span)
            encrypt(true)
            try answerCommands()
            host.completePackets(handle: 1, count: 4)
            try settle()
        } catch {
            fatalError("\(error)")
        }
        guard let link = host.links.first, host.host.information(of: link)?.security.isEncrypted == true else {
            fatalError("the link is not encrypted")
        }
    }

    private mutating func answerCommands() throws(FuzzViolation) {
        try settle()
        while let opcode = host.unanswered.first {
            let isAnnounced = [.leCreateConnection, .leExtendedCreateConnection, .leEnableEncryption].contains(opcode)
            let parameters: [UInt8] = isAnnounced ? [] : [0]
            host.answerCommand(status: 0, parameters.span)
            try settle()
        }
    }

    // MARK: - The application, and the peer

    mutating func start(_ operation: Int, on bearer: Int) {
        guard let link = host.links.first else { return }
        let bearers = [AttributeChannel.ID.first] + host.host.enhancedBearers(of: link)
        let operation = GATTClientOperation.forFuzzing[operation]
        let id = try? host.host.start(operation, on: link, bearer: bearers[bearer % bearers.count], at: host.now)
        if let id { host.operations.insert(.init(link: link, identifier: id)) }
    }

    /// After a while the host expects no answer any more.
    mutating func pass(_ time: Duration) {
        asked = nil
        host.pass(time)
    }

    mutating func encrypt(_ isEncrypted: Bool) {
        asked = nil
        var writer = ByteWriter()
        if isEncrypted, role == .peripheral {
            LELongTermKeyRequest(connectionHandle: 1, randomNumber: 0, encryptedDiversifier: 0)
                .encodePacket(into: &writer)
            host.receive(writer.bytes.span)
            writer.removeAll()
        }
        EncryptionChange(status: .success, connectionHandle: 1, encryption: isEncrypted ? .on : .off)
            .encodePacket(into: &writer)
        host.receive(writer.bytes.span)
    }

    /// A PDU on the fixed channel.
    mutating func receiveAttribute(_ pdu: Span<UInt8>) {
        host.receiveFrame(handle: 1, ChannelIdentifier.attributeProtocol.rawValue, pdu)
    }

    /// A PDU on a bearer, in one K-frame, or in two of which the first has so many octets of it.
    mutating func receiveSDU(on number: Int, split: UInt8, _ pdu: Span<UInt8>) {
        guard !channels.isEmpty else { return }
        let endpoint = channels[number % channels.count].local.rawValue
        let count = split == 0 ? pdu.count : min(Int(split), pdu.count)
        var first = ByteWriter()
        first.append(UInt16(truncatingIfNeeded: pdu.count))
        first.append(pdu.extracting(first: count))
        receiveFrame(on: endpoint, first.bytes.span)
        if count < pdu.count { receiveFrame(on: endpoint, pdu.extracting(count..<pdu.count)) }
    }

    mutating func receiveFrame(on endpoint: UInt16, _ payload: Span<UInt8>) {
        if let index = channels.lastIndex(where: { $0.local.rawValue == endpoint }) {
            channels[index].peerCredits -= 1
            channels[index].unanswered += 1
            channels[index].requestsLeft += 1
        } else {
            strayFrames += 1
        }
        host.receiveFrame(handle: 1, endpoint, payload)
    }

    mutating func receiveCommand(_ payload: Span<UInt8>) {
        knowsChannels = false
        channels.removeAll()
        host.receiveFrame(handle: 1, ChannelIdentifier.leSignalling.rawValue, payload)
    }

    private mutating func send(_ pdu: some SignallingPDU, as identifier: UInt8) {
        var writer = ByteWriter()
        pdu.encode(identifier: identifier, into: &writer)
        host.receiveFrame(handle: 1, ChannelIdentifier.leSignalling.rawValue, writer.bytes.span)
    }

    private mutating func makeIdentifier() -> UInt8 {
        identifier = identifier == .max ? 1 : identifier + 1
        return identifier
    }

    private mutating func makeEndpoints(_ count: Int) -> [ChannelIdentifier] {
        (0..<count).map { _ in
            endpointCount += 1
            return ChannelIdentifier(ChannelIdentifier.leDynamicRange.lowerBound + endpointCount % 64)
        }
    }

    mutating func open(_ count: Int, _ limits: Limits, credits: UInt16) {
        let request = CreditBasedConnectionRequest(
            spsm: 0x0027, mtu: limits.mtu, mps: limits.mps, initialCredits: credits, sources: makeEndpoints(count))
        let identifier = makeIdentifier()
        requests[identifier] = .open(request.sources, limits, credits: credits)
        send(request, as: identifier)
    }

    /// Grants the first of the channels that the host has asked for.
    mutating func accept(_ count: Int, _ limits: Limits, credits: UInt16) {
        guard let (identifier, request) = asked else { return }
        asked = nil
        let endpoints = makeEndpoints(min(count, request.sources.count))
        let refused = [ChannelIdentifier](repeating: 0, count: request.sources.count - endpoints.count)
        // What is not allowed opens nothing.
        let isValid = min(limits.mtu, limits.mps) >= 64 && credits > 0
        for (local, remote) in zip(request.sources, endpoints) where knowsChannels && isValid {
            add(local, remote, limits, credits, (request.mtu, request.initialCredits))
        }
        let response = CreditBasedConnectionResponse(
            mtu: limits.mtu, mps: limits.mps, initialCredits: credits,
            result: refused.isEmpty ? .successful : .noResourcesAvailable, destinations: endpoints + refused)
        send(response, as: identifier)
    }

    private mutating func add(
        _ local: ChannelIdentifier, _ remote: ChannelIdentifier, _ limits: Limits, _ credits: UInt16,
        _ host: (mtu: UInt16, credits: UInt16)
    ) {
        channels.append(
            Channel(
                local: local, remote: remote, limits: limits, localMTU: host.mtu, window: Int(host.credits),
                credits: Int(credits), peerCredits: Int(host.credits) - strayFrames, unanswered: strayFrames,
                requestsLeft: 1 + strayFrames))
    }

    mutating func giveCredits(_ count: UInt16, on number: Int) {
        guard !channels.isEmpty else { return }
        let index = number % channels.count
        channels[index].credits += Int(count)
        send(FlowControlCredit(channel: channels[index].remote, credits: count), as: makeIdentifier())
    }

    mutating func reconfigure(_ number: Int, _ limits: Limits) {
        guard !channels.isEmpty else { return }
        let remote = channels[number % channels.count].remote, identifier = makeIdentifier()
        requests[identifier] = .reconfigure(remote, limits)
        send(CreditBasedReconfigureRequest(mtu: limits.mtu, mps: limits.mps, channels: [remote]), as: identifier)
    }

    mutating func close(_ number: Int) {
        guard !channels.isEmpty else { return }
        let channel = channels[number % channels.count]
        send(DisconnectionRequest(destination: channel.local, source: channel.remote), as: makeIdentifier())
    }

    // MARK: - What must hold

    mutating func settle() throws(FuzzViolation) {
        try host.settle()
        let sent = host.sent
        host.sent.removeAll(keepingCapacity: true)
        for packet in sent { try take(packet) }
        for link in host.links {
            let count = host.host.enhancedBearerCount(of: link)
            try require(count <= HostBench.enhancedBearers, "\(count) bearers")
            try require(
                count == 0 || host.host.information(of: link)?.security.isEncrypted == true,
                "a bearer on a link that is not encrypted")
        }
    }

    private mutating func take(_ bytes: [UInt8]) throws(FuzzViolation) {
        guard let packet = try? ACLDataPacket(decoding: bytes.span.extracting(droppingFirst: 1)) else { return }
        if packet.boundary != .continuing { frame.removeAll() }
        frame += Array(packet.data)
        let bytes = frame
        guard let frame = L2CAPFrame(whole: bytes.span) else { return }
        let payload = Array(frame.payload)
        switch frame.channel {
        case .leSignalling: try takeCommand(payload)
        case .attributeProtocol, .securityManager: return
        default: try takeFrame(payload, on: frame.channel)
        }
    }

    private mutating func takeCommand(_ payload: [UInt8]) throws(FuzzViolation) {
        guard let command = try? SignallingCommand(decoding: payload.span) else {
            throw FuzzViolation(description: "the C-frame \(payload.hexadecimal())")
        }
        let identifier = command.identifier
        let data = ByteReader(command.data)
        switch SignallingCode(rawValue: command.code) {
        case .creditBasedConnectionRequest:
            if let request = try? CreditBasedConnectionRequest(decoding: data) { asked = (identifier, request) }
        case .creditBasedConnectionResponse:
            guard let response = try? CreditBasedConnectionResponse(decoding: data),
                case .open(let sources, let limits, let credits)? = requests.removeValue(forKey: identifier),
                knowsChannels
            else { return }
            for (local, remote) in zip(response.destinations, sources) where local != 0 {
                add(local, remote, limits, credits, (response.mtu, response.initialCredits))
            }
        case .creditBasedReconfigureResponse:
            guard let response = try? CreditBasedReconfigureResponse(decoding: data), response.result == .successful,
                case .reconfigure(let remote, let limits)? = requests.removeValue(forKey: identifier),
                let index = channels.lastIndex(where: { $0.remote == remote })
            else { return }
            channels[index].limits = limits
        case .flowControlCredit:
            guard let credit = try? FlowControlCredit(decoding: data),
                let index = channels.lastIndex(where: { $0.local == credit.channel })
            else { return }
            channels[index].peerCredits += Int(credit.credits)
            try require(credit.credits > 0, "no credits")
            try require(channels[index].peerCredits <= channels[index].window, "more credits than the window has")
        case .disconnectionRequest:
            guard let request = try? DisconnectionRequest(decoding: data) else { return }
            remove(request.source, request.destination)
        case .disconnectionResponse:
            guard let response = try? DisconnectionResponse(decoding: data) else { return }
            remove(response.destination, response.source)
        default: return
        }
    }

    /// The last packets on a channel that ends may have been meant for the next channel at the same endpoint, which
    /// has not been reported yet.
    private mutating func remove(_ local: ChannelIdentifier, _ remote: ChannelIdentifier) {
        guard let index = channels.lastIndex(where: { $0.local == local && $0.remote == remote }) else { return }
        let channel = channels.remove(at: index)
        strayFrames += max(channel.unanswered, channel.requestsLeft)
    }

    private mutating func takeFrame(_ payload: [UInt8], on remote: ChannelIdentifier) throws(FuzzViolation) {
        guard knowsChannels else { return }
        guard let index = channels.lastIndex(where: { $0.remote == remote }) else {
            throw FuzzViolation(description: "a K-frame on a channel that is closed")
        }
        let limits = channels[index].limits
        channels[index].credits -= 1
        try require(channels[index].credits >= 0, "a K-frame without a credit")
        try require(payload.count <= Int(limits.mps), "a K-frame of \(payload.count) octets")
        if channels[index].missing == 0 {
            try require(payload.count > 2, "a K-frame without an SDU")
            channels[index].sdu = Array(payload.dropFirst(2))
            channels[index].missing = (Int(payload[0]) | Int(payload[1]) << 8) - payload.count + 2
        } else {
            channels[index].sdu += payload
            channels[index].missing -= payload.count
        }
        try require(channels[index].missing >= 0, "more than the SDU has")
        let sdu = channels[index].sdu
        let mtu = max(64, min(limits.mtu, channels[index].localMTU))
        try require(sdu.count + channels[index].missing <= Int(mtu), "an SDU of \(sdu.count) octets")
        if channels[index].missing == 0 { try take(sdu, &channels[index]) }
    }

    private func take(_ pdu: [UInt8], _ channel: inout Channel) throws(FuzzViolation) {
        switch ATTOpcode.Kind(ofOpcode: pdu[0]) {
        case .request:
            channel.requestsLeft -= 1
            try require(channel.requestsLeft >= 0, "a request before the response to the last one")
        case .response, .confirmation:
            channel.unanswered -= 1
            try require(channel.unanswered >= 0, "an answer to nothing")
        case .command, .notification, .indication: return
        }
    }
}
