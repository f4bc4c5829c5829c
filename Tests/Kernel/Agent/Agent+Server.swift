import BluetoothLE

/// What the agent does as a GATT server.
extension Agent {
    func publish(_ request: Request) async throws -> Reply {
        guard var service = request.service else { throw AgentError("no service") }
        let definition = GATTServiceDefinition(
            uuid: try uuid(service.uuid), isPrimary: service.isPrimary ?? true,
            includes: (service.includes ?? []).map { AttributeHandle($0) },
            characteristics: try service.characteristics.map(definition))
        let result = try await opened().publish(definition)
        service.handle = result.handles.declaration.rawValue
        service.end = result.handles.end.rawValue
        for (index, handles) in result.handles.characteristics.enumerated() {
            service.characteristics[index].declaration = handles.declaration.rawValue
            service.characteristics[index].handle = handles.value.rawValue
            service.characteristics[index].configuration = handles.clientConfiguration?.rawValue
            for (number, handle) in handles.descriptors.enumerated() {
                service.characteristics[index].descriptors?[number].handle = handle.rawValue
            }
            refusals[handles.value.rawValue] = service.characteristics[index].refusal.map(ATTErrorCode.init)
            values[handles.value.rawValue] = try octets(service.characteristics[index].value ?? "")
        }
        published[result.handles.declaration.rawValue] = result
        for characteristic in result.characteristics {
            characteristics[characteristic.handle.rawValue] = characteristic
            Task { await self.serve(characteristic) }
        }
        return Reply(id: request.id, service: service)
    }

    private func definition(_ characteristic: Characteristic) throws -> GATTCharacteristicDefinition {
        let value = try octets(characteristic.value ?? "")
        let properties = GATTCharacteristicProperties(rawValue: characteristic.properties)
        var permissions = GATTPermissions(openFor: properties)
        if characteristic.needsEncryption == true || characteristic.needsAuthentication == true {
            let needed: GATTPermissions.Requirement =
                characteristic.needsAuthentication == true ? .authenticated : .encrypted
            permissions.read = permissions.read == .open ? needed : permissions.read
            permissions.write = permissions.write == .open ? needed : permissions.write
        }
        return GATTCharacteristicDefinition(
            uuid: try uuid(characteristic.uuid),
            properties: properties,
            extendedProperties: GATTExtendedProperties(rawValue: characteristic.extendedProperties ?? 0),
            permissions: permissions,
            value: characteristic.isDynamic == true ? .dynamic : .variableLength(value),
            descriptors: try (characteristic.descriptors ?? []).map {
                GATTDescriptorDefinition(
                    uuid: try uuid($0.uuid),
                    permissions: .init(read: .open, write: $0.isWritable == true ? .open : .notAllowed),
                    value: .variableLength(try octets($0.value ?? "")))
            })
    }

    /// Reports and answers the requests of peers for a characteristic, until it is withdrawn.
    private func serve(_ characteristic: PublishedCharacteristic) async {
        let handle = characteristic.handle.rawValue
        do {
            for try await event in characteristic.events {
                switch event {
                case .subscribed(let subscriber): tell("subscribed", subscriber.connection, handle)
                case .subscriptionRestored(let subscriber): tell("subscribed", subscriber.connection, handle)
                case .subscriptionChanged(let subscriber, _): tell("subscribed", subscriber.connection, handle)
                case .unsubscribed(let subscriber): tell("unsubscribed", subscriber.connection, handle)
                case .dataLost(let connection): tell("lost", connection, handle)
                case .written(let value, _, let connection): tell("written", connection, handle, value)
                case .readRequested(let request):
                    if let refusal = refusals[handle] {
                        try? await request.refuse(refusal)
                    } else {
                        try? await request.respond(values[handle] ?? [])
                    }
                case .writeRequested(let request):
                    if let refusal = refusals[handle] {
                        try? await request.refuse(refusal)
                        continue
                    }
                    for part in request.parts {
                        let start = min(part.offset, values[handle]?.count ?? 0)
                        values[handle] = Array((values[handle] ?? []).prefix(start)) + part.value
                    }
                    try? await request.accept()
                    tell("written", request.connection, handle, values[handle] ?? [])
                case .authorizationRequested(let request): try? await request.refuse()
                }
            }
        } catch {
            output.write(Event(event: "withdrawn", handle: handle, reason: "\(error)"))
        }
    }

    private func tell(_ event: String, _ connection: Connection, _ handle: UInt16, _ value: [UInt8]? = nil) {
        output.write(
            Event(
                event: event, connection: number(of: connection), address: "\(connection.address)", handle: handle,
                value: value.map(text)))
    }

    func advertise(_ request: Request) async throws -> Reply {
        var advertisement = AdvertisementData()
        if let name = request.name { advertisement.localName = .complete(name) }
        advertisement.serviceUUIDs = try (request.services ?? []).map(uuid)
        try await opened().advertise(advertisement, isConnectable: request.isConnectable ?? true)
        return Reply(id: request.id)
    }

    func publishedCharacteristic(_ request: Request) throws -> PublishedCharacteristic {
        guard let characteristic = characteristics[try handle(request)]
        else { throw AgentError("no such characteristic is published") }
        return characteristic
    }

    func publishedCharacteristicValue(_ request: Request) async -> String? {
        guard let characteristic = try? publishedCharacteristic(request) else { return nil }
        return (await characteristic.value ?? values[characteristic.handle.rawValue]).map(text)
    }

    /// Sends a value, `count` times, to all subscribers. If it is sent more than once its number is appended, in four
    /// octets, least significant first.
    func send(
        _ request: Request, _ send: (Subscriber, [UInt8]) async throws -> Void
    ) async throws -> Reply {
        let value = try value(request)
        let subscribers = (try publishedCharacteristic(request)).subscribers
        for number in 0..<(request.count ?? 1) {
            let suffix = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            for subscriber in subscribers { try await send(subscriber, request.count == nil ? value : value + suffix) }
        }
        return Reply(id: request.id, count: subscribers.count)
    }
}
