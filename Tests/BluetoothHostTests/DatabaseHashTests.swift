import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("The Database Hash, and clients that rely on it (Vol 3, Part G, 2.5.2.1 and 7.3)")
struct DatabaseHashTests {
    private static let definition = GATTServiceDefinition(
        uuid: "180F",
        characteristics: [GATTCharacteristicDefinition(uuid: "2A19", properties: .read, value: .constant([100]))])

    /// A central connected to a peripheral that has ciphers, as those of every adapter.
    private func connected(_ world: inout HostWorld) throws -> HostWorld.Pair {
        let peripheral = world.start(host: {
            $0.security = SecurityConfiguration(crypto: LibraryToolbox(), resolvingKey: 1)
        })
        let central = world.start()
        let pair = world.connect(central, to: peripheral)
        return try #require(pair)
    }

    private func perform(
        _ operation: GATTClientOperation, _ world: inout HostWorld, _ pair: HostWorld.Pair
    ) throws -> Result<GATTClientResult, GATTClientError> {
        _ = try world.hosts[pair.central].start(operation, on: pair.centralLink, at: world.now)
        let ended = world.next(pair.central) { seen -> Result<GATTClientResult, GATTClientError>? in
            switch seen.event {
            case .client(_, .operationEnded(.completed(_, let result))): .success(result)
            case .client(_, .operationEnded(.failed(_, let error))): .failure(error)
            default: nil
            }
        }
        return try #require(ended)
    }

    private struct Unexpected: Error { var result: Result<GATTClientResult, GATTClientError> }

    private func hash(_ world: inout HostWorld, _ pair: HostWorld.Pair) throws -> UInt128 {
        let result = try perform(.readByUUID(.databaseHash), &world, pair)
        guard case .success(.values(let values)) = result, let value = values.first?.value, values.count == 1 else {
            throw Unexpected(result: result)
        }
        return value.reversed().reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// The hash of what the client discovers, by the specification's own words: AES-CMAC with a key of zeros over the
    /// declarations, and over the handles and types of some descriptors.
    private func discoveredHash(_ world: inout HostWorld, _ pair: HostWorld.Pair) throws -> UInt128 {
        let result = try perform(.discoverAll(includes: true), &world, pair)
        guard case .success(.database(let database)) = result else { throw Unexpected(result: result) }
        var attributes: [(handle: AttributeHandle, input: [UInt8])] = []
        for service in database.services {
            let input = written {
                $0.append(service.startHandle)
                $0.append(service.isPrimary ? BluetoothUUID.primaryService : .secondaryService)
                $0.append(service.uuid)
            }
            attributes.append((service.startHandle, input))
        }
        // No service of these hosts includes another one.
        #expect(database.includes.isEmpty)
        for characteristic in database.characteristics {
            let input = written {
                $0.append(characteristic.declarationHandle)
                $0.append(BluetoothUUID.characteristic)
                $0.append(characteristic.properties.rawValue)
                $0.append(characteristic.valueHandle)
                $0.append(characteristic.uuid)
            }
            attributes.append((characteristic.declarationHandle, input))
        }
        for descriptor in database.descriptors {
            #expect(descriptor.uuid == .clientCharacteristicConfiguration)
            let input = written {
                $0.append(descriptor.handle)
                $0.append(descriptor.uuid)
            }
            attributes.append((descriptor.handle, input))
        }
        let message = attributes.sorted { $0.handle < $1.handle }.flatMap(\.input)
        return LibraryToolbox().authenticationCode(key: 0, message: message)
    }

    @Test("the hash matches the database that a client discovers, before and after a change (GATT/SR/GAS/BV-02)")
    func hash() throws {
        var world = HostWorld()
        let pair = try connected(&world)
        let first = try hash(&world, pair)
        #expect(try first == discoveredHash(&world, pair))
        let handles = try world.hosts[pair.peripheral].addService(Self.definition, at: world.now)
        let second = try hash(&world, pair)
        #expect(try second == discoveredHash(&world, pair))
        #expect(second != first)
        try world.hosts[pair.peripheral].removeService(handles.declaration, at: world.now)
        #expect(try hash(&world, pair) == first)
    }

    @Test("the specification's example has the expected hash (Vol 3, Part G, Appendix B)")
    func example() {
        let input = bytes(
            """
            01 00 00 28 00 18 02 00 03 28 0A 03 00 00 2A 04 00 03 28 02 05 00 01 2A \
            06 00 00 28 01 18 07 00 03 28 20 08 00 05 2A 09 00 02 29 \
            0A 00 03 28 0A 0B 00 29 2B 0C 00 03 28 02 0D 00 2A 2B \
            0E 00 00 28 08 18 0F 00 02 28 14 00 16 00 0F 18 10 00 03 28 A2 11 00 18 2A \
            12 00 02 29 13 00 00 29 00 00 14 00 01 28 0F 18 15 00 03 28 02 16 00 19 2A
            """)
        let hash: UInt128 = 0xF1CA_2D48_ECF5_8BAC_8A88_30BB_B9FB_A990
        #expect(LibraryToolbox().authenticationCode(key: 0, message: input) == hash)
    }

    @Test("a client that supports robust caching gets Database Out Of Sync once after a change (GATT/SR/GAS/BV-05)")
    func outOfSync() throws {
        var world = HostWorld()
        let pair = try connected(&world)
        let features = try perform(
            .discoverCharacteristics(in: 0x0001...0xFFFF, uuid: .clientSupportedFeatures), &world, pair)
        guard case .success(.characteristics(let found)) = features, let handle = found.first?.valueHandle else {
            throw CancellationError()
        }
        let written = try perform(.write(handle, [0x01]), &world, pair)
        #expect(written == .success(.written))
        let handles = try world.hosts[pair.peripheral].addService(Self.definition, at: world.now)
        let level = try #require(handles.characteristics.first?.value)
        let refusal = ATTError(.databaseOutOfSync, for: .readRequest, at: level)
        #expect(try perform(.read(level), &world, pair) == .failure(.att(refusal)))
        #expect(try perform(.read(level), &world, pair) == .success(.value([100])))
    }

    @Test("a client that confirms Service Changed is change-aware (GATT/SR/GAS/BV-07)")
    func confirmed() throws {
        var world = HostWorld()
        let pair = try connected(&world)
        let features = try perform(.discoverAll(includes: false), &world, pair)
        guard case .success(.database(let database)) = features,
            let robust = database.characteristics.first(where: { $0.uuid == .clientSupportedFeatures }),
            let changed = database.characteristics.first(where: { $0.uuid == .serviceChanged }),
            let descriptor = database.descriptors(of: changed).first
        else { throw CancellationError() }
        _ = try perform(.write(robust.valueHandle, [0x01]), &world, pair)
        _ = try perform(.configure(descriptor: descriptor.handle, .indications), &world, pair)
        let handles = try world.hosts[pair.peripheral].addService(Self.definition, at: world.now)
        let level = try #require(handles.characteristics.first?.value)
        // The indication is on its way, and is confirmed before the next request arrives.
        world.run(for: .seconds(1))
        #expect(try perform(.read(level), &world, pair) == .success(.value([100])))
    }
}
