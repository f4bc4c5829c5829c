import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT database: handles and descriptors defined by the caller")
struct ServerDatabaseLayoutTests {
    static let value = GATTCharacteristicDefinition(
        uuid: "2A19", properties: .read, value: .constant([0x64]), handle: 0x0014, valueHandle: 0x0018)

    @Test("attributes get the handles in their definition, and the others follow them")
    func explicitHandles() throws {
        var database = GATTDatabase()
        _ = try database.add(GATTServiceDefinition(uuid: "180A", handle: 0x0002))
        var characteristic = Self.value
        characteristic.descriptors = [
            .init(uuid: "2901", value: .constant([0x61])), .init(uuid: "2904", value: .constant([0]), handle: 0x0020),
        ]
        let handles = try database.add(
            GATTServiceDefinition(
                uuid: "180F", includes: [0x0002], characteristics: [characteristic], handle: 0x0010, endHandle: 0x002F,
                includeHandles: [0x0012]))
        #expect(
            handles
                == GATTServiceHandles(
                    declaration: 0x0010, end: 0x002F, includes: [0x0012],
                    characteristics: [
                        .init(
                            declaration: 0x0014, value: 0x0018, clientConfiguration: nil, descriptors: [0x0019, 0x0020])
                    ]))
        var bench = ServerBench(database, mtu: 100)
        // The group ends at the reserved handle, for each way to find it.
        #expect(bench.send("10 01 00 FF FF 00 28") == "11 06 02 00 02 00 0A 18 10 00 2F 00 0F 18")
        #expect(bench.send("06 01 00 FF FF 00 28 0F 18") == "07 10 00 2F 00")
        // Find Information, across gaps and from within them.
        #expect(
            bench.send("04 01 00 FF FF")
                == "05 01 02 00 00 28 10 00 00 28 12 00 02 28 14 00 03 28 18 00 19 2A 19 00 01 29 20 00 04 29")
        #expect(bench.send("04 15 00 17 00") == "01 04 15 00 0A")
        #expect(bench.send("04 15 00 18 00") == "05 01 18 00 19 2A")
        #expect(bench.send("04 21 00 FF FF") == "01 04 21 00 0A")
        #expect(bench.send("0A 14 00") == "0B 02 18 00 19 2A")
        #expect(bench.send("0A 13 00") == "01 0A 13 00 01")
        #expect(bench.send("08 01 00 FF FF 02 28") == "09 08 12 00 02 00 02 00 0A 18")
        // What is reserved is taken, and what comes next goes behind it.
        #expect(throws: GATTDatabaseError.handleInUse(0x0025)) {
            try database.add(GATTServiceDefinition(uuid: "1801", handle: 0x0025))
        }
        #expect(try database.add(GATTServiceDefinition(uuid: "1801")).declaration == 0x0030)
        #expect(try database.removeService(at: 0x0010) == 0x0010...0x002F)
        #expect(try database.add(GATTServiceDefinition(uuid: "1801", handle: 0x0025)).declaration == 0x0025)
    }

    @Test("a service starts where its first explicit handle requires")
    func impliedStart() throws {
        var database = GATTDatabase()
        #expect(
            try database.add(GATTServiceDefinition(uuid: "180F", characteristics: [Self.value])).range
                == 0x0013...0x0018)
    }

    @Test(
        "conflicting or descending handles are rejected with an error that names them",
        arguments: [
            (0x0014, nil, 0x0014, nil, nil, .handleOutOfOrder(0x0014, after: 0x0014)),
            (0x0010, nil, 0x0014, 0x0013, nil, .handleOutOfOrder(0x0013, after: 0x0014)),
            (0x0010, 0x0016, 0x0014, 0x0015, nil, .endBeforeLastAttribute(end: 0x0016, last: 0x0018)),
            (0x0010, nil, 0x0014, 0x0015, 0x0015, .handleOutOfOrder(0x0015, after: 0x0015)),
            (0, nil, nil, nil, nil, .invalidHandle),
            (nil, nil, 0x0001, nil, nil, .handleOutOfOrder(0x0001, after: 0x0001)),
            (nil, nil, 0x0007, nil, nil, .handleInUse(0x0006)),
            (0x0004, nil, nil, nil, nil, .handleInUse(0x0006)),
            (0xFFFD, nil, nil, nil, nil, .noRoom(count: 4)),
        ]
            as [(
                AttributeHandle?, AttributeHandle?, AttributeHandle?, AttributeHandle?, AttributeHandle?,
                GATTDatabaseError
            )])
    func refused(
        start: AttributeHandle?, end: AttributeHandle?, declaration: AttributeHandle?, value: AttributeHandle?,
        descriptor: AttributeHandle?, error: GATTDatabaseError
    ) throws {
        var database = GATTDatabase()
        _ = try database.add(GATTServiceDefinition(uuid: "180A", handle: 0x0006))
        let before = database.attributes
        let definition = GATTServiceDefinition(
            uuid: "180F",
            characteristics: [
                .init(
                    uuid: "2A19", properties: .read, value: .constant([]),
                    descriptors: [
                        .init(
                            uuid: "2901", value: .constant([]),
                            handle: descriptor ?? (end == nil ? nil : 0x0018))
                    ], handle: declaration, valueHandle: value)
            ], handle: start, endHandle: end)
        #expect(throws: error) { try database.add(definition) }
        #expect(database.attributes == before)
        #expect(!"\(error)".isEmpty)
    }

    @Test("a Client Characteristic Configuration defined by the caller replaces the automatic one")
    func ownClientConfiguration() throws {
        var database = GATTDatabase()
        let handles = try database.add(
            GATTServiceDefinition(
                uuid: "180D",
                characteristics: [
                    .init(
                        uuid: "2A37", properties: .notify,
                        descriptors: [
                            .userDescription("a"),
                            .init(
                                uuid: "2902", permissions: GATTPermissions(read: .open, write: .encrypted),
                                value: .constant([9, 9, 9])),
                            .init(uuid: "2904", value: .constant([1])),
                        ])
                ]))
        #expect(
            handles.characteristics == [
                .init(
                    declaration: 0x0002, value: 0x0003, clientConfiguration: 0x0005,
                    descriptors: [0x0004, 0x0005, 0x0006])
            ])
        var bench = ServerBench(database)
        #expect(bench.send("04 04 00 FF FF") == "05 01 04 00 01 29 05 00 02 29 06 00 04 29")
        #expect(bench.send("0A 05 00") == "0B 00 00")
        #expect(bench.send("12 05 00 01 00") == "01 12 05 00 05")
        bench.security = LinkSecurity(isEncrypted: true, encryptionKeySize: 16)
        #expect(bench.send("12 05 00 01 00") == "13")
        #expect(bench.send("0A 05 00") == "0B 01 00")
    }

    @Test("without added descriptors only those of the definition exist, and notifications need no subscription")
    func noAddedDescriptors() throws {
        var database = GATTDatabase()
        _ = try database.add(
            GATTServiceDefinition(
                uuid: "180D",
                characteristics: [
                    .init(
                        uuid: "2A37", properties: [.notify, .extendedProperties], addsDescriptors: false),
                    .init(
                        uuid: "2A38", properties: .indicate, subscription: .encrypted, addsDescriptors: false),
                    .init(uuid: "2A39", properties: .notify),
                ]))
        var bench = ServerBench(database, mtu: 100)
        #expect(
            bench.send("04 01 00 FF FF")
                == "05 01 01 00 00 28 02 00 03 28 03 00 37 2A 04 00 03 28 05 00 38 2A 06 00 03 28 07 00 39 2A 08 00 02 29"
        )
        #expect(bench.send("0A 02 00") == "0B 90 03 00 37 2A")
        var endpoint = AttributeEndpoint(), writer = ByteWriter()
        let server = GATTServer(database: database)
        try endpoint.notify(0x0003, value: [1, 2].span, from: server, into: &writer)
        #expect(writer.bytes == bytes("1B 03 00 01 02"))
        #expect(throws: GATTServerError.notSubscribed(0x0003)) {
            try endpoint.indicate(0x0003, value: [1].span, from: server, at: .zero, into: &writer)
        }
        #expect(throws: GATTServerError.insufficientSecurity(.insufficientAuthentication)) {
            try endpoint.indicate(0x0005, value: [1].span, from: server, at: .zero, into: &writer)
        }
        #expect(throws: GATTServerError.notSubscribed(0x0007)) {
            try endpoint.notify(0x0007, value: [1].span, from: server, into: &writer)
        }
    }

    @Test("services added together may include each other, in any order")
    func includes() throws {
        var database = GATTDatabase()
        let vendor: BluetoothUUID = "00112233-4455-6677-8899-AABBCCDDEEFF"
        let handles = try database.add([
            GATTServiceDefinition(uuid: "180D", includes: [0x0010, 0x0020], handle: 0x0001),
            GATTServiceDefinition(uuid: "180F", isPrimary: false, handle: 0x0010, endHandle: 0x0013),
            GATTServiceDefinition(uuid: vendor, isPrimary: false, includes: [0x0001], handle: 0x0020),
        ])
        #expect(handles.map(\.range) == [0x0001...0x0003, 0x0010...0x0013, 0x0020...0x0021])
        #expect(database.value(of: 0x0002) == bytes("10 00 13 00 0F 18"))
        #expect(database.value(of: 0x0003) == bytes("20 00 21 00"))
        #expect(database.value(of: 0x0021) == bytes("01 00 03 00 0D 18"))
        var bench = ServerBench(database, mtu: 100)
        #expect(bench.send("10 01 00 FF FF 01 28") == "11 06 10 00 13 00 0F 18")
        #expect(bench.send("10 01 00 FF FF 00 28") == "11 06 01 00 03 00 0D 18")

        // None goes while another names it, and none comes that names nothing.
        #expect(throws: GATTDatabaseError.included(0x0010, by: 0x0001)) { try database.removeService(at: 0x0010) }
        #expect(throws: GATTDatabaseError.included(0x0010, by: 0x0001)) {
            try database.removeServices(at: [0x0010, 0x0020])
        }
        #expect(throws: GATTDatabaseError.notFound(0x0055)) {
            try database.add([
                GATTServiceDefinition(uuid: "1811"), GATTServiceDefinition(uuid: "1812", includes: [0x0055]),
            ])
        }
        #expect(database.services == [0x0001, 0x0010, 0x0020])
        #expect(try database.removeServices(at: [0x0001, 0x0020]) == [0x0001...0x0003, 0x0020...0x0021])
        #expect(try database.removeService(at: 0x0010) == 0x0010...0x0013)
        #expect(database.count == 0)
    }

    @Test("reads and writes fail with the errors of the imitated device")
    func errors() throws {
        var database = GATTDatabase()
        var permissions = GATTPermissions()
        permissions.readError = .insufficientAuthentication
        permissions.writeError = ATTErrorCode(rawValue: 0x80)
        _ = try database.add(
            GATTServiceDefinition(
                uuid: "180F",
                characteristics: [
                    .init(
                        uuid: "2A19", properties: [.read, .write], permissions: permissions, value: .fixedLength([1]))
                ]))
        var bench = ServerBench(database)
        bench.security = LinkSecurity(isEncrypted: true, isAuthenticated: true, encryptionKeySize: 16)
        #expect(bench.send("0A 03 00") == "01 0A 03 00 05")
        #expect(bench.send("0C 03 00 00 00") == "01 0C 03 00 05")
        #expect(bench.send("08 01 00 FF FF 19 2A") == "01 08 03 00 05")
        #expect(bench.send("12 03 00 01") == "01 12 03 00 80")
    }
}
