import BluetoothBase
import BluetoothPlatform

/// The clock of a radio on system time, the same one that event loops use for deadlines.
enum SystemTime {
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
