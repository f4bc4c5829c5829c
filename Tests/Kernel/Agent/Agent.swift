import BluetoothLE

/// The adapter of this process, and the objects identified by number.
actor Agent {
    let output: Output
    private var adapter: Adapter?
    var connections: [Int: Connection] = [:]
    var numbers: [Connection: Int] = [:]
    /// The discovered database of each connection: subscribing needs the complete characteristic.
    var databases: [Int: DiscoveredDatabase] = [:]
    var published: [UInt16: PublishedService] = [:]
    var characteristics: [UInt16: PublishedCharacteristic] = [:]
    /// The values of dynamic characteristics.
    var values: [UInt16: [UInt8]] = [:]
    /// The errors with which accesses to dynamic characteristics are refused.
    var refusals: [UInt16: ATTErrorCode] = [:]
    private var scan: Task<Void, any Error>?
    /// Answers for the person in pairing, until cancelled.
    var pairingAgent: Task<Void, any Error>?
    let questions = Questions()
    /// The requests in progress.
    private var tasks: [Int: Task<Reply, any Error>] = [:]

    init(output: Output) { self.output = output }

    func close() async {
        await adapter?.close()
    }

    func perform(_ request: Request) async throws -> Reply {
        let task = Task { try await self.carryOut(request) }
        tasks[request.id] = task
        defer { tasks[request.id] = nil }
        return try await task.value
    }

    private func carryOut(_ request: Request) async throws -> Reply {
        switch request.call {
        case .cancel:
            guard let task = request.request.flatMap({ tasks[$0] }) else { throw AgentError("no such request") }
            task.cancel()
            return Reply(id: request.id)

        case .open: return try await open(request)
        case .close:
            await adapter?.close()
            return Reply(id: request.id)
        case .information: return try await information(request)
        case .heap: return Reply(id: request.id, count: octetsOfHeapInUse())

        case .firstSighting: return try await firstSighting(request)
        case .scan: return try await scan(request)
        case .stopScan:
            scan?.cancel()
            return Reply(id: request.id)
        case .connect: return try await connect(request)
        case .disconnect:
            try await connection(request).disconnect()
            return Reply(id: request.id)
        case .waitForDisconnection:
            return Reply(id: request.id, reason: "\(try await connection(request).waitForDisconnection())")

        case .discover: return try await discover(request)
        case .read:
            let value = try await connection(request).read(AttributeHandle(try handle(request)))
            return Reply(id: request.id, value: text(value))
        case .write:
            try await connection(request).write(try value(request), to: AttributeHandle(try handle(request)))
            return Reply(id: request.id)
        case .burst: return try await burst(request)
        case .subscribe: return try await subscribe(request)
        case .unsubscribe:
            try await connection(request).unsubscribe(from: try await characteristic(request))
            return Reply(id: request.id)
        case .rssi: return Reply(id: request.id, rssi: try await connection(request).rssi())
        case .mtu: return Reply(id: request.id, mtu: try await present(request).mtu)
        case .parameters:
            return Reply(id: request.id, parameters: Parameters(try await present(request).parameters))
        case .updateParameters:
            guard let wanted = request.parameters?.wanted else { throw AgentError("no parameters") }
            try await connection(request).updateParameters(wanted)
            return Reply(id: request.id)

        case .publish: return try await publish(request)
        case .withdraw:
            try await published[try handle(request)]?.withdraw()
            return Reply(id: request.id)
        case .advertise: return try await advertise(request)
        case .stopAdvertising:
            try opened().stopAdvertising()
            return Reply(id: request.id)
        case .setValue:
            try await publishedCharacteristic(request).setValue(try value(request))
            return Reply(id: request.id)
        case .value: return Reply(id: request.id, value: await publishedCharacteristicValue(request))
        case .notify: return try await send(request) { try await $0.notify($1) }
        case .indicate: return try await send(request) { try await $0.indicate($1) }

        case .beAgent: return try await beAgent(request)
        case .answerPairing: return try await answerPairing(request)
        case .pair: return try await pair(request)
        case .security:
            return Reply(id: request.id, security: Security(try await present(request).security))
        case .bonds:
            return Reply(id: request.id, peers: try await opened().bonds.map { "\($0.address)" }.sorted())
        case .removeBond: return try await removeBond(request)
        }
    }

    // MARK: - The adapter

    private func open(_ request: Request) async throws -> Reply {
        guard let transport = request.transport else { throw AgentError("no transport") }
        var options = AdapterOptions(seed: 1, captureFile: request.capture)
        if let name = request.name { options.host.deviceName = name }
        if let mtu = request.mtu { options.host.preferredMTU = mtu }
        options.bonds = request.bonds.map { FileBondStore(directory: $0) } ?? MemoryBondStore()
        if request.isPrivate == true { options.host.privacy = .resolvable() }
        if request.allowsIdentityAddresses == false { options.host.peerPrivacyMode = .network }
        let adapter = try await Adapter.open(try TransportName(transport), options: options)
        self.adapter = adapter
        let events = adapter.events()
        Task { await self.tell(events) }
        return try await information(request)
    }

    private func information(_ request: Request) async throws -> Reply {
        guard let information = try opened().information else { throw AgentError("the controller is not up") }
        return Reply(
            id: request.id, address: "\(information.address)", aclDataLength: information.aclDataLength,
            aclBufferCount: information.aclBufferCount)
    }

    func opened() throws -> Adapter {
        guard let adapter else { throw AgentError("no adapter is open") }
        return adapter
    }

    private func tell(_ events: EventSequence<AdapterEvent>) async {
        do {
            for try await event in events {
                switch event {
                case .connected(let connection):
                    let role = connection.role == .central ? "central" : "peripheral"
                    output.write(
                        Event(
                            event: "connected", connection: number(of: connection), address: "\(connection.address)",
                            role: role))
                case .disconnected(let connection, let reason):
                    let number = number(of: connection)
                    databases[number] = nil
                    output.write(Event(event: "disconnected", connection: number, reason: "\(reason)"))
                case .resetting(let cause): output.write(Event(event: "resetting", reason: "\(cause)"))
                case .removed(let cause): output.write(Event(event: "removed", reason: "\(cause)"))
                case .ready: output.write(Event(event: "ready"))
                case .securityChanged(let connection, let security):
                    output.write(
                        Event(
                            event: "security", connection: number(of: connection), security: Security(security)))
                case .pairingEnded(let connection, let result): tell(result, connection)
                case .bondRefused(let connection):
                    output.write(Event(event: "bondRefused", connection: number(of: connection)))
                case .servicesChanged(let connection, _): databases[number(of: connection)] = nil
                case .nameChanged: break
                }
            }
        } catch {
            output.write(Event(event: "closed", reason: "\(error)"))
        }
    }

    func number(of connection: Connection) -> Int {
        if let number = numbers[connection] { return number }
        let number = numbers.count + 1
        numbers[connection] = number
        connections[number] = connection
        return number
    }

    // MARK: - Scanning and connecting

    private func filter(_ request: Request) throws -> ScanFilter {
        ScanFilter(
            services: try (request.services ?? []).map(uuid), name: request.name.map { .exact($0) },
            addresses: try request.address.map { [try address($0)] } ?? [])
    }

    private func firstSighting(_ request: Request) async throws -> Reply {
        let adapter = try opened()
        let filter = try filter(request)
        let sighting = try await withTimeout(.seconds(request.timeout ?? 20)) { () async throws(BluetoothError) in
            try await adapter.firstSighting(for: filter)
        }
        return Reply(
            id: request.id, address: "\(sighting.address)", name: sighting.name, rssi: sighting.rssi.map(Int.init),
            services: sighting.serviceUUIDs.map { "\($0)" })
    }

    /// Reports every device as an event `sighting`; answered when the scan is over.
    private func scan(_ request: Request) async throws -> Reply {
        let sightings = try opened().scan(for: try filter(request))
        let scan = Task { [output] in
            for try await sighting in sightings {
                output.write(
                    Event(
                        event: "sighting", address: "\(sighting.address)", name: sighting.name,
                        rssi: sighting.rssi.map(Int.init), data: text(sighting.advertisingData),
                        scanResponse: text(sighting.scanResponseData)))
            }
        }
        self.scan = scan
        try await scan.value
        return Reply(id: request.id)
    }

    private func connect(_ request: Request) async throws -> Reply {
        guard let peer = request.address else { throw AgentError("no address") }
        let connection = try await opened().connect(
            to: try address(peer), timeout: .seconds(request.timeout ?? 20))
        return Reply(id: request.id, connection: number(of: connection), mtu: connection.mtu)
    }

    func address(_ text: String) throws -> DeviceAddress {
        guard let address = DeviceAddress(text) else { throw AgentError("no address: \(text)") }
        return address
    }

    func connection(_ request: Request) throws -> Connection {
        guard let connection = request.connection.flatMap({ connections[$0] })
        else { throw AgentError("no such connection") }
        return connection
    }

    /// The connection of a request, which must not have ended.
    func present(_ request: Request) async throws -> Connection {
        let connection = try connection(request)
        // Every call throws how it ended.
        if !connection.isConnected { _ = try await connection.rssi() }
        return connection
    }

    func handle(_ request: Request) throws -> UInt16 {
        guard let handle = request.handle else { throw AgentError("no handle") }
        return handle
    }

    func value(_ request: Request) throws -> [UInt8] { try octets(request.value ?? "") }
}
