import BluetoothBase

/// A fault that has befallen a packet between a host and its controller.
public struct HCIFault: Equatable, Sendable {
    /// What happened to the packet. `HCIFaultRates` says what each is.
    public enum Kind: String, CaseIterable, Sendable {
        case unansweredCommand, lateAnswer, doubledAnswer, withheldCredits
        case lateCompletion, lostCompletion, excessCompletion
        case doubled, cut, lengthened, torn, delay
        case overtaking, silence, hardwareError, reset
    }

    /// Which packet it was.
    public enum Packet: Equatable, Sendable {
        case command(HCIOpcode)
        /// Command Complete or Command Status.
        case answer(HCIOpcode)
        /// Any other event.
        case event(HCIEventCode)
        /// An LE Meta event.
        case leEvent(LESubeventCode)
        /// ACL data.
        case data(ConnectionHandle)
        /// One that LE hosts and controllers have no use for, or that is too short to say.
        case other
    }

    /// What happened.
    public var kind: Kind
    /// Which packet it was.
    public var packet: Packet
    /// Who was to read the packet.
    public var receiver: H4Framer.Receiver
    /// How long it lasts.
    public var duration: Duration?

    public init(kind: Kind, packet: Packet, receiver: H4Framer.Receiver, duration: Duration? = nil) {
        self.kind = kind
        self.packet = packet
        self.receiver = receiver
        self.duration = duration
    }
}

extension HCIFault: CustomStringConvertible {
    /// A line for a log, such as `the answer to LE Rand is late, for 250 ms`.
    public var description: String { what + (duration.map { ", for \($0.nanoseconds / 1_000_000) ms" } ?? "") }

    private var what: String {
        switch kind {
        case .unansweredCommand, .lostCompletion: "\(packet) is lost"
        case .lateAnswer, .lateCompletion: "\(packet) is late"
        case .doubledAnswer, .doubled: "\(packet) comes twice"
        case .withheldCredits: "\(packet) takes all credits for commands"
        case .excessCompletion: "\(packet) counts too many"
        case .cut: "\(packet) is cut"
        case .lengthened: "\(packet) is lengthened"
        case .torn: "\(packet) is torn"
        case .delay: "everything to the \(receiver) waits, \(packet) first"
        case .overtaking: "\(packet) and what follows on its way are overtaken"
        case .silence: "nothing reaches the host, \(packet) first"
        case .hardwareError: "the controller reports a Hardware Error, after \(packet)"
        case .reset: "the controller resets itself, after \(packet)"
        }
    }
}

extension HCIFault.Packet: CustomStringConvertible {
    public var description: String {
        switch self {
        case .command(let opcode): "\(opcode)"
        case .answer(let opcode): "the answer to \(opcode)"
        case .event(let code): "\(code)"
        case .leEvent(let code): "\(code)"
        case .data(let handle): "data of \(handle)"
        case .other: "a packet"
        }
    }
}

extension HCIFault.Packet {
    /// What a packet is, by its first octets.
    init(_ packet: Span<UInt8>) {
        switch (packet.isEmpty ? nil : HCIPacketType(rawValue: packet[0]), packet.count) {
        case (.command, 3...): self = .command(HCIOpcode(rawValue: packet.littleEndian(at: 1)))
        case (.aclData, 3...): self = .data(ConnectionHandle(packet.littleEndian(at: 1)))
        case (.event, 2...): self = Self.event(packet)
        default: self = .other
        }
    }

    private static func event(_ packet: Span<UInt8>) -> Self {
        switch HCIEventCode(rawValue: packet[1]) {
        case .commandComplete where packet.count >= 6: .answer(HCIOpcode(rawValue: packet.littleEndian(at: 4)))
        case .commandStatus where packet.count >= 7: .answer(HCIOpcode(rawValue: packet.littleEndian(at: 5)))
        case .leMeta where packet.count >= 4: .leEvent(LESubeventCode(rawValue: packet[3]))
        case let code: .event(code)
        }
    }
}

extension Span<UInt8> {
    /// Two octets, which must be there.
    fileprivate func littleEndian(at offset: Int) -> UInt16 { UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 }
}
