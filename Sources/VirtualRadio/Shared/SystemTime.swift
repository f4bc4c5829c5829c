import BluetoothBase
import Glibc

/// The clock of a radio whose time is the system's: the one an event loop measures its deadlines by.
enum SystemTime {
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
