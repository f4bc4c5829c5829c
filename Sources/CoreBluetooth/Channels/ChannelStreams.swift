import Foundation

/// The stream of data that is received over an L2CAP channel.
final class ChannelInputStream: InputStream {
    // State that several threads use is behind the locks of `pipe` and `events`.

    private let pipe: ChannelPipe
    private let events: StreamEvents

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        events = StreamEvents(.hasBytesAvailable) { pipe.reading }
        super.init(data: Data())
        events.belong(to: self)
        pipe.attach(input: events)
    }

    override var streamStatus: Stream.Status { events.status }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { events.isOpen && pipe.reading.isReady }

    override func open() { events.open() }

    override func close() {
        events.close()
        pipe.streamClosed(isInput: true)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard events.isOpen else { return -1 }
        let count = pipe.read(into: buffer, atMost: maxLength)
        events.used()
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: loop, forMode: mode) }
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: loop, forMode: mode) }
}

/// The stream of data that is sent over an L2CAP channel.
final class ChannelOutputStream: OutputStream {
    // State that several threads use is behind the locks of `pipe` and `events`.

    private let pipe: ChannelPipe?
    private let events: StreamEvents

    init(_ pipe: ChannelPipe) {
        self.pipe = pipe
        events = StreamEvents(.hasSpaceAvailable) { pipe.writing }
        super.init(toMemory: ())
        events.belong(to: self)
        pipe.attach(output: events)
    }

    /// Foundation requires this initializer of every subclass. A stream without a channel is at its end.
    required init(toMemory: ()) {
        pipe = nil
        events = StreamEvents(.hasSpaceAvailable) { (false, true) }
        super.init(toMemory: ())
    }

    override var streamStatus: Stream.Status { events.status }
    override var streamError: (any Error)? { nil }
    override var hasSpaceAvailable: Bool { events.isOpen && pipe?.writing.isReady == true }

    override func open() { events.open() }

    override func close() {
        events.close()
        pipe?.streamClosed(isInput: false)
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int {
        guard events.isOpen else { return -1 }
        let count = pipe?.write(buffer, count: maxLength) ?? -1
        events.used()
        return count
    }

    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: loop, forMode: mode) }
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: loop, forMode: mode) }
}
