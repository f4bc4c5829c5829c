import BluetoothBase
import CBluetoothHCI
import Glibc

/// The clock the deadlines of an event loop are measured by: it counts from when the machine was started, and no change
/// of the date moves it.
public enum MonotonicClock {
    /// The present instant, in nanoseconds.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
