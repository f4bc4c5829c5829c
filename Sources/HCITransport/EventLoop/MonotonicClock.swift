import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// The clock for the deadlines of an event loop. It counts from the boot of the machine, and changes of the wall-clock
/// time do not affect it.
public enum MonotonicClock {
    /// The current instant, with nanosecond resolution.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
