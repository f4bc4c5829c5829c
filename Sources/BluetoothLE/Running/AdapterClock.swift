import BluetoothBase
import HCITransport
import VirtualRadio

/// The time an adapter lives in: the system's, or that of a radio in this process.
protocol AdapterClock: Sendable {
    var now: Instant { get }

    /// When the adapter's thread is to take a turn of its own accord, given when its host wants one.
    func wakeUp(for hostDeadline: Instant?) -> Instant?
}

struct SystemClock: AdapterClock {
    var now: Instant { MonotonicClock.now }

    func wakeUp(for hostDeadline: Instant?) -> Instant? { hostDeadline }
}

struct RadioClock: AdapterClock {
    let port: VirtualRadio.Port

    var now: Instant { port.radio.now }

    func wakeUp(for hostDeadline: Instant?) -> Instant? {
        switch port.radio.time {
        case .system: earliest(hostDeadline, port.nextDeadline)
        case .manual: nil  // `VirtualRadio.advance` has the adapter take its turns.
        }
    }
}
