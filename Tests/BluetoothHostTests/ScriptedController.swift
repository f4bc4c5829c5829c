import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport

/// A host on a controller that is nothing but a list of answers, so that it can misbehave in any way.
struct ScriptedController {
    /// What comes back for a command.
    enum Answer {
        /// Command Complete, with these return parameters behind the status.
        case complete(HCIStatus, [UInt8] = [])
        case status(HCIStatus)
        /// Command Complete, cut off in front of its status.
        case cut
        case silence
    }

    struct Command: Equatable {
        var opcode: HCIOpcode
        var parameters: [UInt8]
    }

    var host: Host
    var now = Instant.zero
    var answers = Self.answers()
    /// What comes back the first time, before `answers`.
    var firstAnswers: [HCIOpcode: Answer] = [:]
    /// The commands and the ACL packets, without H4 indicator, that the host has sent and no test has taken yet.
    var commands: [Command] = []
    var data: [[UInt8]] = []
    /// The events of the host that no test has taken yet.
    var seen: [HostWorld.Seen] = []
    /// Whether every ACL packet is reported as sent right away.
    var completesPackets = true
    /// Where it answers at random now and then: its source of bits.
    var disturbance: SeededGenerator?
    /// Whether the host kept asking for time to pass that had passed already.
    private(set) var isStuck = false

    init(_ configure: (inout HostConfiguration) -> Void = { _ in }) {
        var configuration = HostConfiguration(seed: 7)
        configure(&configuration)
        host = Host(configuration: configuration)
    }

    /// A host whose controller is up.
    static func ready(
        _ answers: [HCIOpcode: Answer] = [:], _ configure: (inout HostConfiguration) -> Void = { _ in }
    ) -> ScriptedController {
        var controller = ScriptedController(configure)
        controller.answers.merge(answers) { $1 }
        controller.start()
        controller.commands.removeAll()
        controller.seen.removeAll()
        return controller
    }

    mutating func start() {
        host.start(at: now)
        settle()
    }

    // MARK: - Carrying packets

