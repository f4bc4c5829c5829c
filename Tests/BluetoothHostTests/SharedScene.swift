import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

/// A shared host on a controller that is a list of answers, and peers that have one characteristic, at handle 3, which
/// notifies.
struct SharedScene {
    static let value: AttributeHandle = 3, end: AttributeHandle = 4
    private static let mtu = UInt8(23)

    var host: SharedHost
    /// The commands that no test has taken yet.
    private var commands: [HCIOpcode] = []
    /// The parameters of the last command of each kind.
    private(set) var parameters: [HCIOpcode: [UInt8]] = [:]
    /// The peer address of the last attempt to connect, as the controller was given it.
    private(set) var target: [UInt8] = []
    /// What peers were asked to write, as `connection: octets`.
    private var writes: [String] = []
    /// All other requests that peers got, as `connection: octets`.
    private var requests: [String] = []
    /// What peers got from the Security Manager, which no peer here answers.
    private var pairingPDUs: [[UInt8]] = []
    /// What peers got over credit-based channels, which they do not answer by themselves, as `endpoint: octets`.
    private var sdus: [String] = []
    /// What peers answer, by the octets of the request; nothing where that is empty. To most requests for services they
    /// answer that there are none.
    var responses: [[UInt8]: [UInt8]] = [:]
    /// What peers send before they answer, by the octets of the request: one at a time.
    var interruptions: [[UInt8]: [[UInt8]]] = [:]
    /// How many sightings came with the last events of each user.
    private(set) var sightingCounts: [UserID: Int] = [:]
    /// The last events with sightings of each user, as `call: indices`.
    private(set) var sightingEvents: [UserID: [String]] = [:]
    /// Everything that peers were asked, but confirmations.
    private var pdus: [String] = []
    /// How many confirmations peers got.
    private(set) var confirmationCount = 0
    /// Whether the lines of users include the beginnings of subscriptions.
    var showsBeginnings = false
    /// Whether the controller reports each packet as sent.
    var completesPackets = true
    /// What peers do not answer.
    var silences: Set<[UInt8]> = []
    /// What each user was told, as lines.
    private var told: [UserID: [String]] = [:]
    private(set) var links: [LinkIdentifier] = []
    private var now = Instant.zero
    private var deadline: Instant?
    /// What the controller answers.
    var answers: [HCIOpcode: ScriptedController.Answer]

    init(
        users: UserID..., configuration: HostConfiguration = HostConfiguration(seed: 7),
        answers: [HCIOpcode: ScriptedController.Answer] = ScriptedController.answers()
    ) {
        self.answers = answers
        host = SharedHost(configuration: configuration)
        host.start(at: now)
        for user in users { perform(.attach, of: user) }
        settle()
        for user in users { _ = take(user) }
        commands = []
    }

    mutating func perform(
        _ kind: HostCall.Kind, _ token: UInt64 = 0, of user: UserID, keepsOrder: Bool = true,
        knownChanges: UInt32? = nil
    ) {
        let call = HostCall(
            user: user, token: CallToken(rawValue: token), kind: kind, keepsOrder: keepsOrder,
            knownChanges: knownChanges)
        host.perform([call], at: now)
        settle()
    }

    mutating func connect(to address: DeviceAddress, _ token: UInt64, of user: UserID) {
        perform(.connect(PeerID(address), ConnectRequest()), token, of: user)
    }

    /// A user opens a channel, and the peer of handle 0x40 accepts it, with K-frames of 23 octets.
    ///
    /// - Parameters:
    ///   - number: the number of the request on this link, from 1.
    ///   - credits: those that the peer gives.
    mutating func openChannel(
        _ number: UInt8 = 1, on link: LinkIdentifier, _ parameters: ChannelParameters, _ token: UInt64,
        of user: UserID, credits: UInt8 = 1
    ) {
        perform(.channel(link, .open(psm: 0x25, parameters, count: nil)), token, of: user)
        let endpoint = 0x4F + number
        receive(
            [0x15, number, 0x0A, 0, endpoint, 0, 0x64, 0, 0x17, 0, credits, 0, 0, 0], on: 0x40, channel: 0x05)
    }

    mutating func subscribe(_ link: LinkIdentifier, _ token: UInt64, of user: UserID) {
        let request = SubscriptionRequest(
            characteristic: Self.value, end: Self.end, configuration: .notifications)
        perform(.subscribe(link, request), token, of: user)
    }

    /// Lets time pass.
    mutating func run(for duration: Duration) {
        let end = now.advanced(by: duration)
        while let deadline = host.nextDeadline, deadline <= end {
            now = max(now, deadline)
            host.fire(at: now)
            settle()
        }
        now = end
    }

    /// What pairing will do: the peer of a link proves who it is.
    mutating func learn(_ identity: DeviceAddress, of link: LinkIdentifier) throws {
        try host.host.learnIdentity(identity, of: link, at: now)
        host.fire(at: now)
        settle()
    }

