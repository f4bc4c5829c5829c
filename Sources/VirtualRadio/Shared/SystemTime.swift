import BluetoothBase
import BluetoothPlatform

/// The clock of a radio in system time: the same as for the deadlines of an event loop.
enum SystemTime {
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
