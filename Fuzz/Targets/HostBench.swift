import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import VirtualRadio

/// A host that is up, and the operations on it that have not ended.
struct HostBench {
    struct Operation: Hashable {
        var link: LinkIdentifier
        var identifier: GATTClient.OperationID
    }

    /// The bearers beside the fixed channel of a link.
    static let enhancedBearers = 3

    var host: Host
    var now = Instant.zero.advanced(by: .seconds(60))

    /// Links that were reported as connected.
    var links: [LinkIdentifier] = []
    var operations: Set<Operation> = []
    var attempts: Set<ConnectionAttempt> = []
    var requests: Set<RequestIdentifier> = []
    var serverRequest: ServerRequest?

    /// Commands without an answer, oldest first.
    var unanswered: [HCIOpcode] = []
    /// The links of those that are Disconnect.
    var disconnecting: [ConnectionHandle] = []
    /// How many packets of each link the controller holds.
    var outstanding: [ConnectionHandle: Int] = [:]
    /// The packets that the host has sent over links, oldest first, until a target takes them.
    var sent: [[UInt8]] = []

    /// Whether the host has ever given the controller a key for a link.
    private var hasGivenKey = false

    /// The buffers reported by the controller. After a reset it may report something else.
    private var aclDataLength: Int { host.controller?.aclDataLength ?? 0 }
    private var aclBufferCount: Int { host.controller?.aclBufferCount ?? 0 }

    init() { host = Self.ready }

    /// A host that knows a peer.
    init(bond: Bond) { host = Self.bringUp(bond: bond) }

    private static let ready = bringUp()