    /// A bond of an earlier run.
    mutating func restore(_ identity: DeviceAddress, of peer: PeerID) throws {
        try host.host.restoreIdentity(identity, of: peer, at: now)
    }

    /// Another one, with its keys.
    mutating func restore(_ bond: Bond) {
        host.setIdentity(
            DeviceIdentity(address: DeviceAddress(1, kind: .public), resolvingKey: 1), bonds: [bond], at: now)
        settle()
    }

    /// What a user was told since the last call.
    mutating func take(_ user: UserID) -> [String] { told.removeValue(forKey: user) ?? [] }

    mutating func takeCommands() -> [HCIOpcode] {
        defer { commands = [] }
        return commands
    }

    /// What peers were asked since the last call.
    mutating func takePDUs() -> [String] {
        defer { pdus = [] }
        return pdus
    }

    mutating func takeWrites() -> [String] {
        defer { writes = [] }
        return writes
    }

    mutating func takeRequests() -> [String] {
        defer { requests = [] }
        return requests
    }

    mutating func takePairingPDUs() -> [[UInt8]] {
        defer { pairingPDUs = [] }
        return pairingPDUs
    }

    mutating func takeSDUs() -> [String] {
        defer { sdus = [] }
        return sdus
    }

    // MARK: - The controller

    /// A connection, and the first packet from its peer.
    mutating func reportConnection(_ handle: UInt8, role: ConnectionRole = .central, peer: DeviceAddress) {
        let connection = ConnectionHandle(UInt16(handle))
        receive(
            LEConnectionComplete(
                status: .success, connectionHandle: connection, role: role, peerAddress: peer,
                interval: ConnectionInterval(rawValue: 24), supervisionTimeout: SupervisionTimeout(rawValue: 400)))
        receive(LEReadRemoteFeaturesComplete(status: .success, connectionHandle: connection, features: []))
    }

    /// The host advertises for a user, and a peer connects.
    mutating func accept(_ handle: UInt8, from peer: DeviceAddress, for user: UserID) {
        perform(.advertise(AdvertisingRequest(AdvertisementData())), of: user)
        reportConnection(handle, role: .peripheral, peer: peer)
    }

    mutating func reportDisconnection(_ handle: UInt8) {
        receive(DisconnectionComplete(connectionHandle: ConnectionHandle(UInt16(handle)), reason: .connectionTimeout))
    }

    mutating func notify(_ octet: UInt8, on handle: UInt8) {
        deliver([0x1B, UInt8(Self.value.rawValue), 0, octet], on: handle)
        settle()
    }

    mutating func reportEncryption(_ handle: UInt8 = 0x40) {
        receive(
            EncryptionChange(status: .success, connectionHandle: ConnectionHandle(UInt16(handle)), encryption: .on))
    }

    /// A PDU of a peer, on a fixed channel.
    mutating func receive(_ pdu: [UInt8], on handle: UInt8, channel: UInt8 = 0x04) {
        deliver(pdu, on: handle, channel: channel)
        settle()
    }

    /// An H4 packet of the controller.
    mutating func receive(packet: [UInt8]) {
        host.receive(packet.span, at: now)
        settle()
    }

    mutating func receive<Event: HCIEventBody & ~Escapable>(_ event: borrowing Event) {
        var writer = ByteWriter()
        event.encodePacket(into: &writer)
        host.receive(writer.bytes.span, at: now)
        settle()
    }

    private mutating func deliver(_ payload: [UInt8], on handle: UInt8, channel: UInt8 = 0x04) {
        let frame = frame(payload, on: channel)
        host.receive(([0x02, handle, 0x20, UInt8(frame.count), 0] + frame).span, at: now)
    }

    /// Ends a turn as an adapter does, which never misses a deadline although it does not always ask for the next one.
    mutating func endTurn() {
        host.endTurn(at: now)
        deadline = host.deadline(after: deadline, at: now)
        let next = host.nextDeadline
        #expect(earliest(deadline, next) == deadline)
    }

    /// Answers commands and requests until nothing is left, and ends the turn.
    private mutating func settle() {
        var isBusy = true
        while isBusy {
            endTurn()
            collect()
            var packets: [[UInt8]] = []
            host.withOutbox { outbox in
                while let packet = outbox.popFirst() { packets.append(packet) }
            }
            isBusy = !packets.isEmpty
            for packet in packets {
                if packet[0] == HCIPacketType.command.rawValue { answerCommand(packet) } else { answerData(packet) }
            }
        }
    }

