import BluetoothPlatform
import Dispatch
import Foundation

/// Delays a callback until the calling thread has had time to use the result of its call.
///
/// `manager = CBCentralManager(delegate: self, queue: queue)` assigns after `init` has returned, and a caller may still
/// have to prepare for the answer. Nothing else orders that before a callback on another thread. On Apple's systems
/// another process answers, which takes time. Here the callback waits until the thread has used 1 ms of processor time
/// since the call (being preempted does not count), is asleep, or has exited, but for at most 250 ms.
struct Holdback: Sendable {
    private let clock: clockid_t
    private let thread: Int
    private let beginning: UInt64
    private let deadline: DispatchTime

    private static let enough: UInt64 = 1_000_000
    private static let limit = DispatchTimeInterval.milliseconds(250)
    private static let interval = DispatchTimeInterval.milliseconds(1)
    /// The number of consecutive checks that must find the thread asleep: it may be waiting for a lock.
    private static let sleepyLooks = 3

    /// Starts watching the current thread; nil if the order of the queue is sufficient.
    init?(on queue: DispatchQueue) {
        if queue === DispatchQueue.main, Thread.isMainThread { return nil }
        var clock = clockid_t()
        guard pthread_getcpuclockid(pthread_self(), &clock) == 0, let now = Self.time(of: clock) else { return nil }
        self.clock = clock
        // The clock ID contains the bitwise complement of the thread ID (clock_getres(2), "Dynamic clocks").
        thread = Int(~(clock >> 3))
        beginning = now
        deadline = .now() + Self.limit
    }

    /// Calls `body` when the callback may run.
    func wait(_ body: @escaping () -> Void) { look(beginning, 0, body) }

    private func look(_ last: UInt64, _ sleepy: Int, _ body: @escaping () -> Void) {
        let now = Self.time(of: clock)
        let isOver = now.map { $0 < last || $0 - beginning >= Self.enough } ?? true
        guard !isOver, sleepy < Self.sleepyLooks, .now() < deadline else { return body() }
        let isAsleep = now == last && self.isAsleep
        DispatchQueue.global(qos: .userInteractive).asyncAfter(deadline: .now() + Self.interval) {
            look(now ?? last, isAsleep ? sleepy + 1 : 0, body)
        }
    }

    /// The processor time that a thread has used, in nanoseconds; nil if the thread has exited.
    private static func time(of clock: clockid_t) -> UInt64? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Whether the thread is sleeping (proc(5), "stat").
    private var isAsleep: Bool {
        guard let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8) else {
            return false
        }
        return line[(line.lastIndex(of: ")") ?? line.startIndex)...].dropFirst(2).first == "S"
    }
}