    /// Answers commands until the host has no more to say.
    mutating func settle() {
        while let packet = host.outbox.popFirst() {
            if packet[0] == HCIPacketType.command.rawValue {
                let command = Command(
                    opcode: HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8),
                    parameters: Array(packet[4...]))
                commands.append(command)
                // The one command that no controller answers (Core 5.4, Vol 4, Part E, 7.3.40).
                if command.opcode != .hostNumberOfCompletedPackets { answer(command.opcode) }
            } else {
                data.append(Array(packet[1...]))
                if completesPackets { complete(ConnectionHandle(UInt16(packet[1]) | UInt16(packet[2]) << 8), 1) }
            }
        }
        while let event = host.events.next() {
            seen.append(HostWorld.Seen(event: event, bytes: host.events.octets(of: event)))
        }
    }

    private mutating func answer(_ opcode: HCIOpcode) {
        if let answer = disturbedAnswer() { return reply(answer, opcode) }
        reply(firstAnswers.removeValue(forKey: opcode) ?? answers[opcode] ?? .complete(.success), opcode)
    }

    private mutating func disturbedAnswer() -> Answer? {
        guard disturbance?.oneIn(20) == true else { return nil }
        switch disturbance?.next() ?? 0 {
        case let bits where bits % 10 == 0: return .silence
        case let bits where bits % 10 < 4: return .status(bits % 20 < 10 ? .success : .commandDisallowed)
        case let bits where bits % 10 < 7: return .complete(bits % 20 < 10 ? .unknownCommand : .commandDisallowed)
        default: return .complete(.success, disturbance?.bytes(3) ?? [])
        }
    }

    private mutating func reply(_ answer: Answer, _ opcode: HCIOpcode) {
        switch answer {
        case .complete(let status, let parameters): complete(opcode, status, parameters)
        case .status(let status):
            receive(CommandStatus(status: status, numHCICommandPackets: 1, opcode: opcode))
        case .cut: receive(CommandComplete(opcode: opcode, returnParameters: Span()))
        case .silence: break
        }
    }

    mutating func complete(_ opcode: HCIOpcode, _ status: HCIStatus = .success, _ parameters: [UInt8] = []) {
        let returned = [status.rawValue] + parameters
        receive(CommandComplete(opcode: opcode, returnParameters: returned.span))
    }

    mutating func complete(_ handle: ConnectionHandle, _ count: UInt16) {
        let raw = handle.rawValue
        receive([
            0x04, 0x13, 0x05, 0x01, UInt8(truncatingIfNeeded: raw), UInt8(truncatingIfNeeded: raw >> 8),
            UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8),
        ])
    }

    mutating func receive(_ packet: [UInt8]) {
        host.receive(packet.span, at: now)
        settle()
    }

    mutating func receive<Event: HCIEventBody & ~Escapable>(_ event: borrowing Event) {
        var writer = ByteWriter()
        event.encodePacket(into: &writer)
        receive(writer.bytes)
    }

    /// Lets time pass.
    mutating func run(for duration: Duration) {
        settle()
        let limit = now.advanced(by: duration)
        var count = 0
        while let deadline = host.nextDeadline, deadline <= limit {
            count = deadline > now ? 0 : count + 1
            if count > 1000 {
                isStuck = true
                break
            }
            now = max(now, deadline)
            host.fire(at: now)
            settle()
        }
        now = limit
    }

    // MARK: - Looking

    /// The opcodes of the commands sent since the last call.
    mutating func takeOpcodes() -> [HCIOpcode] {
        defer { commands.removeAll() }
        return commands.map(\.opcode)
    }

    mutating func takeData() -> [[UInt8]] {
        defer { data.removeAll() }
        return data
    }

    /// The events since the last call, as `HostEvent.brief` puts them.
    mutating func takeEvents() -> [String] {
        defer { seen.removeAll() }
        return seen.map(\.event.brief)
    }

    // MARK: - Links

    static let peer = DeviceAddress(0xC0_FF_EE_00_00_01, kind: .public)

    /// Reports a connection.
    mutating func reportConnection(
        _ handle: ConnectionHandle = 0x40, role: ConnectionRole = .central, peer: DeviceAddress = Self.peer,
        status: HCIStatus = .success, interval: UInt16 = 24
    ) {
        receive(
            LEConnectionComplete(
                status: status, connectionHandle: handle, role: role, peerAddress: peer,
                interval: ConnectionInterval(rawValue: interval),
                supervisionTimeout: SupervisionTimeout(rawValue: 400)))
    }

    /// Reports the peer's features, the first packet from it.
    mutating func reportFeatures(_ handle: ConnectionHandle = 0x40, status: HCIStatus = .success) {
        receive(LEReadRemoteFeaturesComplete(status: status, connectionHandle: handle, features: []))
    }

    mutating func reportDisconnection(_ handle: ConnectionHandle = 0x40, _ reason: HCIStatus = .connectionTimeout) {
        receive(DisconnectionComplete(connectionHandle: handle, reason: reason))
    }

    /// Lets the host become the central of a peer, and forgets what was said about it.
    mutating func connect(
        _ handle: ConnectionHandle = 0x40, to peer: DeviceAddress = Self.peer
    ) throws -> LinkIdentifier {
        _ = try host.connect(to: PeerID(peer), timeout: nil, at: now)
        settle()
        reportConnection(handle, peer: peer)
        reportFeatures(handle)
        return try takeLink()
    }

    /// Lets a peer become the central of the host, which advertises.
    mutating func accept(
        _ handle: ConnectionHandle = 0x41, from peer: DeviceAddress = Self.peer
    ) throws -> LinkIdentifier {
        try host.startAdvertising(AdvertisingParameters(data: []), at: now)
        settle()
        reportConnection(handle, role: .peripheral, peer: peer)
        reportFeatures(handle)
        return try takeLink()
    }

    private mutating func takeLink() throws -> LinkIdentifier {
        let link = seen.compactMap { $0.event.connectedLink }.last
        commands.removeAll()
        data.removeAll()
        seen.removeAll()
        guard let link else { throw HostError.noSuchLink }
        return link
    }

    /// Brings an L2CAP frame from the peer, in one piece.
    mutating func receiveFrame(_ payload: [UInt8], on channel: UInt8 = 0x04, _ handle: ConnectionHandle = 0x40) {
        receiveFragment(frame(payload, on: channel), handle)
    }

    /// Brings a piece of a frame.
    mutating func receiveFragment(
        _ bytes: [UInt8], _ handle: ConnectionHandle = 0x40,
        _ boundary: ACLDataPacket.Boundary = .firstFlushable
    ) {
        var writer = ByteWriter()
        ACLDataPacket(connectionHandle: handle, boundary: boundary, data: bytes.span).encodePacket(into: &writer)
        receive(writer.bytes)
    }
}

/// A basic L2CAP frame.
func frame(_ payload: [UInt8], on channel: UInt8 = 0x04) -> [UInt8] {
    [UInt8(truncatingIfNeeded: payload.count), UInt8(truncatingIfNeeded: payload.count >> 8), channel, 0] + payload
}

extension ScriptedController {
    /// The answers of a small LE-only controller: four buffers of 27 octets, a filter accept list of four.
    static func answers() -> [HCIOpcode: Answer] {
        [
            .readLocalVersionInformation: .complete(.success, [9, 0, 0, 9, 0xFF, 0xFF, 0, 0]),
            .readLocalSupportedCommands: .complete(.success, [UInt8](repeating: 0xFF, count: 64)),
            .readLocalSupportedFeatures: .complete(.success, [0, 0, 0, 0, 0x60, 0, 0, 0]),
            .readBDADDR: .complete(.success, [0x01, 0, 0, 0, 0xC0, 0xA0]),
            .leReadBufferSizeV2: .complete(.success, [27, 0, 4, 0, 0, 0]),
            .leReadBufferSize: .complete(.success, [27, 0, 4]),
            .readBufferSize: .complete(.success, [0xFD, 0x03, 0, 5, 0, 0, 0]),
            .leReadLocalSupportedFeatures: .complete(.success, [0x08, 0, 0, 0, 0, 0, 0, 0]),
            .leReadFilterAcceptListSize: .complete(.success, [4]),
            .leCreateConnection: .status(.success), .disconnect: .status(.success),
            .leReadRemoteFeatures: .status(.success), .leConnectionUpdate: .status(.success),
            .leEnableEncryption: .status(.success),
        ]
    }
}
