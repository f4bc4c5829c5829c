import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// What a `Connection` asks of its adapter.
extension Adapter {
    func information(of link: LinkIdentifier) throws(BluetoothError) -> LinkInformation {
        try checkOpen(link)
        guard let information = host.information(of: link) else { throw .disconnected(.unknown) }
        return information
    }

    /// Carries out one GATT operation.
    func perform(
        _ operation: GATTClientOperation, on link: LinkIdentifier
    ) async throws(BluetoothError) -> GATTClientResult {
        try checkOpen(link)
        let identifier: GATTClient.OperationID
        do throws(HostError) {
            identifier = try host.start(operation, on: link, at: now)
        } catch {
            throw BluetoothError(error)
        }
        let answer = try await wait(for: .operation(link, identifier)) { adapter in
            adapter.host.cancel(identifier, on: link)
        }
        guard case .gatt(let result) = answer else { throw .host(.cancelled) }
        return result
    }

    func writeWithoutResponse(
        _ value: [UInt8], to handle: AttributeHandle, on link: LinkIdentifier
    ) async throws(BluetoothError) {
        try await send(on: link) { host throws(HostError) in
            try host.writeWithoutResponse(value.span, to: handle, on: link)
        }
    }

    /// Sends something that may be refused for want of room, as soon as there is room. Those who wait are served in no
    /// particular order; a caller that cares sends one value after the other.
    func send(
        on link: LinkIdentifier, _ body: (inout Host) throws(HostError) -> Bool
    ) async throws(BluetoothError) {
        while true {
            try checkOpen(link)
            do throws(HostError) {
                if try body(&host) { return }
            } catch {
                throw BluetoothError(error)
            }
            try await wait(for: .room(link, makeNumber()))
        }
    }

    func readRSSI(of link: LinkIdentifier) async throws(BluetoothError) -> Int? {
        try checkOpen(link)
        let request: RequestIdentifier
        do throws(HostError) { request = try host.readRSSI(of: link, at: now) } catch { throw BluetoothError(error) }
        guard case .rssi(let rssi) = try await wait(for: .request(link, request)) else { throw .host(.cancelled) }
        // 127 dBm stands for "not available".
        return rssi == .max ? nil : Int(rssi)
    }

    func updateParameters(
        _ parameters: ConnectionParameters, of link: LinkIdentifier
    ) async throws(BluetoothError) {
        try checkOpen(link)
        let request: RequestIdentifier
        do throws(HostError) {
            request = try host.updateParameters(parameters, of: link, at: now)
        } catch {
            throw BluetoothError(error)
        }
        try await wait(for: .request(link, request))
    }

    // MARK: - Subscriptions

    func subscribe(
        to characteristic: DiscoveredCharacteristic, on connection: Connection
    ) async throws(BluetoothError) -> EventSequence<[UInt8]> {
        let link = connection.link, handle = characteristic.valueHandle
        let configuration = characteristic.properties.preferredConfiguration
        guard !configuration.isEmpty else { throw .notSupported("the characteristic neither notifies nor indicates") }
        let descriptor = try await configurationDescriptor(of: characteristic, on: connection)

        let number = makeNumber()
        let queue = AsyncQueue<[UInt8]>(capacity: 4096, overflow: .fail)
        links[link]?.listeners[handle, default: [:]][number] = queue
        do throws(BluetoothError) {
            // Written anew for every listener: that costs a round trip, and is right whatever happened before.
            _ = try await perform(.configure(descriptor: descriptor, configuration), on: link)
        } catch {
            endListening(number, to: handle, on: link)
            throw error
        }
        return EventSequence(queue) { [weak self] in
            Task { await self?.endListening(number, to: handle, on: link) }
        }
    }

    func unsubscribe(
        from characteristic: DiscoveredCharacteristic, on link: LinkIdentifier
    ) async throws(BluetoothError) {
        try checkOpen(link)
        guard let descriptor = links[link]?.configurations[characteristic.valueHandle] else { return }
        let handle = characteristic.valueHandle
        // What is on its way still reaches them; those who come meanwhile subscribe anew.
        let numbers = links[link]?.listeners[handle].map { Array($0.keys) } ?? []
        defer {
            for number in numbers { links[link]?.listeners[handle]?.removeValue(forKey: number)?.finish() }
            if links[link]?.listeners[handle]?.isEmpty == true { links[link]?.listeners[handle] = nil }
        }
        _ = try await perform(.configure(descriptor: descriptor, []), on: link)
    }

    /// A sequence is gone. With the last one of a characteristic goes the subscription; nobody waits for that.
    private func endListening(_ number: Int, to handle: AttributeHandle, on link: LinkIdentifier) {
        guard links[link]?.listeners[handle]?.removeValue(forKey: number) != nil,
            links[link]?.listeners[handle]?.isEmpty == true
        else { return }
        links[link]?.listeners[handle] = nil
        guard let descriptor = links[link]?.configurations[handle] else { return }
        _ = try? host.start(.configure(descriptor: descriptor, []), on: link, at: now)
    }

    private func configurationDescriptor(
        of characteristic: DiscoveredCharacteristic, on connection: Connection
    ) async throws(BluetoothError) -> AttributeHandle {
        if let known = links[connection.link]?.configurations[characteristic.valueHandle] { return known }
        let descriptors = try await connection.discoverDescriptors(of: characteristic)
        guard let descriptor = descriptors.first(where: { $0.uuid == .clientCharacteristicConfiguration })
        else { throw .notFound(.clientCharacteristicConfiguration) }
        links[connection.link]?.configurations[characteristic.valueHandle] = descriptor.handle
        return descriptor.handle
    }

    func valueReceived(_ link: LinkIdentifier, _ handle: AttributeHandle, _ value: [UInt8]) {
        if let queues = links[link]?.listeners[handle] {
            for queue in queues.values { queue.push(value) }
        }
        links[link]?.sessions.tell(.value(value, of: handle))
    }
}

extension GATTCharacteristicProperties {
    fileprivate var preferredConfiguration: GATTClientConfiguration {
        if contains(.notify) { return .notifications }
        return contains(.indicate) ? .indications : []
    }
}
