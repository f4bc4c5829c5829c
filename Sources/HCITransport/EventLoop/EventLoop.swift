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
    private let timer: TimerDescriptor
    // Read and written as a whole, because such accesses of a private property need no check for exclusive access.
    /// The deadline that the timer is set for.
    private var armed: Instant?
    /// The buffer for the events of a wait.
    private var events: [Event] = []

    private static let wakerToken: Int64 = -1
    private static let timerToken: Int64 = -2

    /// The maximum number of descriptors that one system call reports. Others are reported by the next one.
    private static let reportLimit = 64

    /// Creates a loop that watches no descriptors.
    ///
    /// - Parameter existing: the waker to use, if it had to be created before the loop.
    /// - Throws: `TransportError` if the process has run out of file descriptors.
    public init(waker existing: Waker? = nil) throws(TransportError) {
        let waker = if let existing { existing } else { try Waker() }
        do throws(Errno) {
            timer = try TimerDescriptor()
            let descriptor = try Errno.check { epoll_create1(Int32(EPOLL_CLOEXEC)) }
            self.waker = waker
            self.descriptor = descriptor
            events.reserveCapacity(Self.reportLimit)
        } catch {
            throw TransportError(.system(call: "epoll_create", code: error.code), transport: "event loop")
        }
        try control(EPOLL_CTL_ADD, waker.fileDescriptor, token: Self.wakerToken, for: .read)
        try control(EPOLL_CTL_ADD, timer.fileDescriptor, token: Self.timerToken, for: .read)
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
    func arm(_ deadline: Instant?) {
        let before = armed
        let now = timer.arm(deadline, insteadOf: before)
        if now != before { armed = now }
    }

    /// Waits until a descriptor is ready, `waker` is used or the deadline passes. Returns an event for each ready
    /// descriptor; the result is empty in the latter two cases. If `deadline` is nil, it waits forever; if it is
    /// `Instant.zero`, it does not wait.
    ///
    /// This allocates no memory if each result is released before the next call.
    public func wait(until deadline: Instant?) -> [Event] {
        var found: [Event] = []
        swap(&found, &events)
        found.removeAll(keepingCapacity: true)
        wait(until: deadline) { found.append($0) }
        events = found
        return found
    }

    /// Waits like `wait(until:)`, and returns the event of the descriptor that was registered with `token`, for a loop
    /// that watches no other. It is nil if `waker` was used or the deadline passed.
    public func wait(for token: Int, until deadline: Instant?) -> Event? {
        var found: Event?
        wait(until: deadline) { if $0.token == token { found = $0 } }
        return found
    }

    /// Waits, and passes the descriptors' events to `add`.
    @inline(__always)
    private func wait(until deadline: Instant?, _ add: (Event) -> Void) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.reportLimit) { ready in
            while true {
                if deadline != .zero { arm(deadline) }
                var isOver = deadline == .zero
                for event in collect(into: ready, timeout: isOver ? 0 : -1) {
                    switch Int64(bitPattern: event.data.u64) {
                    case Self.wakerToken:
                        waker.reset()
                        isOver = true
                    case Self.timerToken:
                        timer.reset()
                        armed = nil
                    case let token:
                        add(Event(token: Int(token), flags: event.events))
                        isOver = true
                    }
                }
                if isOver { return }
                // The timer may have been set for an earlier deadline that no longer applies.
                if let deadline, MonotonicClock.now >= deadline { return }
            }
        }
    }

    /// Waits for descriptors to become ready. Returns the part of the buffer with their events.
    private func collect(
        into buffer: UnsafeMutableBufferPointer<epoll_event>, timeout: Int32
    ) -> Slice<UnsafeMutableBufferPointer<epoll_event>> {
        // Newer headers of the C library require a pointer here. The buffer is never empty.
        guard let start = buffer.baseAddress else { return buffer[..<0] }
        let count = epoll_wait(descriptor, start, Int32(buffer.count), timeout)
        // A negative count means that a signal interrupted the call. No other failure is possible with our own
        // descriptor and buffer.
        return buffer[..<max(0, Int(count))]
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
