import BluetoothBase
import BluetoothHCI
import HCITransport

/// Where an adapter has its controller from, at first and again.
enum ControllerSource: Sendable {
    /// A controller in this process. Its port tells when it is plugged in, and opening does not wait.
    case port(any PacketPort)
    /// A transport. It is opened on another thread, since that may wait.
    case transport(TransportName, TransportCalls = .system)

    /// What an adapter waits on for its controller to come back; nil where nothing tells.
    func watchArrivals() -> (any Arrivals)? {
        guard case .transport(let name, let calls) = self else { return nil }
        return calls.watchArrivals(name)
    }

    /// Whether a try to open makes sense now.
    var isWorthTrying: Bool {
        switch self {
        case .port(let port): port.isPluggedIn
        case .transport: true
        }
    }
}

/// Tells when an adapter has come into the system; see `AdapterArrivals`.
package protocol Arrivals: AnyObject {
    /// What an event loop waits on; -1 once closed, which it may do by itself.
    var fileDescriptor: Int32 { get }
    /// Takes note of what has come. Whether an adapter was among it.
    func drain() -> Bool
    func close()
}

extension AdapterArrivals: Arrivals {}

/// How transports are opened, so that tests can stand in for a kernel with Bluetooth.
package struct TransportCalls: Sendable {
    package var open: @Sendable (TransportName, Waker) throws(TransportError) -> sending any HCITransport
    package var watchArrivals: @Sendable (TransportName) -> (any Arrivals)?

    package init(
        open: @escaping @Sendable (TransportName, Waker) throws(TransportError) -> sending any HCITransport,
        watchArrivals: @escaping @Sendable (TransportName) -> (any Arrivals)?
    ) {
        self.open = open
        self.watchArrivals = watchArrivals
    }

    package static let system = TransportCalls(
        open: { (name, cancellation) throws(TransportError) in try name.open(cancellation: cancellation) },
        watchArrivals: { name in
            if case .hciSocket = name { try? AdapterArrivals() } else { nil }
        })
}
