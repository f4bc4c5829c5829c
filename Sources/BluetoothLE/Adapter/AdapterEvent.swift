import Synchronization
import BluetoothAdapter
import BluetoothATT
import BluetoothHost
import DequeModule

/// Something that happens to an adapter as a whole.
public enum AdapterEvent: Sendable {
    /// A link is there, in either role.
    case connected(Connection)
    case disconnected(Connection, DisconnectReason)
    /// The services of a peer in these handles are others now: what was discovered there is void.
    case servicesChanged(Connection, ClosedRange<AttributeHandle>)
    /// The name a peer gives itself has been read for the first time, or is another now.
    case nameChanged(Connection, String)
    /// The controller failed and is being reset. Links are gone; scanning, advertising and published services go on by
    /// themselves once it is back.
    case resetting(String)
    /// The controller is gone: unplugged, given up, or no longer to be reached; the error says which. Whatever was
    /// pending has ended with `.adapterRemoved`. The adapter waits for it, and `ready` tells when it is back.
    case removed(BluetoothError)
    /// The controller is back, after `resetting` or `removed`; what is advertised and published is there again.
    case ready
}

extension Adapter {
    /// What happens to the adapter from now on.
    ///
    /// A consumer that falls 256 events behind misses what is outdated by then, such as a link that has come and gone;
    /// what it has read always leads to the present state: no end of a link it knows of is left out, and no link that
    /// there is.
    public func events() async -> EventSequence<AdapterEvent> {
        let queue = AsyncQueue<AdapterEvent>(capacity: 256, overflow: .grow, compact: { AdapterEvent.compact(&$0) })
        let number = router.state.withLock { state in
            state.lastObserver += 1
            state.observers.append((state.lastObserver, queue))
            return state.lastObserver
        }
        if let closure = router.calls.closure { queue.finish(closure) }
        return EventSequence(queue) { [weak router] in
            router?.state.withLock { state in state.observers.removeAll { $0.number == number } }
        }
    }
}

extension AdapterEvent {
    /// Takes out what later events make void.
    static func compact(_ events: inout Deque<AdapterEvent>) {
        var kept: [AdapterEvent] = []
        var ended: Set<Connection> = [], renamed: Set<Connection> = [], begunAndEnded: Set<Connection> = []
        var hasStatus = false
        for event in events {
            if case .connected(let connection) = event { begunAndEnded.insert(connection) }
        }
        for event in events.reversed() {
            switch event {
            case .disconnected(let connection, _):
                ended.insert(connection)
                if begunAndEnded.contains(connection) { continue }
            case .connected(let connection), .servicesChanged(let connection, _):
                if ended.contains(connection) { continue }
            case .nameChanged(let connection, _):
                if ended.contains(connection) || !renamed.insert(connection).inserted { continue }
            case .resetting, .removed, .ready:
                if hasStatus { continue }
                hasStatus = true
            }
            kept.append(event)
        }
        events = Deque(kept.reversed())
    }
}
