import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: attribute cache")
struct AttributeCacheTests {
    private static let steps: [GATTClientOperation] = [
        .discoverPrimaryServices(),
        .discoverIncludedServices(in: 1...5), .discoverIncludedServices(in: 6...9),
        .discoverIncludedServices(in: 0x20...0x40), .discoverIncludedServices(in: 0x80...0x83),
        .discoverIncludedServices(in: 0x90...0x92),
        .discoverCharacteristics(in: 1...5), .discoverCharacteristics(in: 6...9),
        .discoverCharacteristics(in: 6...9, uuid: .serviceChanged), .discoverCharacteristics(in: 0x20...0x40),
        .discoverCharacteristics(in: 0x80...0x83), .discoverCharacteristics(in: 0x90...0x92),
    ]

    /// What the server says, as requests find it out.
    private func discover(_ operation: GATTClientOperation) throws -> GATTClientResult {
        var server = ClientDatabaseDiscoveryTests.assorted
        guard case .completed(_, let result) = try run(operation, on: &server, mtu: 517) else {
            throw GATTClientError.cancelled
        }
        return result
    }

    private func descriptorSteps(_ result: GATTClientResult) -> [GATTClientOperation] {
        guard case .database(let database) = result else { return [] }
        return database.characteristics.filter { $0.valueHandle < $0.endHandle }
            .map { .discoverDescriptors(in: AttributeHandle($0.valueHandle.rawValue + 1)...$0.endHandle) }
    }

    @Test("Whether filled at once or step by step, the cache answers each discovery as the server does")
    func answers() throws {
        let whole = try discover(.discoverAll(includes: true))
        let steps = Self.steps + descriptorSteps(whole)
        #expect(steps.count == 15)
        var atOnce = AttributeCache(), stepped = AttributeCache()
        atOnce.learn(whole, of: .discoverAll(includes: true))
        for step in steps {
            #expect(stepped.result(of: .discoverAll(includes: true)) == nil)
            let result = try discover(step)
            stepped.learn(result, of: step)
            #expect(stepped.result(of: step) == result)
            #expect(atOnce.result(of: step) == result)
        }
        #expect(stepped.result(of: .discoverAll(includes: true)) == whole)
        #expect(stepped == atOnce)
        let attribute = DiscoveredService(uuid: .genericAttribute, startHandle: 6, endHandle: 9)
        #expect(stepped.result(of: .discoverPrimaryServices(uuid: .genericAttribute)) == .services([attribute]))
        #expect(try stepped.result(of: .discoverAll(includes: false)) == discover(.discoverAll(includes: false)))
    }

    @Test(
        "The cache answers neither discoveries that were not made nor other operations",
        arguments: [
            .discoverSecondaryServices, .discoverCharacteristics(in: 1...0xFFFF), .discoverDescriptors(in: 1...0xFFFF),
            .discoverDescriptors(in: 4...4), .read(3), .readByUUID(.databaseHash), .discoverIncludedServices(in: 1...4),
        ] as [GATTClientOperation])
    func unanswered(operation: GATTClientOperation) throws {
        var cache = AttributeCache()
        #expect(cache.result(of: .discoverPrimaryServices()) == nil)
        cache.learn(try discover(.discoverAll(includes: true)), of: .discoverAll(includes: true))
        #expect(cache.result(of: operation) == nil)
    }

    @Test("Discovering different services invalidates everything cached about the old ones")
    func otherServices() throws {
        var cache = AttributeCache()
        cache.learn(try discover(.discoverAll(includes: true)), of: .discoverAll(includes: true))
        let services = try discover(.discoverPrimaryServices())
        cache.learn(services, of: .discoverPrimaryServices())
        #expect(cache.result(of: .discoverCharacteristics(in: 1...5)) != nil)
        guard case .services(let found) = services else { return }
        cache.learn(.services(Array(found.dropLast())), of: .discoverPrimaryServices())
        #expect(cache.result(of: .discoverCharacteristics(in: 1...5)) == nil)
    }

    @Test("The cache holds at most 8192 octets")
    func bound() {
        func services(_ count: Int) -> GATTClientResult {
            .services(
                (0..<count).map { index in
                    let handle = AttributeHandle(UInt16(index + 1))
                    return DiscoveredService(
                        uuid: BluetoothUUID(high: 1, low: UInt64(index)), startHandle: handle, endHandle: handle)
                })
        }
        // 9 octets, 21 for each, and 7 for one with a short UUID.
        var cache = AttributeCache()
        cache.learn(services(390), of: .discoverPrimaryServices())
        #expect(cache.isEmpty)
        cache.learn(services(389), of: .discoverPrimaryServices())
        #expect(!cache.isEmpty)
        var writer = ByteWriter()
        cache.encode(into: &writer)
        #expect(writer.count == 8178)
        guard case .services(let most) = services(389) else { return }
        let short = [390, 391].map {
            DiscoveredService(uuid: "180D", startHandle: AttributeHandle($0), endHandle: AttributeHandle($0))
        }
        var full = AttributeCache()
        full.learn(.services(most + short), of: .discoverPrimaryServices())
        #expect(full.result(of: .discoverPrimaryServices()) == .services(most + short))
        #expect(throws: DecodingFailure.self) {
            try AttributeCache(decoding: (writer.bytes + [UInt8](repeating: 0, count: 15)).span)
        }
    }

    @Test("A stored cache is restored, and a damaged one is rejected")
    func coding() throws {
        var cache = AttributeCache()
        cache.learn(
            .services([DiscoveredService(uuid: "180D", startHandle: 1, endHandle: 4)]), of: .discoverPrimaryServices())
        cache.learn(
            .characteristics([
                DiscoveredCharacteristic(
                    uuid: "2A37", declarationHandle: 2, valueHandle: 3, endHandle: 4, properties: .notify)
            ]), of: .discoverCharacteristics(in: 1...4))
        cache.learn(
            .descriptors([DiscoveredDescriptor(uuid: "2902", handle: 4)]), of: .discoverDescriptors(in: 4...4))
        var writer = ByteWriter()
        cache.encode(into: &writer)
        let stored = bytes(
            "01 01 00 00 00 01 00 01 00 01 00 04 00 06 0D 18 02 00 03 00 04 00 10 10 37 2A 04 00 00 02 29")
        #expect(writer.bytes == stored)
        #expect(try AttributeCache(decoding: stored.span) == cache)
        for count in stored.indices {
            #expect(throws: DecodingFailure.self) { try AttributeCache(decoding: Array(stored[..<count]).span) }
        }
        let damage: [(Int, UInt8)] = [
            (0, 2), (0, 0), (1, 2), (1, 0), (9, 0), (11, 0), (13, 0x26), (18, 2), (20, 2), (26, 0),
        ]
        for (index, octet) in damage {
            var damaged = stored
            damaged[index] = octet
            #expect(throws: DecodingFailure.self) { try AttributeCache(decoding: damaged.span) }
        }
        // All of a large one, too.
        var large = AttributeCache()
        large.learn(try discover(.discoverAll(includes: true)), of: .discoverAll(includes: true))
        var again = ByteWriter()
        large.encode(into: &again)
        #expect(try AttributeCache(decoding: again.bytes.span) == large)
    }
}
