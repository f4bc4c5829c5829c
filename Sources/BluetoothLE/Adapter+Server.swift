import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The services of this adapter.
extension Adapter {
    /// Adds a service to the database that every peer sees.
    ///
    /// - Parameter handle: where to put it; the first free place where nil.
    /// - Throws: `.invalidDefinition` where the database has no room, or the definition contradicts itself.
    public func publish(
        _ definition: GATTServiceDefinition, at handle: AttributeHandle? = nil
    ) throws(BluetoothError) -> PublishedService {
        try checkOpen()
        let handles: GATTServiceHandles
        do throws(GATTDatabaseError) {
            handles = try host.addService(definition, handle: handle, at: now)
        } catch {
            throw .invalidDefinition("\(error)")
        }
        let characteristics = zip(definition.characteristics, handles.characteristics).map { definition, handles in
            let queue = AsyncQueue<CharacteristicEvent>(capacity: 1024, overflow: .dropNewest)
            published[handles.value] = queue
            for descriptor in handles.descriptors { published[descriptor] = queue }
            return PublishedCharacteristic(
                adapter: self, uuid: definition.uuid, handle: handles.value, events: EventSequence(queue) {})
        }
        return PublishedService(
            adapter: self, uuid: definition.uuid, handles: handles, characteristics: characteristics)
    }

    func withdraw(_ handles: GATTServiceHandles) throws(BluetoothError) {
        try checkOpen()
        do throws(GATTDatabaseError) {
            let range = try host.removeService(handles.declaration, at: now)
            for handle in published.keys where range.contains(handle) {
                published.removeValue(forKey: handle)?.finish()
            }
        } catch {
            throw .invalidDefinition("\(error)")
        }
    }

    func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(BluetoothError) {
        try checkOpen()
        do throws(GATTDatabaseError) {
            try host.server.database.setValue(value, of: handle)
        } catch {
            throw .invalidDefinition("\(error)")
        }
    }

    func value(of handle: AttributeHandle) -> [UInt8]? { host.server.database.value(of: handle) }

    func subscribers(of handle: AttributeHandle) -> [Subscriber] {
        links.values.compactMap { state in
            state.subscriptions.contains(handle)
                ? Subscriber(connection: state.connection, characteristic: handle) : nil
        }
    }

    // MARK: - Sending

    func notify(
        _ value: [UInt8], of handle: AttributeHandle, on link: LinkIdentifier
    ) async throws(BluetoothError) {
        try await send(on: link) { host throws(HostError) in
            try host.notify(handle, value: value.span, on: link)
        }
    }

    func indicate(
        _ value: [UInt8], of handle: AttributeHandle, on link: LinkIdentifier
    ) async throws(BluetoothError) {
        while true {
            try checkOpen(link)
            let isSent: Bool
            do throws(HostError) {
                isSent = try host.indicate(handle, value: value.span, on: link, at: now)
            } catch {
                throw BluetoothError(error)
            }
            // Where another one is unconfirmed, its confirmation is what to wait for.
            try await wait(for: .confirmation(link, makeNumber()))
            if isSent { return }
        }
    }

    // MARK: - Answering

    func answer(_ request: ServerRequest, _ value: [UInt8]) throws(BluetoothError) {
        do throws(HostError) { try host.answer(request, value: value.span, at: now) } catch {
            throw BluetoothError(error)
        }
    }

    func accept(_ request: ServerRequest) throws(BluetoothError) {
        do throws(HostError) { try host.accept(request) } catch { throw BluetoothError(error) }
    }

    func refuse(_ request: ServerRequest, _ code: ATTErrorCode) throws(BluetoothError) {
        do throws(HostError) { try host.refuse(request, with: code) } catch { throw BluetoothError(error) }
    }

    // MARK: - What peers do

    func valueWritten(_ link: LinkIdentifier, _ handle: AttributeHandle, _ value: [UInt8]) {
        guard let connection = links[link]?.connection else { return }
        published[handle]?.push(.written(value, by: connection))
    }

    func readRequested(_ request: ServerRequest, _ handle: AttributeHandle, _ offset: Int) {
        guard let connection = links[request.link]?.connection, let queue = published[handle] else {
            return refuseUnhandled(request)
        }
        queue.push(.readRequested(ReadRequest(connection: connection, request: request, offset: offset)))
    }

    func writeRequested(_ request: ServerRequest, _ parts: [WriteRequest.Part]) {
        guard let connection = links[request.link]?.connection, let first = parts.first,
            let queue = published[first.handle]
        else { return refuseUnhandled(request) }
        queue.push(.writeRequested(WriteRequest(connection: connection, request: request, parts: parts)))
    }

    private func refuseUnhandled(_ request: ServerRequest) {
        try? host.refuse(request, with: .unlikelyError)
    }

    func subscriptionChanged(_ link: LinkIdentifier, _ change: GATTSubscriptionChange) {
        guard let connection = links[link]?.connection else { return }
        let subscriber = Subscriber(connection: connection, characteristic: change.characteristic)
        if change.new.isEmpty {
            guard links[link]?.subscriptions.remove(change.characteristic) != nil else { return }
            published[change.characteristic]?.push(.unsubscribed(subscriber))
        } else if links[link]?.subscriptions.insert(change.characteristic).inserted == true {
            published[change.characteristic]?.push(.subscribed(subscriber))
        }
    }

    /// A link is gone, and with it its subscriptions.
    func endSubscriptions(of state: LinkState) {
        for handle in state.subscriptions {
            let subscriber = Subscriber(connection: state.connection, characteristic: handle)
            published[handle]?.push(.unsubscribed(subscriber))
        }
    }
}

extension GATTPreparedWrites {
    /// The queued writes as values, in their order.
    var parts: [WriteRequest.Part] {
        (0..<count).map { position in
            let value = value(at: position)
            return WriteRequest.Part(handle: handle(at: position), offset: offset(at: position), value: Array(value))
        }
    }
}
