import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The GATT client of a link with all of its events in order, for a bridge to a callback API or a recorder.
///
/// Calls such as `Connection.read` return independently of each other: a value that the peer sends in the meantime may
/// be received before or after their result. A session reports values and results in one sequence.
///
///     let session = try connection.openSession()
///     session.begin(.readLong(handle), as: 1)
///     for try await event in session.events { … }
public struct ClientSession: Sendable {
    /// The link on which the session was opened.
    public let connection: Connection
    /// The events since the session was opened. The sequence throws the reason why the link ended, or `.overflow` if
    /// its consumer falls 16,384 events behind. The session ends when the last copy of the sequence is released.
    public let events: EventSequence<ClientEvent>
    /// Begins an operation. Exactly one event with this number reports how it ended, or that it could not begin, unless
    /// the link ends first.
    ///
    /// Operations on one link are carried out in the order in which they were begun.
    public func begin(_ operation: GATTClientOperation, as tag: Int) {
        // If the link has ended, so has the sequence.
        guard connection.link.error == nil else { return }
        let router = connection.router, known = connection.link.knownChanges
        guard let token = router.calls.insert(.session(events.subscription.queue, tag: tag)) else { return }
        router.post(.perform(connection.link.identifier, operation), token: token, knownChanges: known)
    }
}

/// An event of the GATT client of a link.
@nonexhaustive
public enum ClientEvent: Sendable {
    /// The peer has notified or indicated a value. An indication has already been confirmed.
    case value([UInt8], of: AttributeHandle)
    /// The operation that was begun with this number has ended.
    case ended(Int, Result<GATTClientResult, BluetoothError>)
    /// The ATT_MTU has changed to this number of octets.
    case mtuChanged(Int)
}

extension Connection {
    /// Opens a session. A link may have several sessions, and each receives every value.
    ///
    /// A session does not subscribe to anything. Use `GATTClientOperation.configure` for that.
    public func openSession() throws(BluetoothError) -> ClientSession {
        try router.check(link)
        let queue = AsyncQueue<ClientEvent>(capacity: 16_384, overflow: .fail)
        try link.add(queue)
        let events = EventSequence(queue) { [link] in link.remove(queue) }
        return ClientSession(connection: self, events: events)
    }
}
