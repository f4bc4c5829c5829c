import CSystemd
import Glibc

/// Waits for descriptors and deadlines on one thread.
package final class EventLoop {
    /// What a descriptor is ready for.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
        package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
        /// The other end is closed, or the descriptor has failed. Always reported.
        package static let ended = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    }

    private struct Watch {
        let number: UInt64
        var events: Readiness
        let handler: (Readiness) -> Void
    }

    private let epoll: Int32
    private var watches: [Int32: Watch] = [:]
    private var descriptors: [UInt64: Int32] = [:]
    private var lastNumber: UInt64 = 0
    /// The results of one wait: the numbers of the watches, and their events.
    private var tokens = [UInt64](repeating: 0, count: Int(busEpollEventLimit))
    private var events = [UInt32](repeating: 0, count: Int(busEpollEventLimit))

    package init() throws(BusFailure) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .system("create an event loop", errno: errno) }
    }

    deinit { close(epoll) }

    /// Calls a handler whenever a descriptor is ready. The descriptor must be unwatched before it is closed.
    package func watch(
        _ descriptor: Int32, for events: Readiness, _ handler: @escaping (Readiness) -> Void
    ) throws(BusFailure) {
        lastNumber += 1
        guard busEpollControl(epoll, EPOLL_CTL_ADD, descriptor, events.rawValue, lastNumber) == 0 else {
            throw .system("wait for a descriptor", errno: errno)
        }
        watches[descriptor] = Watch(number: lastNumber, events: events, handler: handler)
        descriptors[lastNumber] = descriptor
    }

    /// Changes the events that a descriptor is watched for.
    package func update(_ descriptor: Int32, for events: Readiness) {
        guard let watch = watches[descriptor], watch.events != events else { return }
        watches[descriptor]?.events = events
        _ = busEpollControl(epoll, EPOLL_CTL_MOD, descriptor, events.rawValue, watch.number)
    }

    package func unwatch(_ descriptor: Int32) {
        guard let watch = watches.removeValue(forKey: descriptor) else { return }
        descriptors[watch.number] = nil
        _ = busEpollControl(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    /// Waits until a descriptor is ready or the deadline has passed, and calls the handlers.
    ///
    /// - Parameter deadline: in microseconds of the monotonic clock; nil for no limit.
    package func wait(until deadline: UInt64?) {
        let count = busEpollWait(epoll, &tokens, &events, Self.milliseconds(until: deadline))
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            // A handler may have unwatched a descriptor that was ready as well.
            guard let descriptor = descriptors[tokens[index]], let watch = watches[descriptor] else { continue }
            watch.handler(Readiness(rawValue: events[index]))
        }
    }

    private static func milliseconds(until deadline: UInt64?) -> Int32 {
        guard let deadline else { return -1 }
        let now = MonotonicClock.microseconds
        // Rounded up, so that the deadline has passed at the return.
        return deadline <= now ? 0 : Int32(clamping: (deadline - now + 999) / 1000)
    }
}

/// The clock of sd-bus's deadlines.
package enum MonotonicClock {
    /// The time in microseconds.
    package static var microseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
