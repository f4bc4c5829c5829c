import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The services of this adapter.
extension Adapter {
    /// Adds a service to the database that every peer sees.
    ///
    /// - Parameters:
    ///   - definition: the service, with its characteristics and what they allow.
    ///   - handle: where to put it; the first free place where nil.
    ///   - events: where the events of its characteristics are to go, of `characteristicEvents()`; into a sequence for each
    ///     characteristic where nil.
    /// - Throws: `.invalidDefinition` where the database has no room, or the definition contradicts itself.
    public func publish(
        _ definition: GATTServiceDefinition, at handle: AttributeHandle? = nil,
        events: EventSequence<CharacteristicEvent>? = nil
    ) async throws(BluetoothError) -> PublishedService {
        try router.check()
        let sequences = definition.characteristics.map { _ in events ?? characteristicEvents() }
        let publication = PendingCalls.Publication(
            queues: sequences.map(\.subscription.queue), isShared: events != nil)
        let result = try await router.call(.publish(definition, at: handle), publishing: publication)
        guard case .published(let handles) = result else { throw .cancelled }
        let characteristics = zip(definition.characteristics, zip(handles.characteristics, sequences)).map {
            PublishedCharacteristic(adapter: self, uuid: $0.uuid, handle: $1.0.value, events: $1.1)
        }
        return PublishedService(
            adapter: self, uuid: definition.uuid, handles: handles, characteristics: characteristics)
    }

    /// A sequence for what peers do with the characteristics of several services, in the order in which they do it; to be
    /// given to `publish`. It does not end when one of the services is withdrawn. As with those of one characteristic,
    /// up to 1024 events are kept, as long as there is a copy of the sequence.
    public func characteristicEvents() -> EventSequence<CharacteristicEvent> {
        EventSequence(AsyncQueue(capacity: 1024, overflow: .dropNewest)) {}
    }
}

extension EventRouter {
    /// A service is gone: its events end, and another may come to stand there, to which nobody has subscribed yet.
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
