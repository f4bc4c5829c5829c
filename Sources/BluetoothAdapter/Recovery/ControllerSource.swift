import BluetoothBase
import BluetoothHCI
import HCITransport

/// The source of an adapter's controller, when it first opens and after a loss.
enum ControllerSource: Sendable {
    /// A controller in this process. Its port reports when it is plugged in, and opening it does not block.
    case port(any PacketPort)
    /// A transport. It is opened on another thread, because opening may block.
    case transport(TransportName, TransportCalls = .system)

    /// Starts watching for the controller's return; nil if the system does not report it.
    func watchArrivals() -> (any Arrivals)? {
        guard case .transport(let name, let calls) = self else { return nil }
        return calls.watchArrivals(name)
    }

    /// Whether opening can succeed now.
    var isWorthTrying: Bool {
        switch self {
        case .port(let port): port.isPluggedIn
        case .transport: true
        }
    }
}

/// Reports new adapters in the system; see `AdapterArrivals`.
package protocol Arrivals: AnyObject {
    /// The descriptor for an event loop; -1 once closed. The system may also close it.
    var fileDescriptor: Int32 { get }
    /// Reads the pending reports. Returns whether an adapter has arrived.
    func drain() -> Bool
    func close()
}

extension AdapterArrivals: Arrivals {}

/// The functions that open transports. Tests substitute their own for a real kernel.
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

    package static let system = system { _ in }

    /// - Parameter report: called with an error that temporarily keeps a transport from opening.
    package static func system(report: @escaping @Sendable (TransportError) -> Void) -> TransportCalls {
        TransportCalls(
            open: { (name, cancellation) throws(TransportError) in
                try name.open(cancellation: cancellation, report: report)
            },
            watchArrivals: { name in
                if case .hciSocket = name { try? AdapterArrivals() } else { nil }
            })
    }
}
