import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI
import Synchronization

/// A transport over a byte stream in which H4 delimits the packets (Core 5.4, Vol 4, Part A, 2).
public final class StreamTransport: HCITransport {
    /// The name of the transport in errors.
    public let name: String
    /// The name of the other end if opening this transport created it; otherwise nil.
    public let otherEnd: String?
    /// The side of HCI that this end is.
    public let receiver: H4Framer.Receiver
    /// The socket or terminal; -1 once closed.
    public var fileDescriptor: Int32 { descriptor.load(ordering: .relaxed) }
    // Atomic because it is read for each packet, which may have closed the transport. Checking an ordinary property for
    // exclusive access would cost more.
    private let descriptor: Atomic<Int32>
    private let calls: SocketCalls
    private let outputLimit: Int
    /// The buffer for reading. A read moves it out, because checking a property for exclusive access costs more.
    private var buffer = emptyBuffer
    private var framer: H4Framer
    /// Whether the next byte begins a packet, as far as the framer knows.
    private var isAligned = true
    private let isJoinedAnytime: Bool
    /// Set for a line that may be joined at any time; nil if the first byte begins a packet. Not a part of the
    /// framer, because a packet may be sent while the framer delivers one.
    private var synchronizer: ResetSynchronizer?
    private let ending: TransportError.Reason
    private var pending = ByteQueue()
    /// The number of bytes in `pending`. A separate property, because each send reads it, and a check of `pending` for
    /// exclusive access costs more.
    private var pendingCount = 0

    private static var emptyBuffer: [UInt8] { [UInt8](repeating: 0, count: 16384) }

    /// Takes ownership of a connected stream socket or a terminal. `ending` is the error to throw when the other side
    /// closes.
    init(
        name: String, fileDescriptor: Int32, receiver: H4Framer.Receiver, calls: SocketCalls = .stream,
        outputLimit: Int = 1 << 20, otherEnd: String? = nil, synchronizer: ResetSynchronizer? = nil,
        ending: TransportError.Reason = .closedByPeer
    ) {
        self.name = name
        self.otherEnd = otherEnd
        self.ending = ending
        descriptor = Atomic(fileDescriptor)
        self.calls = calls
        self.receiver = receiver
        framer = H4Framer(receiver: receiver)
        self.synchronizer = synchronizer
        isJoinedAnytime = synchronizer != nil
        self.outputLimit = outputLimit
    }

    deinit { close() }

    /// Creates a connection inside this process and returns its two ends.
    public static func pair() throws(TransportError) -> (host: StreamTransport, controller: StreamTransport) {
        let (one, other) = try Socket.pair(cbt_stream_socket, name: "pair")
        return (
            StreamTransport(name: "pair:host", fileDescriptor: one, receiver: .host),
            StreamTransport(name: "pair:controller", fileDescriptor: other, receiver: .controller)
        )
    }

    /// The number of bytes that `send` has accepted but the kernel has not yet.
    public var pendingByteCount: Int { pendingCount }

