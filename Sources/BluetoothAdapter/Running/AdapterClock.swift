import BluetoothBase
import BluetoothHCI
import HCITransport

/// The clock of an adapter: the system's, or that of a port.
enum AdapterClock: Sendable {
    case system
    case port(any PacketPort)
    /// A clock that a test advances: nothing waits for real time.
    case manual(@Sendable () -> Instant)

    var now: Instant {
        switch self {
        case .system: MonotonicClock.now
        case .port(let port): port.now
        case .manual(let now): now()
        }
    }

    /// When the adapter's thread must take a turn by itself, given the host's deadline.
    func wakeUp(for hostDeadline: Instant?) -> Instant? {
        switch self {
        case .system: hostDeadline
        case .port(let port): earliest(hostDeadline, port.nextDeadline)
        case .manual: nil
        }
    }
}
