import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// The clock for the deadlines of an event loop: it counts from the start of the machine and is not affected by changes
/// of the date.
public enum MonotonicClock {
    /// The present instant, in nanoseconds.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
