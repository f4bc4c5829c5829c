import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import DequeModule

/// An event of an adapter as a whole.
@nonexhaustive
public enum AdapterEvent: Sendable {
    /// A link was established, in either role.
    case connected(Connection)
    case disconnected(Connection, DisconnectReason)
    /// The peer's services in these handles have changed. Earlier discovery results in this range are no longer valid.
    case servicesChanged(Connection, ClosedRange<AttributeHandle>)
    /// A peer's Device Name was read for the first time, or has changed.
    case nameChanged(Connection, String)
    /// The protection of a link has changed.
    case securityChanged(Connection, LinkSecurity)
    /// Pairing has ended: with the strength of its keys, or with the reason why it failed.
    case pairingEnded(Connection, Result<PairingOutcome, PairingError>)
    /// The peer has lost the keys of its bond, or is another device. The link ends. To let the peer pair again, call
    /// `Adapter.removeBond`.
    case bondRefused(Connection)
    /// The controller failed and is being reset. All links are lost. Scanning, advertising and published services
    /// resume automatically when the controller is back.
    case resetting(HostResetCause)
    /// The controller is gone: it was unplugged, became unreachable or was given up, as the error states. Pending calls
    /// have thrown `.adapterRemoved`. The adapter waits for the controller, and reports `ready` when it is back.
    case removed(BluetoothError)
    /// The controller is back, after `resetting` or `removed`. The advertisement and the published services have been
    /// restored.
    case ready
}

extension Adapter {
    /// The events of the adapter, from now on.
    ///
    /// A consumer that falls 256 events behind misses outdated events, such as those of a link that has already ended.
    /// The events that it reads always lead to the current state: they report the end of every link that the consumer
    /// knows of, and the beginning of every link that exists.
    public func events() -> EventSequence<AdapterEvent> {
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
    /// Removes events that later ones supersede.
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
