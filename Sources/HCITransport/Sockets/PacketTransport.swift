import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// A transport over a socket that keeps packet boundaries: one read is one packet, one write is one packet.
///
/// The kernel's HCI sockets are of this kind, and so is `pair()`, for two ends inside one process.
public final class PacketTransport: HCITransport {
    public let name: String
    public let otherEnd: String?
    public let receiver: H4Framer.Receiver
    public let reopeningName: TransportName?
    public private(set) var fileDescriptor: Int32
    private let calls: SocketCalls
    private let outputLimit: Int
    private var buffer = [UInt8](repeating: 0, count: PacketTransport.longestPacket)
    /// Packets the kernel did not accept, each preceded by its length in four bytes.
    private var pending = PendingBytes()
    private let ending: TransportError.Reason
    private var cleanUp: (() -> Void)?

    /// The H4 indicator, the header of ACL data, and the maximum of its length field (Vol 4, Part E, 5.4.2).
    static let longestPacket = 1 + 4 + 65535
    /// The maximum number of packets one `receive` reads.
    static let packetsPerReceive = 64

    /// Takes ownership of a socket, which `close` closes before it runs `cleanUp`. `ending` is the error to throw when
    /// the other side closes.
    init(
        name: String, fileDescriptor: Int32, calls: SocketCalls = .packet, outputLimit: Int = 1 << 20,
        receiver: H4Framer.Receiver = .host, reopeningName: TransportName? = nil, otherEnd: String? = nil,
        ending: TransportError.Reason = .closedByPeer, cleanUp: (() -> Void)? = nil
    ) {
        self.name = name
        self.fileDescriptor = fileDescriptor
        self.calls = calls
        self.outputLimit = outputLimit
        self.receiver = receiver
        self.reopeningName = reopeningName
        self.otherEnd = otherEnd
        self.ending = ending
        self.cleanUp = cleanUp
    }

    deinit { close() }

    /// The two ends of a connection inside this process.
    public static func pair() throws(TransportError) -> (host: PacketTransport, controller: PacketTransport) {
        let (one, other) = try Socket.pair(cbt_packet_socket, name: "pair")
        return (
            PacketTransport(name: "pair:host", fileDescriptor: one, receiver: .host),
            PacketTransport(name: "pair:controller", fileDescriptor: other, receiver: .controller)
        )
    }

    public var pendingByteCount: Int { pending.count }

    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        for _ in 0..<Self.packetsPerReceive {
            switch Transfer({ buffer.withUnsafeMutableBytes { calls.receive(fileDescriptor, $0) } }) {
            case .bytes(0): throw failure(ending)
            case .bytes(let count):
                guard count <= buffer.count else { throw failure(.invalidPacketLength(count)) }
                // A second reference, not a copy: the receiver of packets may use the transport.
                let bytes = buffer
                deliver(bytes.span.extracting(0..<count))
                // Closed by the receiver of the packet.
                if fileDescriptor < 0 { return }
            case .wouldBlock: return
            case .failed(let error): throw failure(.init(transferring: error, call: "recv", end: ending))
            }
        }
    }

    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        guard (1...Self.longestPacket).contains(packet.count) else {
            throw failure(.invalidPacketLength(packet.count))
        }
        if pending.isEmpty, try write(packet) { return }
        guard pending.count + 4 + packet.count <= outputLimit else {
            throw failure(.outputFull(pending: pending.count))
        }
        let length = UInt32(truncatingIfNeeded: packet.count)
        withUnsafeBytes(of: length) { pending.append($0.bindMemory(to: UInt8.self).span) }
        pending.append(packet)
    }

    public func flush() throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        while !pending.isEmpty {
            let taken = try pending.withBytes { waiting throws(TransportError) in
                let end = 4 + waiting.withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self)) }
                return try write(waiting.extracting(4..<end)) ? end : 0
            }
            guard taken > 0 else { return }
            pending.removeFirst(taken)
        }
    }

    public func close() {
        guard fileDescriptor >= 0 else { return }
        calls.close(fileDescriptor)
        fileDescriptor = -1
        pending.removeAll()
        cleanUp?()
        cleanUp = nil
    }

    /// Writes one packet; false if the kernel cannot accept it now.
    private func write(_ packet: Span<UInt8>) throws(TransportError) -> Bool {
        switch Transfer({ packet.withUnsafeBytes { calls.send(fileDescriptor, $0) } }) {
        case .bytes: return true
        case .wouldBlock: return false
        case .failed(let error): throw failure(.init(transferring: error, call: "send", end: ending))
        }
    }

    private func failure(_ reason: TransportError.Reason) -> TransportError {
        TransportError(reason, transport: name)
    }
}
