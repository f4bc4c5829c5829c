import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// A file descriptor that becomes readable at a deadline of the monotonic clock, to the nanosecond.
///
/// Deadlines mostly move later: each answer postpones a timeout. So a timer that fires before the deadline is left
/// alone, and set again only once it has fired, which saves a system call per packet. If there is no deadline, the
/// timer is disarmed so that an idle thread is not woken.
final class Timer {
    let fileDescriptor: Int32
    private var armed: Instant?

    init() throws(Errno) {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        fileDescriptor = try Errno.check { timerfd_create(CLOCK_MONOTONIC, flags) }
    }

    deinit { close(fileDescriptor) }

    /// Makes the timer fire at `deadline` or earlier; never if it is nil.
    func arm(_ deadline: Instant?) {
        var setting = itimerspec()
        guard let deadline else {
            guard armed != nil else { return }
            timerfd_settime(fileDescriptor, 0, &setting, nil)
            armed = nil
            return
        }
        if let armed, armed <= deadline { return }
        setting.it_value.tv_sec = time_t(deadline.nanoseconds / 1_000_000_000)
        // Zero would disarm the timer; here it is a deadline long past.
        setting.it_value.tv_nsec = max(1, Int(deadline.nanoseconds % 1_000_000_000))
        timerfd_settime(fileDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        armed = deadline
    }

    /// Records that the timer has fired.
    func reset() {
        var count: UInt64 = 0
        _ = read(fileDescriptor, &count, MemoryLayout.size(ofValue: count))
        armed = nil
    }
}