    /// A host brought up on a virtual controller.
    private static func bringUp(bond: Bond? = nil) -> Host {
        var air = Air(seed: 1)
        var configuration = ControllerConfiguration(publicAddress: DeviceAddress(0xA000_0000_0001, kind: .public))
        configuration.aclDataLength = 64
        configuration.aclBufferCount = 4
        let controller = air.addController(configuration)
        var hostConfiguration = HostConfiguration(seed: 1)
        hostConfiguration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1))
        hostConfiguration.enhancedBearers = enhancedBearers
        var host = Host(configuration: hostConfiguration)
        host.server.database = .forFuzzing()
        guard (try? host.listen(on: 0x80, listener: ChannelListener())) != nil else {
            fatalError("no service over channels")
        }
        if let bond { host.restore(bond, at: .zero) }
        host.start(at: .zero)
        // A virtual controller answers at once.
        while host.controller == nil {
            guard let command = host.outbox.popFirst() else { fatalError("the host does not come up") }
            air.receive(command.span, from: controller, at: .zero)
            while let packet = air[controller].outbox.popFirst() { host.receive(packet.span, at: .zero) }
        }
        while host.events.next() != nil {}
        return host
    }

    mutating func pass(_ time: Duration) {
        now = now.advanced(by: time)
        host.fire(at: now)
    }

    /// Takes the host's packets and events.
    mutating func settle() throws(FuzzViolation) {
        while let packet = host.outbox.popFirst() { try check(packet) }
        while let event = host.events.next() { try check(event) }
        let total = outstanding.values.reduce(0, +)
        try require(total <= aclBufferCount, "\(total) packets where the controller has \(aclBufferCount) buffers")
        try require(Set(host.connectedLinks) == Set(links), "links whose start or end was not reported")
    }

    /// Lets time pass until nothing is pending: first with the current links, then without.
    mutating func endQuietly() throws(FuzzViolation) {
        host.stopScanning(at: now)
        host.stopAdvertising(at: now)
        try rest(disconnecting: false)
        try require(operations.isEmpty, "\(operations.count) operations never ended")
        try require(attempts.isEmpty, "\(attempts.count) attempts never ended")
        try require(requests.isEmpty, "\(requests.count) requests never ended")
        try rest(disconnecting: true)
        try require(links.isEmpty, "\(links.count) links stay for ever")
    }

    private mutating func rest(disconnecting: Bool) throws(FuzzViolation) {
        var steps = 0
        if disconnecting { disconnectAll() }
        try settle()
        while let deadline = host.nextDeadline {
            now = max(now, deadline)
            host.fire(at: now)
            try settle()
            try require(host.nextDeadline.map { $0 > now } ?? true, "a deadline that has passed")
            steps += 1
            try require(steps < 10_000, "it never comes to rest")
        }
    }

    private mutating func disconnectAll() {
        for link in host.connectedLinks { try? host.disconnect(link, at: now) }
    }

    // MARK: What the host tells

    private mutating func check(_ event: HostEvent) throws(FuzzViolation) {
        switch event {
        case .link(let link, .connected(let attempt)):
            try require(!links.contains(link), "connected twice")
            links.append(link)
            if let attempt { try end(attempt) }
        case .controller(.connectionFailed(let attempt, _)): try end(attempt)
        case .link(let link, .disconnected):
            guard let index = links.firstIndex(of: link) else {
                throw FuzzViolation(description: "the end of an unknown link")
            }
            links.remove(at: index)
            try require(!operations.contains { $0.link == link }, "operations outlive their link")
        case .client(let link, .operationEnded(let end)):
            let operation = Operation(link: link, identifier: end.identifier)
            try require(operations.remove(operation) != nil, "an operation ended twice")
        case .link(_, .requestCompleted(let request)), .link(_, .requestFailed(let request, _)),
            .link(_, .rssiRead(let request, _)), .link(_, .transmitPowerRead(let request, _)):
            try require(requests.remove(request) != nil, "a request ended twice")
        case .server(_, .readRequested(let request, _, _)), .server(_, .writeRequested(let request, _, _)),
            .server(_, .executeRequested(let request, _)), .server(_, .authorizationRequested(let request, _, _)):
            try require(links.contains(request.link), "a request on a link nobody knows")
            serverRequest = request
        case .client(let link, .notification(_, let payload)), .client(let link, .indication(_, let payload)),
            .server(let link, .valueWritten(_, let payload)):
            try require(links.contains(link), "a value on a link nobody knows")
            try require(payload.count <= 517, "a value of \(payload.count) octets")
        case .channel(let link, let event):
            try require(links.contains(link), "a channel of a link nobody knows")
            guard case .received(let channel, let payload) = event else { return }
            try require(payload.count <= 2048, "an SDU of \(payload.count) octets")
            host.consume(payload.count, of: channel, on: link)
        case .advertisement(let advertisement):
            try require(advertisement.data.count <= 255, "advertising data of \(advertisement.data.count) octets")
        case .periodic(_, .report(let report)):
            try require(report.data.count <= 1650, "periodic advertising of \(report.data.count) octets")
        case .subevents(_, .response(_, _, let report)):
            try require(report.data.count <= 255, "a response of \(report.data.count) octets")
        case .periodic, .subevents: return
        case .link(let link, .parametersChanged), .link(let link, .phyChanged), .link(let link, .power):
            try require(links.contains(link), "parameters of a link nobody knows")
        case .link(let link, .mtuChanged(let mtu)):
            try require(links.contains(link) && (23...517).contains(mtu), "an MTU of \(mtu)")
        case .link(let link, .lost), .link(let link, .readyToSend), .server(let link, .subscriptionChanged),
            .server(let link, .indicationConfirmed), .link(let link, .peerIdentified):
            try require(links.contains(link), "an event of a link nobody knows")
        case .security(let link, let event):
            try require(links.contains(link), "an event of a link nobody knows")
            try check(event, of: link)
        case .bondChanged, .bondMade, .bondVoid: try require(hasGivenKey, "a bond without an encrypted link")
        case .controller, .server(_, .requestExpired): return
        }
    }

    private mutating func check(_ event: HostEvent.Security, of link: LinkIdentifier) throws(FuzzViolation) {
        switch event {
        case .changed(let security):
            try require(hasGivenKey || !security.isEncrypted, "a link that is encrypted without a key")
        case .paired: try require(hasGivenKey, "paired without a key")
        // The application wants what its peers want.
        case .requested: try? host.pair(link, PairingParameters(), at: now)
        case .asked, .shown, .pairingFailed, .encryptionFailed: return
        }
    }

    private mutating func end(_ attempt: ConnectionAttempt) throws(FuzzViolation) {
        try require(attempts.remove(attempt) != nil, "an attempt ended twice")
    }

    // MARK: What the host sends

    private mutating func check(_ bytes: [UInt8]) throws(FuzzViolation) {
        do throws(DecodingFailure) {
            switch try HCIPacket(decoding: bytes.span) {
            case .command(let command):
                let known = try command.decodeKnown()
                if command.opcode != .hostNumberOfCompletedPackets { unanswered.append(command.opcode) }
                if known is Reset { reset() }
                hasGivenKey = hasGivenKey || known is LEEnableEncryption || known is LELongTermKeyRequestReply
                if let known = known as? Disconnect { disconnecting.append(known.connectionHandle) }
            case .aclData(let data):
                outstanding[data.connectionHandle, default: 0] += 1
                guard data.data.count <= aclDataLength, !data.data.isEmpty else {
                    throw DecodingFailure(.invalidLength, at: 2)
                }
                sent.append(bytes)
            case .event, .synchronousData, .isoData: throw DecodingFailure(.invalidValue, at: 0)
            }
        } catch {
            throw FuzzViolation(description: "the host sent \(bytes.hexadecimal()): \(error)")
        }
    }

    private mutating func reset() {
        outstanding = [:]
        unanswered = [.reset]
        disconnecting = []
    }
}
