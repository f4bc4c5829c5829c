import BluetoothHost
import BluetoothUsers

/// Receives the events of one adapter. Implemented by the APIs built on the adapter, and by programs that need all
/// events in one order.
public protocol AdapterObserver: AnyObject, Sendable {
    /// Delivers the events since the last call, in order. The batch owns the octets of its events; copy them to keep
    /// them longer.
    ///
    /// Called on the adapter's thread, once per turn, or, with a port on manual time, on the thread that advances time.
    /// The observer may post calls. It must not block, and must not close the adapter.
    func receive(_ batch: borrowing EventBatch)
}
