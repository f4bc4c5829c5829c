import BluetoothBase
import BluetoothHCI
import HCITransport

/// The clock of an adapter.
enum AdapterClock: Sendable {
    case system
    case port(any PacketPort)
    /// A clock that a test advances. The adapter's thread never waits for real time.
    case manual(@Sendable () -> Instant)

    // Compiled into each turn, where a call would copy the clock.
    @inline(__always)
    var now: Instant {
        switch self {
        case .system: MonotonicClock.now
        case .port(let port): port.now
        case .manual(let now): now()
        }
    }

    /// When the adapter's thread must take a turn without being woken, given the host's deadline.
    @inline(__always)
    func wakeUp(for hostDeadline: Instant?) -> Instant? {
        switch self {
        case .system: hostDeadline
        case .port(let port): earliest(hostDeadline, port.nextDeadline)
        case .manual: nil
        }
    }
}
