import BluetoothBase

/// A run of bytes in a `HostEventQueue`.
public struct Payload: Equatable, Sendable {
    @usableFromInline package var start: Int
    /// How many bytes.
    public var count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}

/// The events of a host, in order, with their bytes in one buffer that keeps its memory.
///
/// Take them with `next()` until it returns nil; only then is the memory used again, so the bytes of every event taken
/// stay valid that long. With `take()` they stay valid until `releaseBytes()`.
public struct HostEventQueue: Sendable {
    private var events: [HostEvent] = []
    private var head = 0
    /// Only append to it.
    package internal(set) var storage = ByteWriter(reservingCapacity: 4096)

    init() {
        events.reserveCapacity(64)
    }

    /// Whether every event has been taken.
    public var isEmpty: Bool { head == events.count }

    /// The oldest event not taken yet; nil, and the memory free again, when there is none.
    public mutating func next() -> HostEvent? {
        guard head < events.count else {
            releaseBytes()
            return nil
        }
        return takeFirst()
    }

    /// The oldest event not taken yet; nil when there is none.
    package mutating func take() -> HostEvent? { head < events.count ? takeFirst() : nil }

    /// The bytes of events taken so far are not needed any more.
    @inline(__always)
    package mutating func releaseBytes() { storage.removeAll() }

    @inline(__always)
    private mutating func takeFirst() -> HostEvent? {
        guard head == events.count &- 1 else {
            defer { head &+= 1 }
            return events[head]
        }
        // The last one is moved out, not copied: mostly there is but one.
        defer {
            if head > 0 {
                events.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        return events.popLast()
    }

    /// The bytes of an event, as long as they are valid.
    @_lifetime(borrow self)
    public func bytes(of payload: Payload) -> Span<UInt8> {
        storage.span.extracting(payload.start..<(payload.start &+ payload.count))
    }

    mutating func append(_ event: HostEvent) {
        events.append(event)
    }

    /// The bytes appended to `storage` from `start` on, to be named by the event appended next.
    @inline(__always)
    func payload(from start: Int) -> Payload { Payload(start: start, count: storage.count &- start) }

    /// Copies bytes in, to be named by the event appended next.
    mutating func store(_ bytes: Span<UInt8>) -> Payload {
        let start = storage.count
        storage.append(bytes)
        return Payload(start: start, count: bytes.count)
    }
}