    /// Reads up to 16 KiB and delivers the packets it completes. Throws `.malformedStream` if packet boundaries are
    /// lost and can't be found again.
    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        var bytes: [UInt8] = []
        swap(&bytes, &buffer)
        defer { swap(&bytes, &buffer) }
        // Only while `deliver` receives from this transport.
        if bytes.isEmpty { bytes = Self.emptyBuffer }
        switch Transfer({ bytes.withUnsafeMutableBytes { calls.receive(fileDescriptor, $0) } }) {
        case .bytes(0): throw failure(ending)
        case .bytes(let count):
            let read = bytes.span.extracting(0..<count)
            do throws(H4Fault) {
                let whole = isAligned && !isJoinedAnytime ? deliverWholePackets(read, deliver) : 0
                guard whole < count else { return }
                defer { isAligned = framer.partialByteCount == 0 && framer.fault == nil }
                try frame(read.extracting(whole...), deliver)
            } catch {
                throw failure(.malformedStream(error))
            }
        case .wouldBlock: return
        case .failed(let error): throw failure(.init(transferring: error, call: "recv", end: ending))
        }
    }

    /// Delivers the whole packets that these bytes begin with, and returns their length.
    @inline(__always)
    private func deliverWholePackets(_ bytes: Span<UInt8>, _ deliver: (Span<UInt8>) -> Void) -> Int {
        var offset = 0
        while let length = H4Framer.lengthOfWholePacket(bytes.extracting(offset...), for: receiver) {
            // `deliver` may have closed the transport while handling an earlier packet.
            if fileDescriptor >= 0 { deliver(bytes.extracting(offset..<(offset + length))) }
            offset += length
        }
        return offset
    }

    /// Splits bytes into packets, starting at the packet boundary that the synchronizer finds.
    private func frame(_ bytes: Span<UInt8>, _ deliver: (Span<UInt8>) -> Void) throws(H4Fault) {
        var offset = 0
        while offset < bytes.count {
            if let isSynchronized = synchronizer?.isSynchronized, !isSynchronized {
                guard let end = synchronizer?.search(bytes.extracting(offset...)),
                    let packet = synchronizer?.found
                else { return }
                offset += end
                if fileDescriptor >= 0 { deliver(packet.span) }
                continue
            }
            // The offset after the last complete packet. If framing fails, the search for Reset starts there.
            var end = offset - framer.partialByteCount
            do throws(H4Fault) {
                return try framer.receive(bytes.extracting(offset...)) { packet in
                    end += packet.count
                    // `deliver` may have closed the transport while handling an earlier packet.
                    if fileDescriptor >= 0 { deliver(packet) }
                }
            } catch {
                guard let canResynchronize = synchronizer?.loseSync(), canResynchronize else { throw error }
                framer.reset()
                offset = max(offset, end)
            }
        }
    }

    /// Sends one packet and buffers the bytes that the kernel can't accept now. Throws `.outputFull` if the
    /// packet does not fit into the buffer.
    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        try checkOutput(packet)
        prepare(packet)
        let sent = pendingCount == 0 ? try write(packet) : 0
        if sent < packet.count { keep(packet.extracting(sent...)) }
    }

    /// Sends all packets of the queue together, since a stream has no boundaries to preserve.
    public func send(_ packets: inout PacketQueue) throws(TransportError) {
        // No packet is longer than all of them, so each has a valid length.
        let count = packets.byteCount
        guard !isJoinedAnytime, count <= PacketTransport.longestPacket, pendingCount + count <= outputLimit else {
            return try sendEach(&packets)
        }
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        let sent = pendingCount == 0 && count > 0 ? try write(packets.bytes) : 0
        if sent < count { keep(packets.bytes.extracting(sent...)) }
        packets.removePackets()
        try flush()
    }

    /// Checks, prepares and buffers the packets one at a time, and sends them together.
    private func sendEach(_ packets: inout PacketQueue) throws(TransportError) {
        do throws(TransportError) {
            while !packets.isEmpty {
                try checkOutput(packets.first)
                prepare(packets.first)
                keep(packets.first)
                packets.removeFirst()
            }
        } catch {
            // Packets accepted before the limit was reached must not wait for a `flush` that may never be called.
            if case .outputFull = error.reason { try flush() }
            throw error
        }
        try flush()
    }

    /// Sends the buffered bytes until the kernel stops accepting them.
    public func flush() throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        while pendingCount > 0 {
            let sent = try pending.withBytes { waiting throws(TransportError) in try write(waiting) }
            guard sent > 0 else { return }
            pending.removeFirst(sent)
            pendingCount = pending.count
        }
    }

    /// Closes the descriptor and discards the buffered bytes. Closing again does nothing.
    public func close() {
        let open = descriptor.exchange(-1, ordering: .relaxed)
        guard open >= 0 else { return }
        calls.close(open)
        pending.removeAll()
        pendingCount = 0
    }

    /// Queues the bytes that must precede a packet on a line that may be joined at any time.
    private func prepare(_ packet: Span<UInt8>) {
        // A constant, which needs no check for exclusive access.
        guard isJoinedAnytime else { return }
        guard let bytes = synchronizer?.prepare(packet), !bytes.isEmpty else { return }
        keep(bytes.span)
    }

    private func checkOutput(_ packet: Span<UInt8>) throws(TransportError) {
        guard fileDescriptor >= 0 else { throw failure(.closed) }
        guard (1...PacketTransport.longestPacket).contains(packet.count) else {
            throw failure(.invalidPacketLength(packet.count))
        }
        guard pendingCount + packet.count <= outputLimit else {
            throw failure(.outputFull(pending: pendingCount))
        }
    }

    /// Keeps bytes that the kernel can't accept now.
    private func keep(_ bytes: Span<UInt8>) {
        pending.append(bytes)
        pendingCount = pending.count
    }

    /// Writes the bytes that the kernel accepts now and returns their count.
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
