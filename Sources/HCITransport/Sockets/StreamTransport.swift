import BluetoothBase
import BluetoothHCI
import CBluetoothHCI
import Glibc

/// A transport over a stream of bytes, in which H4 tells where packets end (Core 5.4, Vol 4, Part A, 2).
public final class StreamTransport: HCITransport {
    public let name: String
    public let otherEnd: String?
    // Not asked of the framer, which is busy while it hands over a packet.
    public let receiver: H4Framer.Receiver
    public private(set) var fileDescriptor: Int32
    private let calls: SocketCalls
    private let outputLimit: Int
    private var buffer = [UInt8](repeating: 0, count: 16384)
    private var framer: H4Framer
    /// For a line that has no beginning; nil where the first byte begins a packet.
    private var synchronizer: ResetSynchronizer?
    private let ending: TransportError.Reason
    private var pending = PendingBytes()

    /// Takes over a connected stream socket, or a terminal. `ending` is what it means when the other side goes away.
    init(
        name: String, fileDescriptor: Int32, receiver: H4Framer.Receiver, calls: SocketCalls = .stream,
        outputLimit: Int = 1 << 20, otherEnd: String? = nil, synchronizer: ResetSynchronizer? = nil,
        ending: TransportError.Reason = .closedByPeer
    ) {
        self.name = name
        self.otherEnd = otherEnd
        self.synchronizer = synchronizer
        self.ending = ending
        self.fileDescriptor = fileDescriptor
        self.calls = calls
        self.receiver = receiver
        framer = H4Framer(receiver: receiver)
        self.outputLimit = outputLimit
    }

    deinit { close() }

    /// The two ends of a connection inside this process.
    public static func pair() throws(TransportError) -> (host: StreamTransport, controller: StreamTransport) {
        let (one, other) = try Socket.pair(SOCK_STREAM, name: "pair")
        return (
            StreamTransport(name: "pair:host", fileDescriptor: one, receiver: .host),
            StreamTransport(name: "pair:controller", fileDescriptor: other, receiver: .controller)
        )
    }

    public var pendingByteCount: Int { pending.count }

    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        switch Transfer({ buffer.withUnsafeMutableBytes { calls.receive(fileDescriptor, $0) } }) {
        case .bytes(0): throw failure(ending)
        case .bytes(let count):
            // A second reference, not a copy: what the packets are handed to may use the transport.
            let bytes = buffer
            do throws(H4Fault) {
                try frame(bytes.span.extracting(0..<count), deliver)
            } catch {
                throw failure(.malformedStream(error))
            }
        case .wouldBlock: return
        case .failed(let error): throw failure(.init(transferring: error, call: "recv", end: ending))
        }
    }

    /// Cuts bytes into packets, which begin where the synchronizer says.
    private func frame(_ bytes: Span<UInt8>, _ deliver: (Span<UInt8>) -> Void) throws(H4Fault) {
        var offset = 0
        while offset < bytes.count {
            if let isInStep = synchronizer?.isInStep, !isInStep {
                guard let end = synchronizer?.search(bytes.extracting(offset...)), let packet = synchronizer?.found
                else { return }
                offset += end
                if fileDescriptor >= 0 { deliver(packet.span) }
                continue
            }
            // Where the packets end: the next one may begin with what is left of the bytes before.
            var end = offset - framer.partialByteCount
            do throws(H4Fault) {
                return try framer.receive(bytes.extracting(offset...)) { packet in
                    end += packet.count
                    // Closed by what it was handed before.
                    if fileDescriptor >= 0 { deliver(packet) }
                }
            } catch {
                guard let canHelp = synchronizer?.loseStep(), canHelp else { throw error }
                framer.reset()
                offset = max(offset, end)
            }
        }
    }

    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        try checkOutput(packet)
        prepare(packet)
        let sent = pending.isEmpty ? try write(packet) : 0
        if sent < packet.count { pending.append(packet.extracting(sent...)) }
    }

    /// Packets that are ready together leave together: a stream has no boundaries to keep.
    public func send(_ packets: inout PacketQueue) throws(TransportError) {
        do throws(TransportError) {
            while !packets.isEmpty {
                try checkOutput(packets.first)
                prepare(packets.first)
                pending.append(packets.first)
                packets.removeFirst()
            }
        } catch {
            // Those taken before the bound was reached must not wait for a `flush` nobody has a reason to call.
            if case .outputFull = error.reason { try flush() }
            throw error
        }
        try flush()
    }

    public func flush() throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        while !pending.isEmpty {
            let sent = try pending.withBytes { waiting throws(TransportError) in try write(waiting) }
            guard sent > 0 else { return }
            pending.removeFirst(sent)
        }
    }

    public func close() {
        guard fileDescriptor >= 0 else { return }
        calls.close(fileDescriptor)
        fileDescriptor = -1
        pending.removeAll()
    }

    /// Puts before a packet what has to precede it on a line that has no beginning.
    private func prepare(_ packet: Span<UInt8>) {
        guard let bytes = synchronizer?.prepare(packet), !bytes.isEmpty else { return }
        pending.append(bytes.span)
    }

    private func checkOutput(_ packet: Span<UInt8>) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        guard (1...PacketTransport.longestPacket).contains(packet.count) else {
            throw failure(.invalidPacketLength(packet.count))
        }
        guard pending.count + packet.count <= outputLimit else {
            throw failure(.outputFull(pending: pending.count))
        }
    }

    /// Writes as many bytes as the kernel takes now, and says how many.
    private func write(_ bytes: Span<UInt8>) throws(TransportError) -> Int {
        switch Transfer({ bytes.withUnsafeBytes { calls.send(fileDescriptor, $0) } }) {
        case .bytes(let count): return count
        case .wouldBlock: return 0
        case .failed(let error): throw failure(.init(transferring: error, call: "send", end: ending))
        }
    }

    private func failure(_ reason: TransportError.Reason) -> TransportError {
        TransportError(reason, transport: name)
    }
}
