import BluetoothBase

/// A fault that was applied to a packet between a host and its controller.
public struct HCIFault: Equatable, Sendable {
    /// The kind of fault. `HCIFaultRates` describes each kind.
    public enum Kind: String, CaseIterable, Sendable {
        case unansweredCommand, lateAnswer, doubledAnswer, withheldCredits
        case lateCompletion, lostCompletion, excessCompletion
        case doubled, cut, lengthened, torn, delay
        case overtaking, silence, hardwareError, reset
    }

    /// The affected packet.
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
        /// A packet that LE hosts and controllers don't use, or that is too short to classify.
        case other
    }

    /// The kind of fault.
    public var kind: Kind
    /// The affected packet.
    public var packet: Packet
    /// The side that the packet was sent to.
    public var receiver: H4Framer.Receiver
    /// The duration of the fault; nil if it has none.
    public var duration: Duration?

    /// Creates the record of a fault. Pass nil as `duration` for a fault without a duration.
    public init(kind: Kind, packet: Packet, receiver: H4Framer.Receiver, duration: Duration? = nil) {
        self.kind = kind
        self.packet = packet
        self.receiver = receiver
        self.duration = duration
    }
}

extension HCIFault: CustomStringConvertible {
    /// A line for a log, for example `the answer to LE Rand is late, for 250 ms`.
    public var description: String { what + (duration.map { ", for \($0.nanoseconds / 1_000_000) ms" } ?? "") }

    private var what: String {
        switch kind {
        case .unansweredCommand, .lostCompletion: "\(packet) is lost"
        case .lateAnswer, .lateCompletion: "\(packet) is late"
        case .doubledAnswer, .doubled: "\(packet) is delivered twice"
        case .withheldCredits: "\(packet) withholds all command credits"
        case .excessCompletion: "\(packet) reports too many completed packets"
        case .cut: "\(packet) is shortened"
        case .lengthened: "\(packet) is lengthened"
        case .torn: "\(packet) is truncated"
        case .delay: "all packets to the \(receiver) are delayed, starting with \(packet)"
        case .overtaking: "\(packet) and packets of its kind are overtaken"
        case .silence: "nothing reaches the host, starting with \(packet)"
        case .hardwareError: "the controller reports a Hardware Error, after \(packet)"
        case .reset: "the controller resets itself, after \(packet)"
        }
    }
}

extension HCIFault.Packet: CustomStringConvertible {
    /// The packet in the words of a log line, such as `the answer to LE Rand` or `data of 0x0001`.
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
    /// Classifies a packet by its first octets.
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
    /// Reads two octets, which must exist.
    fileprivate func littleEndian(at offset: Int) -> UInt16 { UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 }
}
