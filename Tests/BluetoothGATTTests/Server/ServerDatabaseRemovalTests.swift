import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT database: removing services")
struct ServerDatabaseRemovalTests {
    /// A service of one to seven attributes, of a few UUIDs only, so that types come, go and are shared.
    func definition(_ random: inout SeededGenerator) -> GATTServiceDefinition {
        let uuid = BluetoothUUID(UInt16.random(in: 0x1800...0x1804, using: &random))
        let characteristics = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            GATTCharacteristicDefinition(
                uuid: .init(UInt16.random(in: 0x2A00...0x2A08, using: &random)), properties: .read,
                value: .constant([UInt8.random(in: 0...9, using: &random)]))
        }
        return GATTServiceDefinition(uuid: uuid, isPrimary: !random.oneIn(4), characteristics: characteristics)
    }

    @Test(
        "a database after removals equals one that never had the removed services",
        arguments: 1...10 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var database = GATTDatabase()
        var services: [(definition: GATTServiceDefinition, handles: ClosedRange<AttributeHandle>)] = []
        for _ in 0..<300 {
            if !services.isEmpty, random.oneIn(2) {
                let gone = services.remove(at: Int.random(in: services.indices, using: &random))
                #expect(try database.removeService(at: gone.handles.lowerBound) == gone.handles)
                #expect(throws: GATTDatabaseError.notFound(gone.handles.lowerBound)) {
                    try database.removeService(at: gone.handles.lowerBound)
                }
            } else {
                let definition = definition(&random)
                // Behind the others, or somewhere between them where there is room.
                let start = random.oneIn(2) ? nil : AttributeHandle(UInt16.random(in: 1...1200, using: &random))
                guard let handles = try? database.add(definition, at: start) else { continue }
                services.append((definition, handles.range))
            }
        }
        var fresh = GATTDatabase()
        for service in services { _ = try fresh.add(service.definition, at: service.handles.lowerBound) }
        #expect(database.count == fresh.count)
        #expect(database.attributes.map(\.handle) == fresh.attributes.map(\.handle))
        #expect(written(database.appendHashInput) == written(fresh.appendHashInput))
        var one = ServerBench(database, mtu: 100), other = ServerBench(fresh, mtu: 100)
        for handle in 0...1300 {
            let handle = AttributeHandle(UInt16(handle)), start = written { $0.append(handle) }
            #expect(database.type(of: handle) == fresh.type(of: handle))
            #expect(database.value(of: handle) == fresh.value(of: handle))
            let requests: [[UInt8]] = [
                [0x04] + start + [0xFF, 0xFF], [0x10] + start + [0xFF, 0xFF, 0x00, 0x28],
                [0x10] + start + [0xFF, 0xFF, 0x01, 0x28], [0x08] + start + [0xFF, 0xFF, 0x03, 0x2A],
                [0x06] + start + [0xFF, 0xFF, 0x00, 0x28, 0x02, 0x18],
            ]
            for request in requests { #expect(one.send(request) == other.send(request)) }
        }
        for service in services { _ = try database.removeService(at: service.handles.lowerBound) }
        #expect(database.count == 0 && database.services.isEmpty && database.primaryServices.isEmpty)
        #expect(database.typeHandles.allSatisfy { $0.isEmpty })
    }

    @Test("removing a service moves no others, and its space is reused", arguments: [100, 4_000])
    func work(count: Int) throws {
        var database = GATTDatabase()
        let characteristic = GATTCharacteristicDefinition(uuid: "2A19", properties: .read, value: .constant([1]))
        let definition = GATTServiceDefinition(uuid: "180F", characteristics: [characteristic, characteristic])
        let services = try (0..<count).map { _ in try database.add(definition) }
        let rows = { (database: GATTDatabase) in
            (1...5 * count).map { database.index(of: AttributeHandle(UInt16($0))) }
        }
        let before = rows(database)
        let gone = services[count / 2]
        _ = try database.removeService(at: gone.declaration)
        let changed = zip(before, rows(database)).filter { $0 != $1 }.count
        #expect(changed == 5)
        _ = try database.add(definition, at: gone.declaration)
        #expect(database.rows.count == 5 * count)
        #expect(database.count == 5 * count)
    }
}
