import BluetoothBase
import BluetoothHCI
import HCITransport

/// Where an adapter gets its controller from, at first and after a loss.
enum ControllerSource: Sendable {
    /// A controller in this process. Its port reports when it is plugged in, and opening does not block.
    case port(any PacketPort)
    /// A transport. It is opened on another thread, since that may block.
    case transport(TransportName, TransportCalls = .system)

    /// What an adapter waits on for its controller to return; nil if nothing reports that.
    func watchArrivals() -> (any Arrivals)? {
        guard case .transport(let name, let calls) = self else { return nil }
        return calls.watchArrivals(name)
    }

    /// Whether an attempt to open makes sense now.
    var isWorthTrying: Bool {
        switch self {
        case .port(let port): port.isPluggedIn
        case .transport: true
        }
    }
}

/// Reports new adapters in the system; see `AdapterArrivals`.
package protocol Arrivals: AnyObject {
    /// The descriptor for an event loop; -1 once closed, which may happen by itself.
    var fileDescriptor: Int32 { get }
    /// Reads the pending reports. Returns whether an adapter was among them.
    func drain() -> Bool
    func close()
}

extension AdapterArrivals: Arrivals {}

/// How transports are opened: tests replace a kernel with Bluetooth.
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

    /// - Parameter report: told what keeps a transport from opening for now.
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
