import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// Waits for file descriptors, a deadline and other threads in a single system call.
///
/// One thread owns the loop; other threads may only use its `waker`. An idle loop uses no CPU time.
public final class EventLoop {
    /// The conditions to watch a descriptor for. A closed connection is always reported.
    public struct Interest: OptionSet, Sendable {
        /// The conditions as bits: bit 0 for `read`, bit 1 for `write`.
        public let rawValue: UInt8

        /// Creates a set of conditions from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Reading would not block.
        public static let read = Interest(rawValue: 1)
        /// Writing would not block.
        public static let write = Interest(rawValue: 2)
    }

    /// Reports that a descriptor is ready.
    public struct Event: Equatable, Sendable {
        /// The token with which the descriptor was registered.
        public var token: Int
        /// Whether a read will return without blocking: with data, an end of file or an error.
        public var isReadable: Bool
        /// Whether a write will return without blocking.
        public var isWritable: Bool
    }

    /// Wakes this loop from any thread.
    public let waker: Waker
    private let descriptor: Int32
    private var waiting: Waiting

    private static let wakerToken: Int64 = -1
    private static let timerToken: Int64 = -2

    /// What waiting changes, so that a wait is a single exclusive access.
    private struct Waiting: ~Copyable {
        var timer: TimerDescriptor
        private var ready = [epoll_event](repeating: epoll_event(), count: 64)
        private var events: [Event] = []

        init(_ timer: consuming TimerDescriptor) {
            self.timer = timer
            events.reserveCapacity(ready.count)
        }

        mutating func events(on descriptor: Int32, _ waker: Waker, until deadline: Instant?) -> [Event] {
            events.removeAll(keepingCapacity: true)
            wait(on: descriptor, waker, until: deadline) { events, event in events.append(event) }
            return events
        }

        mutating func event(
            of token: Int, on descriptor: Int32, _ waker: Waker, until deadline: Instant?
        ) -> Event? {
            var found: Event?
            wait(on: descriptor, waker, until: deadline) { _, event in if event.token == token { found = event } }
            return found
        }

        /// Waits, and passes the descriptors' events to `add`, with the buffer for them.
        @inline(__always)
        private mutating func wait(
            on descriptor: Int32, _ waker: Waker, until deadline: Instant?, _ add: (inout [Event], Event) -> Void
        ) {
            while true {
                if deadline != .zero { timer.arm(deadline) }
                let count = collect(descriptor, timeout: deadline == .zero ? 0 : -1)
                var isOver = deadline == .zero
                for index in 0..<count {
                    let event = ready[index]
                    switch Int64(bitPattern: event.data.u64) {
                    case EventLoop.wakerToken:
                        waker.reset()
                        isOver = true
                    case EventLoop.timerToken:
                        timer.reset()
                    case let token:
                        add(&events, Event(token: Int(token), flags: event.events))
                        isOver = true
                    }
                }
                if isOver { return }
                // The timer may have been set for an earlier deadline that no longer applies.
                if let deadline, MonotonicClock.now >= deadline { return }
            }
        }

        private mutating func collect(_ descriptor: Int32, timeout: Int32) -> Int {
            ready.withUnsafeMutableBufferPointer { buffer in
                // Newer headers of the C library require a pointer here. The buffer is never empty.
                guard let start = buffer.baseAddress else { return 0 }
                let count = epoll_wait(descriptor, start, Int32(buffer.count), timeout)
                // A negative count means that a signal interrupted the call. No other failure is possible with our own
                // descriptor and buffer.
                return max(0, Int(count))
            }
        }
    }

    /// Creates a loop that watches no descriptors.
    ///
    /// - Parameter existing: the waker to use, if it had to be created before the loop.
    /// - Throws: `TransportError` if the process has run out of file descriptors.
    public init(waker existing: Waker? = nil) throws(TransportError) {
        let waker = if let existing { existing } else { try Waker() }
        do throws(Errno) {
            let timer = try TimerDescriptor()
            let descriptor = try Errno.check { epoll_create1(Int32(EPOLL_CLOEXEC)) }
            self.waker = waker
            self.descriptor = descriptor
            waiting = Waiting(timer)
        } catch {
            throw TransportError(.system(call: "epoll_create", code: error.code), transport: "event loop")
        }
        try control(EPOLL_CTL_ADD, waker.fileDescriptor, token: Self.wakerToken, for: .read)
        try control(EPOLL_CTL_ADD, waiting.timer.fileDescriptor, token: Self.timerToken, for: .read)
    }

    deinit { close(descriptor) }

    /// Watches a descriptor. Its events carry `token`, which must not be negative. The token identifies the
    /// registration: use a new one each time, since the system reuses descriptors.
    public func add(_ fileDescriptor: Int32, token: Int, for interest: Interest) throws(TransportError) {
        precondition(token >= 0)
        try control(EPOLL_CTL_ADD, fileDescriptor, token: Int64(token), for: interest)
    }

    /// Changes the conditions that a descriptor is watched for.
    public func change(_ fileDescriptor: Int32, token: Int, to interest: Interest) throws(TransportError) {
        precondition(token >= 0)
        try control(EPOLL_CTL_MOD, fileDescriptor, token: Int64(token), for: interest)
    }

    /// Stops watching a descriptor. Call this before you close the descriptor. Unhandled events of the last `wait` may
    /// still refer to it.
    public func remove(_ fileDescriptor: Int32) {
        // It can only fail if the descriptor is not watched, which is the desired state.
        epoll_ctl(descriptor, EPOLL_CTL_DEL, fileDescriptor, nil)
    }

    /// Readable when `wait` would return immediately or the deadline may have passed, so an event loop can be nested in
    /// another one.
    var fileDescriptor: Int32 { descriptor }

    /// Makes `fileDescriptor` readable no later than at `deadline`.
    func arm(_ deadline: Instant?) { waiting.timer.arm(deadline) }

    /// Waits until a descriptor is ready, `waker` is used or the deadline passes. Returns an event for each ready
    /// descriptor; the result is empty in the latter two cases. If `deadline` is nil, it waits forever; if it is
    /// `Instant.zero`, it does not wait.
    ///
    /// This allocates no memory if each result is released before the next call.
    public func wait(until deadline: Instant?) -> [Event] { waiting.events(on: descriptor, waker, until: deadline) }

    /// Waits like `wait(until:)`, and returns the event of the descriptor that was registered with `token`, for a loop
    /// that watches no other. It is nil if `waker` was used or the deadline passed.
    public func wait(for token: Int, until deadline: Instant?) -> Event? {
        waiting.event(of: token, on: descriptor, waker, until: deadline)
    }

    private func control(
        _ operation: Int32, _ fileDescriptor: Int32, token: Int64, for interest: Interest
    ) throws(TransportError) {
        var event = epoll_event()
        event.data.u64 = UInt64(bitPattern: token)
        if interest.contains(.read) { event.events |= cbt_epoll_in }
        if interest.contains(.write) { event.events |= cbt_epoll_out }
        guard epoll_ctl(descriptor, operation, fileDescriptor, &event) == 0 else {
            throw TransportError(.system(call: "epoll_ctl", code: errno), transport: "event loop")
        }
    }
}

extension EventLoop.Event {
    fileprivate init(token: Int, flags: UInt32) {
        let isOver = flags & cbt_epoll_over != 0
        self.token = token
        isReadable = isOver || flags & cbt_epoll_in != 0
        isWritable = isOver || flags & cbt_epoll_out != 0
    }
}
