import BluetoothBase
import BluetoothHCI
import HCITransport

/// The time an adapter lives in: the system's, or that of a port.
enum AdapterClock: Sendable {
    case system
    case port(any PacketPort)
    /// One that a test turns by hand: no time is waited for.
    case manual(@Sendable () -> Instant)

    var now: Instant {
        switch self {
        case .system: MonotonicClock.now
        case .port(let port): port.now
        case .manual(let now): now()
        }
    }

    /// When the adapter's thread is to take a turn of its own accord, given when its host wants one.
    func wakeUp(for hostDeadline: Instant?) -> Instant? {
        switch self {
        case .system: hostDeadline
        case .port(let port): earliest(hostDeadline, port.nextDeadline)
        case .manual: nil
        }
    }
}
