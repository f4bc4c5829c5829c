import BluetoothHost
import BluetoothUsers

/// Receives the events of one adapter: an API on top of it, or a program that wants all events in one order.
public protocol AdapterObserver: AnyObject, Sendable {
    /// Delivers the events since the last call, in order. Octets lie in the batch: copy them to keep them longer.
    ///
    /// Called on the adapter's thread, once per turn. With a radio on manual time, it is called on the thread that lets
    /// time pass. It may post calls. It must not wait for anything, nor close the adapter.
    func receive(_ batch: borrowing EventBatch)
}
