import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import DequeModule

/// The services of this adapter.
extension Adapter {
    /// Adds a service to the database that every peer sees.
    ///
    /// - Parameters:
    ///   - definition: the service, with its characteristics and what they allow.
    ///   - handle: the handle of its declaration; the first free one if nil.
    ///   - events: the sequence for the events of its characteristics, from `characteristicEvents()`; a separate one
    ///     for each characteristic if nil.
    /// - Throws: `.invalidDefinition` if the database has no room, or the definition contradicts itself.
    public func publish(
        _ definition: GATTServiceDefinition, at handle: AttributeHandle? = nil,
        events: EventSequence<CharacteristicEvent>? = nil
    ) async throws(BluetoothError) -> PublishedService {
        try router.check()
        let sequences = definition.characteristics.map { _ in events ?? characteristicEvents() }
        let publication = PendingCalls.Publication(
            queues: sequences.map(\.subscription.queue),
            takesCommands: definition.characteristics.map { $0.properties.contains(.writeWithoutResponse) },
            isShared: events != nil)
        let result = try await router.call(.publish(definition, at: handle), publishing: publication)
        guard case .published(let handles) = result else { throw .cancelled }
        let characteristics = zip(definition.characteristics, zip(handles.characteristics, sequences)).map {
            PublishedCharacteristic(adapter: self, uuid: $0.uuid, handle: $1.0.value, events: $1.1)
        }
        return PublishedService(
            adapter: self, uuid: definition.uuid, handles: handles, characteristics: characteristics)
    }

    /// A sequence for the events of several services, in order; pass it to `publish`. It does not end when one of the
    /// services is withdrawn. Up to 1024 events are kept while a copy of the sequence exists, as for one
    /// characteristic.
    public func characteristicEvents() -> EventSequence<CharacteristicEvent> {
        EventSequence(AsyncQueue(capacity: 1024, overflow: .dropNewest, mark: CharacteristicEvent.mark)) {}
    }
}

extension CharacteristicEvent {
    /// What stands in a full queue for a value that was written and does not fit: one event for each peer.
    static let mark: @Sendable (CharacteristicEvent, Deque<CharacteristicEvent>.SubSequence) -> CharacteristicEvent? = {
        event, excess in
        guard case .written(_, _, let peer) = event else { return nil }
        let isMarked = excess.contains { if case .dataLost(peer) = $0 { true } else { false } }
        return isMarked ? nil : .dataLost(peer)
    }
}

extension EventRouter {
    /// A service is gone: its events end, and a new service may take its handles, without any subscription.
    func forget(_ handles: ClosedRange<AttributeHandle>) {
        let removed = state.withLock { state -> [Receiver] in
            let removed = state.receivers.filter { handles.contains($0.key) }
            for handle in removed.keys { state.receivers[handle] = nil }
            return Array(removed.values)
        }
        for receiver in removed where !receiver.isShared { receiver.queue.finish() }
        for link in links {
            link.state.withLock { state in
                state.subscriptions = state.subscriptions.filter { !handles.contains($0.key) }
            }
        }
    }
}
