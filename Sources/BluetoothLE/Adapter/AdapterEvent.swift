import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import DequeModule

/// An event of an adapter as a whole.
public enum AdapterEvent: Sendable {
    /// A link was made, in either role.
    case connected(Connection)
    case disconnected(Connection, DisconnectReason)
    /// A peer's services in these handles have changed: earlier discoveries there are void.
    case servicesChanged(Connection, ClosedRange<AttributeHandle>)
    /// A peer's Device Name was read for the first time, or has changed.
    case nameChanged(Connection, String)
    /// A link is protected in another way than before.
    case securityChanged(Connection, LinkSecurity)
    /// Pairing has ended: with keys of this strength, or with why it failed.
    case pairingEnded(Connection, Result<PairingOutcome, PairingError>)
    /// The peer has lost the keys of its bond, or is another device: its link ends, and `Adapter.removeBond` lets it pair
    /// anew.
    case bondRefused(Connection)
    /// The controller failed and is being reset. Links are gone; scanning, advertising and published services resume by
    /// themselves once it is back.
    case resetting(String)
    /// The controller is gone: unplugged, given up or unreachable; the error says which. Pending calls have ended with
    /// `.adapterRemoved`. The adapter waits for it, and `ready` follows when it is back.
    case removed(BluetoothError)
    /// The controller is back, after `resetting` or `removed`; the advertisement and the published services are
    /// restored.
    case ready
}

extension Adapter {
    /// The events of the adapter from now on.
    ///
    /// A consumer that falls 256 events behind misses outdated ones, such as those of a link that has already ended.
    /// The events it reads always lead to the present state: it gets the end of every link it knows of, and every link
    /// that exists.
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
    /// Removes events that later ones make void.
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
            case .connected(let connection), .servicesChanged(let connection, _), .securityChanged(let connection, _),
                .pairingEnded(let connection, _), .bondRefused(let connection):
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
