import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT database")
struct ServerDatabaseTests {
    /// A service of `count` attributes.
    func service(_ uuid: UInt16, count: Int = 1) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: .init(uuid),
            characteristics: (0..<(count - 1) / 2).map { _ in
                .init(uuid: .init(0x2A00), properties: .read, value: .constant([]))
            })
    }

    @Test("Adding a service returns its handles and creates its attributes")
    func handlesOfEverythingAreReturned() throws {
        var database = GATTDatabase()
        let included = try database.add(service(0x180A), at: 0x0010)
        let handles = try database.add(
            .init(
                uuid: .init(0x180D), includes: [included.declaration],
                characteristics: [
                    .init(
                        uuid: .init(0x2A37), properties: .notify, extendedProperties: .reliableWrite,
                        descriptors: [.userDescription("a"), .userDescription("b")]),
                    .init(uuid: .init(0x2A38), properties: .read),
                ]))
        #expect(
            handles
                == GATTServiceHandles(
                    declaration: 0x0011, end: 0x001A, includes: [0x0012],
                    characteristics: [
                        .init(
                            declaration: 0x0013, value: 0x0014, clientConfiguration: 0x0015,
                            descriptors: [0x0017, 0x0018]),
                        .init(declaration: 0x0019, value: 0x001A, clientConfiguration: nil, descriptors: []),
                    ]))
        #expect(database.value(of: 0x0011) == bytes("0D 18"))
        #expect(database.value(of: 0x0012) == bytes("10 00 10 00 0A 18"))
        #expect(database.value(of: 0x0013) == bytes("90 14 00 37 2A"))
        #expect(database.value(of: 0x0014) == nil)
        #expect(database.type(of: 0x0015) == .clientCharacteristicConfiguration)
        #expect(database.type(of: 0x0016) == .characteristicExtendedProperties)
        #expect(database.value(of: 0x0016) == bytes("01 00"))
        #expect(database.value(of: 0x0019) == bytes("02 1A 00 38 2A"))
    }

    @Test("New services follow the last one, and fill gaps once the end has no room")
    func servicesGoBehindTheOthersUntilThereIsNoRoomAndThenIntoAGap() throws {
        var database = GATTDatabase()
        #expect(try database.add(service(1, count: 3)).range == 0x0001...0x0003)
        #expect(try database.add(service(2, count: 3), at: 0x0006).range == 0x0006...0x0008)
        #expect(try database.add(service(3, count: 3), at: 0xFFF0).range == 0xFFF0...0xFFF2)
        #expect(try database.add(service(4, count: 11)).range == 0xFFF3...0xFFFD)
        #expect(try database.add(service(5, count: 3)).range == 0x0009...0x000B)
        #expect(try database.add(service(6)).range == 0xFFFE...0xFFFE)
        #expect(try database.add(service(7)).range == 0xFFFF...0xFFFF)
        #expect(try database.add(service(8)).range == 0x0004...0x0004)
        #expect(try database.add(service(9)).range == 0x0005...0x0005)
        #expect(database.attributes.map(\.handle) == database.attributes.map(\.handle).sorted())
    }

    @Test("A4: a service may end at 0xFFFF, but not beyond")
    func lastHandle() throws {
        var database = GATTDatabase()
        #expect(throws: GATTDatabaseError.noRoom(count: 3)) { try database.add(service(1, count: 3), at: 0xFFFE) }
        #expect(database.count == 0)
        #expect(try database.add(service(1, count: 3), at: 0xFFFD).end == 0xFFFF)
        #expect(database.type(of: 0xFFFF) == .init(0x2A00))
    }

    @Test(
        "a service cannot be added at a handle in use",
        arguments: [(0x000F, 0x0010), (0x0010, 0x0010), (0x0011, 0x0011), (0x0012, 0x0012)]
            as [(AttributeHandle, AttributeHandle)])
    func taken(handle: AttributeHandle, clash: AttributeHandle) throws {
        var database = GATTDatabase()
        _ = try database.add(service(1, count: 3), at: 0x0010)
        #expect(throws: GATTDatabaseError.handleInUse(clash)) { try database.add(service(2, count: 3), at: handle) }
        #expect(database.count == 3)
    }

    @Test("Definitions with handle 0, an unknown include or a value longer than 512 octets are rejected")
    func definitionsThatCannotBeAreRefused() throws {
        var database = GATTDatabase()
        #expect(throws: GATTDatabaseError.invalidHandle) { try database.add(service(1), at: 0) }
        #expect(throws: GATTDatabaseError.notFound(9)) {
            try database.add(.init(uuid: .init(1), includes: [9]))
        }
        for value: GATTAttributeValue in [
            .constant(.init(repeating: 0, count: 513)), .fixedLength(.init(repeating: 0, count: 513)),
            .variableLength([], maximum: 513),
        ] {
            #expect(throws: GATTDatabaseError.valueTooLong(maximum: 512)) {
                try database.add(
                    .init(
                        uuid: .init(1), characteristics: [.init(uuid: .init(2), properties: .read, value: value)]))
            }
        }
        #expect(database.count == 0)
    }

    @Test("Removing services leaves the others unchanged, but an included service cannot be removed alone")
    func aRemovedServiceLeavesTheOthersAsTheyWere() throws {
        var database = GATTDatabase.example()
        #expect(throws: GATTDatabaseError.notFound(0x0007)) { try database.removeService(at: 0x0007) }
        #expect(throws: GATTDatabaseError.included(0x0006, by: 0x000F)) { try database.removeService(at: 0x0006) }
        #expect(try database.removeServices(at: [0x0006, 0x000F]) == [0x0006...0x000E, 0x000F...0x0014])
        var bench = ServerBench(database)
        #expect(bench.send("10 01 00 FF FF 00 28") == "11 06 01 00 05 00 00 18")
        #expect(bench.send("0A 08 00") == "01 0A 08 00 01")
        #expect(bench.send("0A 22 00") == "0B 07 08 09")
        #expect(bench.send("08 01 00 FF FF 38 2A") == "09 05 22 00 07 08 09")
        #expect(bench.send("06 01 00 FF FF 00 28 0D 18") == "01 06 01 00 0A")
        #expect(try database.add(.init(uuid: .init(0x180F)), at: 0x0006).declaration == 0x0006)
    }

    @Test("10,000 attributes are found by handle, type and service")
    func many() throws {
        var database = GATTDatabase()
        for number in 0..<2_000 { _ = try database.add(service(UInt16(number), count: 5)) }
        #expect(database.count == 10_000)
        var bench = ServerBench(database)
        // 1234 services of 5 attributes stand before service 04D2.
        #expect(bench.send("06 01 00 FF FF 00 28 D2 04") == "07 1B 18 1F 18")
        #expect(bench.send("10 1A 18 1F 18 00 28") == "11 06 1B 18 1F 18 D2 04")
        #expect(bench.send("0A 1B 18") == "0B D2 04")
        #expect(bench.send("0A 11 27") == "01 0A 11 27 01")
    }

    @Test("The application can set a stored value to a valid length, and other changes are rejected")
    func theApplicationSetsValuesWithinTheirLimits() throws {
        var database = GATTDatabase.example()
        try database.setValue([9, 9, 9, 9], of: 0x000B)
        #expect(database.value(of: 0x000B) == [9, 9, 9, 9])
        #expect(throws: GATTDatabaseError.valueNotSettable(0x000B)) { try database.setValue([1], of: 0x000B) }
        #expect(throws: GATTDatabaseError.valueTooLong(maximum: 8)) {
            try database.setValue(.init(repeating: 0, count: 9), of: 0x000E)
        }
        #expect(throws: GATTDatabaseError.valueNotSettable(0x0008)) { try database.setValue([1], of: 0x0008) }
        #expect(throws: GATTDatabaseError.valueNotSettable(0x0009)) { try database.setValue([1, 0], of: 0x0009) }
        #expect(throws: GATTDatabaseError.notFound(0x0019)) { try database.setValue([], of: 0x0019) }
    }
}
