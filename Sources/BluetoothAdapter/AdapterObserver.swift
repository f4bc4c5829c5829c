import BluetoothHost

/// Whoever is handed what happens to one adapter: the front of an API, or a program that wants all of it in one order.
public protocol AdapterObserver: AnyObject, Sendable {
    /// Hands over what has happened since the last time, in the order in which it did. Octets lie in the batch, and are to
    /// be copied where they are needed for longer.
    ///
    /// It is called on the adapter's thread, once per turn; where a radio's time is manual, on the thread that lets time
    /// pass. It may post calls. It must not wait for anything, nor close the adapter.
    func receive(_ batch: borrowing EventBatch)
}
