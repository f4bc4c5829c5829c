import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// A file descriptor that becomes readable at a deadline of the monotonic clock, to the nanosecond.
///
/// Deadlines mostly move later, because each answer postpones a timeout. So a timer that is due before the deadline is
/// left alone and set again only after it has fired, which saves a system call per packet. Without a deadline, the
/// timer is disarmed so that it does not wake an idle thread.
struct TimerDescriptor: ~Copyable {
    let fileDescriptor: Int32

    init() throws(Errno) {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        fileDescriptor = try Errno.check { timerfd_create(CLOCK_MONOTONIC, flags) }
    }

    deinit { close(fileDescriptor) }

    /// Makes the timer fire at `deadline` or earlier. If `deadline` is nil, the timer does not fire.
    ///
    /// - Parameter armed: the deadline that the timer is set for; nil if it is not set, or has fired.
    /// - Returns: the deadline that the timer is set for now.
    @inline(__always)
    func arm(_ deadline: Instant?, insteadOf armed: Instant?) -> Instant? {
        guard let deadline else {
            if armed != nil { set(nil) }
            return nil
        }
        if let armed, armed <= deadline { return armed }
        set(deadline)
        return deadline
    }

    /// Sets the timer, or disarms it if `deadline` is nil.
    @inline(never)
    private func set(_ deadline: Instant?) {
        var setting = itimerspec()
        if let deadline {
            setting.it_value.tv_sec = time_t(deadline.nanoseconds / 1_000_000_000)
            // Zero would disarm the timer. Here it stands for a deadline that passed long ago.
            setting.it_value.tv_nsec = max(1, Int(deadline.nanoseconds % 1_000_000_000))
        }
        timerfd_settime(fileDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    /// Makes the descriptor of a timer that has fired unreadable.
    func reset() {
        var count: UInt64 = 0
        _ = read(fileDescriptor, &count, MemoryLayout.size(ofValue: count))
    }
}
