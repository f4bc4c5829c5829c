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
    ///   - definition: the service, with its characteristics and their properties and permissions.
    ///   - handle: the handle of the service declaration. Defaults to the first free one.
    ///   - events: the sequence for the events of the characteristics, from `characteristicEvents()`. By default, each
    ///     characteristic has its own sequence.
    /// - Throws: `.invalidDefinition` if the database has no room, or if the definition is inconsistent.
    public func publish(
        _ definition: GATTServiceDefinition, at handle: AttributeHandle? = nil,
        events: EventSequence<CharacteristicEvent>? = nil
    ) async throws(BluetoothError) -> PublishedService {
        try router.check()
        let publication = Publication(of: [definition], events: events, on: self)
        let result = try await router.call(.publish(definition, at: handle), publishing: publication.call)
        guard case .published(let handles) = result else { throw .cancelled }
        return publication.services([handles])[0]
    }

    /// Adds services to the database, all or none of them. The services may include each other.
    ///
    /// - Parameters:
    ///   - definitions: the services. If a definition specifies handles, the service gets them.
    ///   - events: the sequence for the events of the characteristics, as for a single service.
    /// - Returns: the services, in the order of their definitions.
    /// - Throws: `.invalidDefinition` with the handle that is already in use or out of order.
    public func publish(
        _ definitions: [GATTServiceDefinition], events: EventSequence<CharacteristicEvent>? = nil
    ) async throws(BluetoothError) -> [PublishedService] {
        try router.check()
        let publication = Publication(of: definitions, events: events, on: self)
        let result = try await router.call(.publishAll(definitions), publishing: publication.call)
        guard case .publishedAll(let handles) = result else { throw .cancelled }
        return publication.services(handles)
    }

    /// Removes services from the database, all or none of them. The services may include each other.
    public func withdraw(_ services: [PublishedService]) async throws(BluetoothError) {
        try router.check()
        try await router.call(.withdrawAll(services.map(\.handles.declaration)))
        for service in services { router.forget(service.handles.range) }
    }

    /// A sequence for the events of several services, in order. Pass it to `publish`. The sequence does not end when
    /// one of the services is withdrawn. As for a single characteristic, up to 1024 events are buffered while a copy of
    /// the sequence exists.
    public func characteristicEvents() -> EventSequence<CharacteristicEvent> {
        EventSequence(AsyncQueue(capacity: 1024, overflow: .dropNewest, mark: CharacteristicEvent.mark)) {}
    }
}

/// The services of a call of `publish`, and the queues for the events of their characteristics.
private struct Publication {
    let adapter: Adapter
    let definitions: [GATTServiceDefinition]
    /// One for each characteristic of each service.
    let sequences: [EventSequence<CharacteristicEvent>]
    let call: PendingCalls.Publication

    init(of definitions: [GATTServiceDefinition], events: EventSequence<CharacteristicEvent>?, on adapter: Adapter) {
        self.adapter = adapter
        self.definitions = definitions
        let characteristics = definitions.flatMap(\.characteristics)
        sequences = characteristics.map { _ in events ?? adapter.characteristicEvents() }
        call = PendingCalls.Publication(
            queues: sequences.map(\.subscription.queue),
            takesCommands: characteristics.map { $0.properties.contains(.writeWithoutResponse) },
            unconditional: characteristics.map(\.unconditional), isShared: events != nil)
    }

    func services(_ handles: [GATTServiceHandles]) -> [PublishedService] {
        var rest = sequences[...]
        return zip(definitions, handles).map { definition, handles in
            let characteristics = zip(definition.characteristics, zip(handles.characteristics, rest)).map {
                PublishedCharacteristic(adapter: adapter, uuid: $0.uuid, handle: $1.0.value, events: $1.1)
            }
            rest = rest.dropFirst(definition.characteristics.count)
            return PublishedService(
                adapter: adapter, uuid: definition.uuid, handles: handles, characteristics: characteristics)
        }
    }
}

extension CharacteristicEvent {
    /// The replacement for a written value that does not fit into a full queue: one event for each peer.
    static let mark: @Sendable (CharacteristicEvent, Deque<CharacteristicEvent>.SubSequence) -> CharacteristicEvent? = {
        event, excess in
        guard case .written(_, _, let peer) = event else { return nil }
        let isMarked = excess.contains { if case .dataLost(peer) = $0 { true } else { false } }
        return isMarked ? nil : .dataLost(peer)
    }
}

extension EventRouter {
    /// Ends the events of a service that was withdrawn. A new service may take its handles, without any subscription.
    func forget(_ handles: ClosedRange<AttributeHandle>) {
        let removed = state.withLock { state -> [Receiver] in
            let removed = state.receivers.filter { handles.contains($0.key) }
            for handle in removed.keys { state.receivers[handle] = nil }
            return Array(removed.values)
        }
        for receiver in removed where !receiver.isShared { receiver.queue.finish() }
        for link in links {
            link.state.withLock { $0.subscriptions.remove(in: handles) }
        }
    }
}
