import BluetoothATT
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
    /// The oldest event, if it was appended to an empty queue. Usually it is the only one: it costs no array access,
    /// and is moved out instead of copied.
    @usableFromInline var first: HostEvent?
    /// The events behind `first`, from `head` on. Emptied as soon as the last one is taken.
    @usableFromInline private(set) var others: [HostEvent] = []
    private var head = 0
    /// The bytes of the events. Only append to it.
    @usableFromInline package internal(set) var storage = ByteWriter(reservingCapacity: 4096)

    /// A value that a peer has notified.
    @usableFromInline
    package struct Notification: Sendable {
        @usableFromInline package let link: LinkIdentifier
        @usableFromInline package let handle: AttributeHandle
        @usableFromInline package let payload: Payload

        @inlinable
        @inline(__always)
        init(link: LinkIdentifier, handle: AttributeHandle, payload: Payload) {
            (self.link, self.handle, self.payload) = (link, handle, payload)
        }
    }

    init() {
        others.reserveCapacity(64)
    }

    /// Whether every event has been taken.
    @inlinable
    public var isEmpty: Bool {
        if case .some = first { return false }
        return others.isEmpty
    }

    /// Returns the oldest event that has not been taken. If there is none, returns nil and releases the bytes.
    public mutating func next() -> HostEvent? {
        guard let event = take() else {
            releaseBytes()
            return nil
        }
        return event
    }

    /// Returns the oldest event that has not been taken; nil if there is none.
    @inlinable
    @inline(__always)
    package mutating func take() -> HostEvent? {
        if let event = first.take() { return event }
        return others.isEmpty ? nil : takeOther()
    }

    /// Returns the oldest event, like `take()`, if it is a notification that was appended to an empty queue.
    @inlinable
    @inline(__always)
    package mutating func takeNotification() -> Notification? { first.takeNotification() }

    /// Releases the bytes of the events taken so far.
    @inlinable
    @inline(__always)
    package mutating func releaseBytes() { storage.removeAll() }

    /// Moves the bytes out, and moves them back when called again with the same buffer.
    @inlinable
    @inline(__always)
    package mutating func exchangeBytes(with bytes: inout ByteWriter) { swap(&storage, &bytes) }

    @usableFromInline
    mutating func takeOther() -> HostEvent? {
        guard head == others.count &- 1 else {
            defer { head &+= 1 }
            return others[head]
        }
        // The last event is moved out instead of copied.
        defer {
            if head > 0 {
                others.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        return others.popLast()
    }

    /// The bytes of an event, while they are valid.
    @inlinable @inline(__always)
    @_lifetime(borrow self)
    public func octets(of payload: Payload) -> Span<UInt8> {
        storage.span.extracting(payload.start..<(payload.start &+ payload.count))
    }

    @inline(__always)
    mutating func append(_ event: HostEvent) {
        guard others.isEmpty, first.fill(event) else { return others.append(event) }
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

extension Optional {
    /// Stores a value in place of nil. Returns false if there already is one.
    ///
    /// An assignment would first destroy the old value, by functions that switch over its cases.
    @inline(__always)
    fileprivate mutating func fill(_ value: Wrapped) -> Bool {
        switch consume self {
        case .none:
            self = value
            return true
        case .some(let present):
            self = present
            return false
        }
    }
}

extension HostEvent? {
    /// Takes a notification, and leaves any other event in place.
    ///
    /// Each enum is consumed by itself: one pattern across both would copy the event, and destroy the copy.
    @inlinable
    @inline(__always)
    mutating func takeNotification() -> HostEventQueue.Notification? {
        switch consume self {
        case .client(let link, let event):
            switch consume event {
            case .notification(let handle, let payload):
                self = nil
                return HostEventQueue.Notification(link: link, handle: handle, payload: payload)
            case let event:
                self = .client(link, event)
                return nil
            }
        case let other:
            self = other
            return nil
        }
    }
}
