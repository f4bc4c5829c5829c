import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// A transport over a socket that preserves packet boundaries: each read and each write is one packet.
///
/// The kernel's HCI sockets are of this kind. `pair()` connects two such ends inside one process.
public final class PacketTransport: HCITransport {
    /// The name of the transport in errors.
    public let name: String
    /// The name of the other end if opening this transport created it; otherwise nil.
    public let otherEnd: String?
    /// The side of HCI that this end is.
    public let receiver: H4Framer.Receiver
    /// The name with which the same adapter can be opened again, even under another number. Nil if it has no permanent
    /// name.
    public let reopeningName: TransportName?
    /// The socket; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let calls: SocketCalls
    private let outputLimit: Int
    private var buffer = [UInt8](repeating: 0, count: PacketTransport.longestPacket)
    /// Packets that the kernel has not accepted yet, each preceded by its length in four bytes.
    private var pending = ByteQueue()
    private let ending: TransportError.Reason
    private var cleanUp: (() -> Void)?

    /// The H4 indicator, the header of ACL data, and the maximum of its length field (Vol 4, Part E, 5.4.2).
    static let longestPacket = 1 + 4 + 65535
    /// The maximum number of packets one `receive` reads.
    static let packetsPerReceive = 64

    /// Takes ownership of a socket. `close` closes the socket, then runs `cleanUp`. `ending` is the error to throw when
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

    /// Creates a connection inside this process and returns its two ends.
    public static func pair() throws(TransportError) -> (host: PacketTransport, controller: PacketTransport) {
        let (one, other) = try Socket.pair(cbt_packet_socket, name: "pair")
        return (
            PacketTransport(name: "pair:host", fileDescriptor: one, receiver: .host),
            PacketTransport(name: "pair:controller", fileDescriptor: other, receiver: .controller)
        )
    }

    /// The number of buffered bytes, including a length prefix of four bytes for each packet.
    public var pendingByteCount: Int { pending.count }

    /// Reads and delivers up to 64 packets. Throws if the connection has ended, or if a packet is too long.
    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        for _ in 0..<Self.packetsPerReceive {
            switch Transfer({ buffer.withUnsafeMutableBytes { calls.receive(fileDescriptor, $0) } }) {
            case .bytes(0): throw failure(ending)
            case .bytes(let count):
                guard count <= buffer.count else { throw failure(.invalidPacketLength(count)) }
                // A second reference, not a copy, because `deliver` may use the transport.
                let bytes = buffer
                deliver(bytes.span.extracting(0..<count))
                // `deliver` has closed the transport.
                if fileDescriptor < 0 { return }
            case .wouldBlock: return
            case .failed(let error): throw failure(.init(transferring: error, call: "recv", end: ending))
            }
        }
    }

    /// Sends one packet, or buffers it if the kernel can't accept it now. Throws `.outputFull` if the
    /// packet does not fit into the buffer.
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

    /// Sends the buffered packets until the kernel stops accepting them.
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

    /// Closes the socket and discards the buffered packets. Closing again does nothing.
    public func close() {
        guard fileDescriptor >= 0 else { return }
        calls.close(fileDescriptor)
        fileDescriptor = -1
        pending.removeAll()
        cleanUp?()
        cleanUp = nil
    }

    /// Writes one packet. Returns false if the kernel can't accept it now.
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
