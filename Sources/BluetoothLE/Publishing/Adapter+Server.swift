import BluetoothATT
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
    ///   - events: where what peers do with its characteristics is told, of `characteristicEvents()`; of each
    ///     characteristic in a sequence of its own where nil.
    /// - Throws: `.invalidDefinition` where the database has no room, or the definition contradicts itself.
    public func publish(
        _ definition: GATTServiceDefinition, at handle: AttributeHandle? = nil,
        events: EventSequence<CharacteristicEvent>? = nil
    ) throws(BluetoothError) -> PublishedService {
        try checkOpen()
        let handles: GATTServiceHandles
        do throws(GATTDatabaseError) {
            handles = try host.addService(definition, handle: handle, at: now)
        } catch {
            throw .invalidDefinition("\(error)")
        }
        let isShared = events != nil
        let characteristics = zip(definition.characteristics, handles.characteristics).map { definition, handles in
            let events = events ?? characteristicEvents()
            let queue = events.subscription.queue
            for handle in [handles.value] + handles.descriptors {
                published[handle] = EventReceiver(queue: queue, isShared: isShared)
            }
            return PublishedCharacteristic(
                adapter: self, uuid: definition.uuid, handle: handles.value, events: events)
        }
        return PublishedService(
            adapter: self, uuid: definition.uuid, handles: handles, characteristics: characteristics)
    }

    /// A sequence for what peers do with the characteristics of several services, in the order in which they do it; to be
    /// given to `publish`. It does not end when one of the services is withdrawn. As with those of one characteristic,
    /// up to 1024 events are kept, as long as there is a copy of the sequence.
    public nonisolated func characteristicEvents() -> EventSequence<CharacteristicEvent> {
        EventSequence(AsyncQueue(capacity: 1024, overflow: .dropNewest)) {}
    }

    func withdraw(_ handles: GATTServiceHandles) throws(BluetoothError) {
        try checkOpen()
        do throws(GATTDatabaseError) {
            let range = try host.removeService(handles.declaration, at: now)
            let gone = published.keys.filter(range.contains)
            for handle in gone {
                guard let receiver = published.removeValue(forKey: handle), !receiver.isShared else { continue }
                receiver.queue?.finish()
            }
            // Another service may come to stand there, to which nobody has subscribed yet.
            for link in links.keys { links[link]?.subscriptions.subtract(gone) }
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
        connections.filter { links[$0.link]?.subscriptions.contains(handle) == true }
            .map { Subscriber(connection: $0, characteristic: handle) }
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
        try checkOpen(link)
        let number = makeNumber()
        do throws(BluetoothError) {
            if links[link]?.indications.enter(number) == false { try await wait(for: .turn(link, number)) }
            while try await !indicate(value, of: handle, on: link, number) {}
        } catch {
            if let next = links[link]?.indications.leave(number) { resume(.turn(link, next), with: .success(.done)) }
            throw error
        }
    }

    /// Sends an indication, the turn for which is there, and waits for its confirmation. False where it was another one
    /// that was confirmed.
    private func indicate(
        _ value: [UInt8], of handle: AttributeHandle, on link: LinkIdentifier, _ number: Int
    ) async throws(BluetoothError) -> Bool {
        try checkOpen(link)
        let isSent: Bool
        do throws(HostError) {
            isSent = try host.indicate(handle, value: value.span, on: link, at: now)
        } catch {
            throw BluetoothError(error)
        }
        if isSent { links[link]?.indications.sent() }
        try await wait(for: .confirmation(link, number))
        return isSent
    }

    func indicationConfirmed(_ link: LinkIdentifier) {
        guard let number = links[link]?.indications.current else { return }
        let next = links[link]?.indications.confirmed()
        resume(.confirmation(link, number), with: .success(.done))
        if let next { resume(.turn(link, next), with: .success(.done)) }
    }

    // MARK: - Answering

    func answer(_ request: ServerRequest, _ value: [UInt8]) throws(BluetoothError) {
        try checkOpen(request.link)
        do throws(HostError) { try host.answer(request, value: value.span, at: now) } catch {
            throw BluetoothError(error)
        }
    }

    func accept(_ request: ServerRequest) throws(BluetoothError) {
        try checkOpen(request.link)
        do throws(HostError) { try host.accept(request) } catch { throw BluetoothError(error) }
    }

    func refuse(_ request: ServerRequest, _ code: ATTErrorCode) throws(BluetoothError) {
        try checkOpen(request.link)
        do throws(HostError) { try host.refuse(request, with: code) } catch { throw BluetoothError(error) }
    }

    // MARK: - What peers do

    func valueWritten(_ link: LinkIdentifier, _ handle: AttributeHandle, _ value: [UInt8]) {
        guard let connection = connection(of: link) else { return }
        published[handle]?.queue?.push(.written(value, to: handle, by: connection))
    }

    func readRequested(_ request: ServerRequest, _ handle: AttributeHandle, _ offset: Int) {
        guard let connection = connection(of: request.link) else { return }
        let event = ReadRequest(connection: connection, request: request, handle: handle, offset: offset)
        ask(.readRequested(event), about: handle, request)
    }

    func writeRequested(_ request: ServerRequest, _ parts: [WriteRequest.Part]) {
        guard let connection = connection(of: request.link), let first = parts.first else { return }
        let event = WriteRequest(connection: connection, request: request, parts: parts)
        // A queue of writes may begin with one for a descriptor of the server's own.
        let handle = parts.first { published[$0.handle] != nil }?.handle ?? first.handle
        ask(.writeRequested(event), about: handle, request)
    }

    /// Puts a request before the application, and refuses it where nobody is there to answer.
    private func ask(_ event: CharacteristicEvent, about handle: AttributeHandle, _ request: ServerRequest) {
        if published[handle]?.queue?.push(event) == true { return }
        try? host.refuse(request, with: .unlikelyError)
    }

    func subscriptionChanged(_ link: LinkIdentifier, _ change: GATTSubscriptionChange) {
        guard let connection = connection(of: link) else { return }
        let handle = change.characteristic
        if change.new.isEmpty {
            guard links[link]?.subscriptions.remove(handle) != nil else { return }
            unsubscribed(connection, from: handle)
        } else if links[link]?.subscriptions.insert(handle).inserted == true {
            published[handle]?.queue?.push(.subscribed(Subscriber(connection: connection, characteristic: handle)))
        }
    }

    func unsubscribed(_ connection: Connection, from handle: AttributeHandle) {
        published[handle]?.queue?.push(.unsubscribed(Subscriber(connection: connection, characteristic: handle)))
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
