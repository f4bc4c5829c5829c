import BluetoothLE

/// What the agent does as a GATT client.
extension Agent {
    func discover(_ request: Request) async throws -> Reply {
        let connection = try connection(request)
        let database = try await connection.discoverAll()
        databases[number(of: connection)] = database
        let services = database.services.map { service in
            Service(
                uuid: "\(service.uuid)", isPrimary: service.isPrimary, handle: service.startHandle.rawValue,
                end: service.endHandle.rawValue,
                characteristics: database.characteristics(of: service).map { characteristic in
                    Characteristic(
                        uuid: "\(characteristic.uuid)", properties: characteristic.properties.rawValue,
                        declaration: characteristic.declarationHandle.rawValue,
                        handle: characteristic.valueHandle.rawValue,
                        descriptors: database.descriptors(of: characteristic).map {
                            Descriptor(uuid: "\($0.uuid)", handle: $0.handle.rawValue)
                        })
                },
                includes: database.includes(of: service).map(\.startHandle.rawValue))
        }
        return Reply(id: request.id, database: services)
    }

    /// Writes without response `count` values: each begins with its number in four octets, least significant first, and
    /// is as long as `value`, whose octets follow.
    func burst(_ request: Request) async throws -> Reply {
        let connection = try connection(request)
        let characteristic = try await characteristic(request)
        let rest = try value(request)
        let count = request.count ?? 0
        for number in 0..<count {
            let number = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            try await connection.writeWithoutResponse(number + rest.dropFirst(4), to: characteristic)
        }
        return Reply(id: request.id, count: count)
    }

    /// Subscribes; each value is reported as an event `value`, and the end of the subscription as `unsubscribed`.
    func subscribe(_ request: Request) async throws -> Reply {
        let connection = try connection(request)
        let number = number(of: connection)
        let characteristic = try await characteristic(request)
        let values = try await connection.notifications(of: characteristic)
        let handle = characteristic.valueHandle.rawValue
        Task { [output] in
            var end = "unsubscribed"
            do {
                for try await value in values {
                    output.write(Event(event: "value", connection: number, handle: handle, value: text(value)))
                }
            } catch {
                end = "\(error)"
            }
            output.write(Event(event: "unsubscribed", connection: number, handle: handle, reason: end))
        }
        return Reply(id: request.id)
    }

    func characteristic(_ request: Request) async throws -> DiscoveredCharacteristic {
        let handle = try handle(request)
        // What was discovered goes with the connection, and the reason for that is what a case asks about.
        _ = try await present(request)
        guard let database = request.connection.flatMap({ databases[$0] }),
            let found = database.characteristics.first(where: { $0.valueHandle.rawValue == handle })
        else { throw AgentError("no characteristic with the value handle \(handle) was discovered") }
        return found
    }
}
