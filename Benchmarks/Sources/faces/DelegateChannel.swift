import CoreBluetooth

/// A channel of a Core Bluetooth application, whose streams are scheduled on the run loop of a thread.
final class DelegateChannel: NSObject, StreamDelegate {
    private let work: Workload
    private let channel: CBL2CAPChannel
    private let input: InputStream
    private let output: OutputStream
    private let onEnd: () -> Void
    private let flow = Flow()
    private var blocks: Blocks
    /// The number of octets written.
    private var written = 0
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// - Parameter onEnd: called on the thread of the run loop.
    init?(_ work: Workload, over channel: CBL2CAPChannel, onEnd: @escaping () -> Void) {
        guard let input = channel.inputStream, let output = channel.outputStream else { return nil }
        self.work = work
        self.channel = channel
        self.input = input
        self.output = output
        self.onEnd = onEnd
        blocks = Blocks(count: work.count)
        super.init()
    }

    func begin() {
        Thread.detachNewThread { [self] in
            for stream in [input, output] {
                stream.delegate = self
                stream.schedule(in: .current, forMode: .default)
                stream.open()
            }
            RunLoop.current.run()
        }
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .hasSpaceAvailable: write()
        case .hasBytesAvailable: read()
        case .endEncountered, .errorOccurred: fail("the channel has been closed")
        default: break
        }
    }

    private func write() {
        // Before it sends blocks, the peer waits for one octet.
        let total = work.kind == .channelWrite ? work.count * Workload.block.count : 1
        while written < total, output.hasSpaceAvailable {
            let start = written % Workload.block.count, end = min(Workload.block.count, start + total - written)
            let count = Workload.block.withUnsafeBufferPointer { block in
                block.baseAddress.map { output.write($0 + start, maxLength: end - start) } ?? -1
            }
            guard count > 0 else { fail("the channel has been closed") }
            written += count
        }
    }

    private func read() {
        while input.hasBytesAvailable, !hasEnded {
            let count = buffer.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.map { input.read($0, maxLength: buffer.count) } ?? -1
            }
            guard count > 0 else { fail("the channel has been closed") }
            if work.kind == .channelRead { blocks.receive(buffer[..<count]) }
            // When it has received all blocks, the peer sends one octet.
            guard work.kind == .channelWrite || blocks.isComplete else { continue }
            hasEnded = true
            let done = work.kind == .channelWrite ? work.count : blocks.received
            flow.end(operations: done, lost: work.count - done)
            onEnd()
        }
    }
}
