import BluetoothBase

/// A run of bytes in a `HostEventQueue`.
public struct Payload: Equatable, Sendable {
    @usableFromInline package var start: Int
    /// The number of bytes.
    public var count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}

/// The events of a host, in order. Their bytes are stored in one buffer, which keeps its memory.
///
/// Take the events with `next()` until it returns nil. Only then is the memory reused, so the bytes of all events taken
/// before stay valid until then. With `take()` they stay valid until `releaseBytes()`.
public struct HostEventQueue: Sendable {
    private var events: [HostEvent] = []
    private var head = 0
    /// The bytes of the events. Only append to it.
    package internal(set) var storage = ByteWriter(reservingCapacity: 4096)

    init() {
        events.reserveCapacity(64)
    }

    /// Whether every event has been taken.
    public var isEmpty: Bool { head == events.count }

    /// Returns the oldest event that has not been taken. If there is none, returns nil and releases the bytes.
    public mutating func next() -> HostEvent? {
        guard head < events.count else {
            releaseBytes()
            return nil
        }
        return takeFirst()
    }

    /// Returns the oldest event that has not been taken; nil if there is none.
    package mutating func take() -> HostEvent? { head < events.count ? takeFirst() : nil }

    /// Releases the bytes of the events taken so far.
    @inline(__always)
    package mutating func releaseBytes() { storage.removeAll() }

    /// Moves the bytes out, and moves them back when called again with the same buffer.
    @inline(__always)
    package mutating func exchangeBytes(with bytes: inout ByteWriter) { swap(&storage, &bytes) }

    @inline(__always)
    private mutating func takeFirst() -> HostEvent? {
        guard head == events.count &- 1 else {
            defer { head &+= 1 }
            return events[head]
        }
        // The last event is moved out instead of copied. Usually it is the only one.
        defer {
            if head > 0 {
                events.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        return events.popLast()
    }

    /// The bytes of an event, while they are valid.
    @_lifetime(borrow self)
    public func octets(of payload: Payload) -> Span<UInt8> {
        storage.span.extracting(payload.start..<(payload.start &+ payload.count))
    }

    mutating func append(_ event: HostEvent) {
        events.append(event)
    }

    /// The bytes appended to `storage` from `start` on, for the event that is appended next.
    @inline(__always)
    func payload(from start: Int) -> Payload { Payload(start: start, count: storage.count &- start) }

    /// Copies bytes into the queue, for the event that is appended next.
    mutating func store(_ bytes: Span<UInt8>) -> Payload {
        let start = storage.count
        storage.append(bytes)
        return Payload(start: start, count: bytes.count)
    }
}