    private mutating func answerCommand(_ packet: [UInt8]) {
        let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        commands.append(opcode)
        parameters[opcode] = Array(packet[4...])
        if opcode == .leCreateConnection { target = Array(packet[9...15]) }
        var writer = ByteWriter()
        switch answers[opcode] ?? .complete(.success) {
        case .complete(let status, let parameters):
            let returned = [status.rawValue] + parameters
            CommandComplete(opcode: opcode, returnParameters: returned.span).encodePacket(into: &writer)
        case .status(let status):
            CommandStatus(status: status, numHCICommandPackets: 1, opcode: opcode).encodePacket(into: &writer)
        case .cut: CommandComplete(opcode: opcode, returnParameters: Span()).encodePacket(into: &writer)
        case .silence: return
        }
        host.receive(writer.bytes.span, at: now)
        // What a controller says once it has given up.
        if opcode == .leCreateConnectionCancel {
            var writer = ByteWriter()
            LEConnectionComplete(
                status: .unknownConnectionIdentifier, connectionHandle: ConnectionHandle(0), role: .central,
                peerAddress: DeviceAddress(0, kind: .public), interval: ConnectionInterval(rawValue: 24),
                supervisionTimeout: SupervisionTimeout(rawValue: 400)
            ).encodePacket(into: &writer)
            host.receive(writer.bytes.span, at: now)
        }
    }

    private mutating func answerData(_ packet: [UInt8]) {
        let handle = packet[1], request = Array(packet[9...])
        if completesPackets { host.receive([0x04, 0x13, 5, 1, handle, 0, 1, 0].span, at: now) }
        if packet[7] == 0x06 { pairingPDUs.append(request) }
        if packet[7] >= 0x40 {
            sdus.append(
                "\(hexadecimal(packet[7])): \(request.dropFirst(2).map { hexadecimal($0) }.joined(separator: " "))")
        }
        // Only the Attribute Protocol is answered, and no confirmation.
        guard packet[7] == 0x04, request != [0x1E] else {
            if packet[7] == 0x04 { confirmationCount += 1 }
            return
        }
        let octets = request.map { hexadecimal($0, digits: 2) }.joined(separator: " ")
        pdus.append(octets)
        if silences.contains(request) { return }
        if request[0] != 0x02, request[0] != 0x12 { requests.append("\(handle): \(octets)") }
        if let interruption = interruptions[request]?.first {
            interruptions[request]?.removeFirst()
            deliver(interruption, on: handle)
        }
        if let response = responses[request] {
            if !response.isEmpty { deliver(response, on: handle) }
            return
        }
        switch request[0] {
        case 0x02: deliver([0x03, Self.mtu, 0], on: handle)
        case 0x04: deliver([0x05, 1, UInt8(Self.end.rawValue), 0, 0x02, 0x29], on: handle)
        case 0x12:
            writes.append("\(handle): \(octets.dropFirst(3))")
            deliver([0x13], on: handle)
        default:
            deliver([0x01, request[0], request[1], request[2], 0x0A], on: handle)
        }
    }

    // MARK: - The users

    /// The last events with sightings of each user, since this was last called.
    mutating func takeSightingEvents() -> [UserID: [String]] {
        defer { sightingEvents = [:] }
        return sightingEvents.filter { !$0.value.isEmpty }
    }

    private mutating func collect() {
        var batches: [EventBatch] = []
        host.deliverEvents { batches.append(copy $0) }
        for batch in batches {
            let user = batch.user
            sightingCounts[user] = batch.sightings.count
            sightingEvents[user] = batch.events.compactMap { event in
                if case .sightings(let token, let range) = event { "\(token.rawValue): \(range)" } else { nil }
            }
            for event in batch.events {
                if let line = text(event, batch) { told[user, default: []].append(line) }
                if case .linkBegan(let link, _) = event, !links.contains(link) { links.append(link) }
            }
        }
    }

    private func text(_ event: UserEvent, _ batch: borrowing EventBatch) -> String? {
        switch event {
        case .linkBegan(let link, let information): return "\(link) began with \(information.peer)"
        case .linkEnded(let link, _): return "\(link) ended"
        case .peerIdentified(let link, let peer): return "\(link) is with \(peer)"
        case .ended(let token, .success(.gatt(.services(let services)))):
            return "\(token.rawValue) found \(services.map { "\($0.startHandle)...\($0.endHandle)" })"
        case .ended(let token, .success(.link(let link))): return "\(token.rawValue) has \(link)"
        case .ended(let token, .success): return "\(token.rawValue) done"
        case .ended(let token, .failure(let error)): return "\(token.rawValue) failed: \(error)"
        case .subscriptionBegan(_, let token): return showsBeginnings ? "\(token.rawValue) began" : nil
        case .servicesChanged(let link, let handles):
            return "\(link) changed \(handles.lowerBound.rawValue) to \(handles.upperBound.rawValue)"
        case .power(_, let token, _): return "\(token.rawValue) power"
        case .authorizationRequested(_, let handle, let access): return "consent to \(access) \(handle.rawValue)"
        case .value(let link, _, let payload): return "\(link) value \(batch.octets(of: payload)[0])"
        default: return nil
        }
    }
}
