import BluetoothBase
import BluetoothHCI
import Synchronization

/// A port whose controller says something else than it would.
public final class DisturbedPort: PacketPort {
    /// What becomes of a packet from the controller.
    public typealias Disturbance = @Sendable (_ packet: [UInt8]) -> [[UInt8]]

    private let port: any PacketPort
    private let disturbance = Mutex<Disturbance?>(nil)

    /// Creates a port that passes on all packets unchanged until `disturb` is called.
    public init(_ port: any PacketPort) { self.port = port }

    /// From now on each packet is replaced by what `disturbance` makes of it.
    public func disturb(_ disturbance: @escaping Disturbance) { self.disturbance.withLock { $0 = disturbance } }

    /// Disturbs one ATT PDU with an opcode, and leaves those before and after it alone.
    ///
    /// - Parameter number: which one, from 0 on.
    public func disturb(_ number: Int, of opcode: UInt8, by fault: FrameFault) {
        let count = Mutex(0)
        disturb { packet in
            // H4, ACL and L2CAP headers, then the PDU.
            guard packet.count > 9, packet[0] == 0x02, packet[7] == 0x04, packet[9] == opcode else { return [packet] }
            let index = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return index == number ? fault.packets(in: packet) : [packet]
        }
    }

    /// The name of the underlying port.
    public var name: String { port.name }
    /// The identity of the underlying port.
    public var identity: AnyHashable { port.identity }
    /// Whether the controller of the underlying port is present.
    public var isPluggedIn: Bool { port.isPluggedIn }
    /// The current time of the underlying port.
    public var now: Instant { port.now }
    /// Whether the time of the underlying port is manual.
    public var isTimeManual: Bool { port.isTimeManual }
    /// The time of the underlying port's next spontaneous action; nil if none is scheduled.
    public var nextDeadline: Instant? { port.nextDeadline }

    /// Attaches a host to the underlying port.
    public func attach(_ host: any PacketPortHost) -> UInt64 { port.attach(host) }

    /// Detaches a host from the underlying port.
    public func detach(_ attachment: UInt64) { port.detach(attachment) }

    /// Sends a packet to the controller, unchanged.
    public func send(_ packet: Span<UInt8>) { port.send(packet) }

    /// Requests a turn for a host from the underlying port.
    public func requestTurn(of host: any PacketPortHost) { port.requestTurn(of: host) }

    /// Takes the controller's packets, each replaced by the result of the current disturbance, if any.
    public func receive(into packets: inout PacketQueue) {
        port.receive(into: &packets)
        guard let disturbance = disturbance.withLock({ $0 }) else { return }
        var disturbed = PacketQueue()
        while let packet = packets.popFirst() {
            for replacement in disturbance(packet) { disturbed.append(replacement.span) }
        }
        packets = disturbed
    }
}

/// What makes a host drop a frame of a link.
public enum FrameFault: CaseIterable, Sendable {
    /// Only its beginning comes.
    case interrupted
    /// A continuation carries more than is missing.
    case overlong
    /// A continuation comes without its beginning.
    case beheaded
    /// The frame says that it is longer than any channel takes.
    case immense
    /// The PDU has 101 octets, for a link with an ATT_MTU of 100.
    case aboveMTU
    /// The PDU is cut off in its handle.
    case malformed
    /// The packet is marked as a broadcast.
    case broadcast
    /// The packet is marked as a whole frame of an AMP controller.
    case complete

    /// What comes in place of an ACL packet with a whole frame, H4 indicator first.
    func packets(in packet: [UInt8]) -> [[UInt8]] {
        let frame = Array(packet[5...])
        let handle = UInt16(packet[1]) | UInt16(packet[2] & 0x0F) << 8
        func acl(_ flags: UInt16, _ data: [UInt8]) -> [UInt8] {
            let header = handle | flags << 12
            return [
                0x02, UInt8(truncatingIfNeeded: header), UInt8(header >> 8), UInt8(truncatingIfNeeded: data.count),
                UInt8(data.count >> 8),
            ] + data
        }
        let start: UInt16 = 0b0010, continuation: UInt16 = 0b0001
        switch self {
        case .interrupted: return [acl(start, Array(frame[..<7]))]
        case .overlong: return [acl(start, Array(frame[..<7])), acl(continuation, frame[7...] + [0])]
        case .beheaded: return [acl(continuation, Array(frame[7...]))]
        case .immense: return [acl(start, [0xFF, 0xFF] + frame[2...])]
        case .aboveMTU:
            let pdu = frame[4...] + [UInt8](repeating: 0, count: 101 - (frame.count - 4))
            return [acl(start, [101, 0x00, 0x04, 0x00] + pdu)]
        case .malformed: return [acl(start, [0x02, 0x00, 0x04, 0x00] + frame[4..<6])]
        case .broadcast: return [acl(0b0110, frame)]
        case .complete: return [acl(0b0011, frame)]
        }
    }
}
