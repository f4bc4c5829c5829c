import BluetoothPlatform
import Dispatch
import Foundation

/// Holds a callback back until the calling thread has had time for what it does with the call.
///
/// `manager = CBCentralManager(delegate: self, queue: queue)` assigns after `init` has returned, and who calls may have to
/// finish listening for the answer. On another thread's queue nothing else orders that and the callback: on Apple's systems
/// another process answers, which takes its time. So the callback waits until the thread has used a millisecond of its
/// processor's time since (being preempted does not count), has nothing to do, or is gone; a quarter of a second at most.
struct Holdback: Sendable {
    private let clock: clockid_t
    private let thread: Int
    private let beginning: UInt64
    private let deadline: DispatchTime

    private static let enough: UInt64 = 1_000_000
    private static let limit = DispatchTimeInterval.milliseconds(250)
    private static let interval = DispatchTimeInterval.milliseconds(1)
    /// How many checks in a row must find the thread asleep: it may be waiting for a lock.
    private static let sleepyLooks = 3

    /// Starts to watch this thread; nil if the queue's order is enough.
    init?(on queue: DispatchQueue) {
        if queue === DispatchQueue.main, Thread.isMainThread { return nil }
        var clock = clockid_t()
        guard pthread_getcpuclockid(pthread_self(), &clock) == 0, let now = Self.time(of: clock) else { return nil }
        self.clock = clock
        // The clock's number holds that of the thread, inverted (clock_getres(2), "Dynamic clocks").
        thread = Int(~(clock >> 3))
        beginning = now
        deadline = .now() + Self.limit
    }

    /// Runs something when the callback may come.
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

    /// How long a thread has run, in nanoseconds; nil if it is gone.
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
