import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The GATT client of a link, for those who hand on what happens in the order in which it happened: a bridge to an API
/// with callbacks, a recorder.
///
/// Calls such as `Connection.read` return to whoever made them, at a time of their own; a value that the peer sends
/// meanwhile may be seen before or after. A session has both in one sequence.
///
///     let session = try await connection.openSession()
///     await session.begin(.readLong(handle), as: 1)
///     for try await event in session.events { … }
public struct ClientSession: Sendable {
    public let connection: Connection
    /// What happens, from the moment the session was opened on. It ends by throwing what ended the link, or `.overflow`
    /// where its consumer falls 16384 events behind. When the last copy of it is gone, the session is over.
    public let events: EventSequence<ClientEvent>
    /// Begins an operation. How it ends, and even that it cannot begin, is told by an event with this number, exactly
    /// once, unless the link ends before.
    ///
    /// Operations on one link are carried out in the order in which they were begun.
    public func begin(_ operation: GATTClientOperation, as tag: Int) async {
        // Where the link has ended the sequence has, too.
        guard connection.link.error == nil else { return }
        let router = connection.router
        guard let token = router.calls.insert(.session(events.subscription.queue, tag: tag)) else { return }
        router.post(.perform(connection.link.identifier, operation), token: token)
    }
}

/// Something that happens to the GATT client of a link.
public enum ClientEvent: Sendable {
    /// The peer has sent the value of a characteristic unasked: notified, or indicated, which has been confirmed.
    case value([UInt8], of: AttributeHandle)
    /// An operation has ended that was begun with this number.
    case ended(Int, Result<GATTClientResult, BluetoothError>)
    /// ATT_MTU has changed, to so many octets.
    case mtuChanged(Int)
}

extension Connection {
    /// Opens a session, of which a link may have several; each is told of every value.
    ///
    /// It does not subscribe to anything: `GATTClientOperation.configure` does.
    public func openSession() async throws(BluetoothError) -> ClientSession {
        try router.check(link)
        let queue = AsyncQueue<ClientEvent>(capacity: 16_384, overflow: .fail)
        let error = link.state.withLock { state in
            if state.end == nil { state.sessions.append(queue) }
            return state.end?.error
        }
        if let error { throw error }
        let events = EventSequence(queue) { [link] in
            link.state.withLock { state in state.sessions.removeAll { $0 === queue } }
        }
        return ClientSession(connection: self, events: events)
    }
}
