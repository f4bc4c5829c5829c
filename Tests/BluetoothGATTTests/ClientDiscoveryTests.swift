import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: discovery")
struct ClientDiscoveryTests {
    static let vendor: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let vendorBytes = "32 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0"

    /// Databases, each as the exchanges that find its services: the UUIDs, the first handles and the last ones. Short
    /// UUIDs alone, short ones first, long ones first, and both in turn up to the last handle.
    static let databases: [(script: [Exchange], services: [(BluetoothUUID, UInt16, UInt16)])] = [
        (
            [
                ("10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18 06 00 06 00 01 18"),
                ("10 07 00 FF FF 00 28", "01 10 07 00 0A"),
            ], [(.genericAccess, 1, 5), (.genericAttribute, 6, 6)]
        ),
        (
            [
                ("10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18 06 00 06 00 01 18"),
                ("10 07 00 FF FF 00 28", "11 14 10 00 1F 00 " + vendorBytes),
                ("10 20 00 FF FF 00 28", "01 10 20 00 0A"),
            ], [(.genericAccess, 1, 5), (.genericAttribute, 6, 6), (vendor, 0x10, 0x1F)]
        ),
        (
            [
                ("10 01 00 FF FF 00 28", "11 14 01 00 0F 00 " + vendorBytes),
                ("10 10 00 FF FF 00 28", "11 14 10 00 10 00 " + vendorBytes),
                ("10 11 00 FF FF 00 28", "11 06 20 00 2F 00 0F 18"),
                ("10 30 00 FF FF 00 28", "01 10 30 00 0A"),
            ], [(vendor, 1, 0x0F), (vendor, 0x10, 0x10), ("180F", 0x20, 0x2F)]
        ),
        (
            [
                ("10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18"),
                ("10 06 00 FF FF 00 28", "11 14 06 00 0F 00 " + vendorBytes),
                ("10 10 00 FF FF 00 28", "11 06 FF FF FF FF 0F 18"),
            ], [(.genericAccess, 1, 5), (vendor, 6, 0x0F), ("180F", 0xFFFF, 0xFFFF)]
        ),
    ]

    @Test("GATT/CL/GAD/BV-01: all primary services are found, with UUIDs of either length", arguments: 0..<4)
    func primaryServices(database: Int) throws {
        let (script, services) = Self.databases[database]
        let expected = services.map {
            DiscoveredService(uuid: $0.0, startHandle: AttributeHandle($0.1), endHandle: AttributeHandle($0.2))
        }
        #expect(try run(.discoverPrimaryServices(), script) == .success(.services(expected)))
    }

    @Test("A4: a service that ends at 0xFFFF ends the discovery")
    func lastHandle() throws {
        let result = try run(
            .discoverPrimaryServices(), [("10 01 00 FF FF 00 28", "11 06 FF FF FF FF 0F 18")])
        #expect(
            result
                == .success(.services([DiscoveredService(uuid: "180F", startHandle: 0xFFFF, endHandle: 0xFFFF)])))
    }

    @Test("a server without services yields an empty list")
    func noServices() throws {
        let result = try run(.discoverPrimaryServices(), [("10 01 00 FF FF 00 28", "01 10 01 00 0A")])
        #expect(result == .success(.services([])))
    }

    @Test(
        "GATT/CL/GAD/BV-02: primary services are found by UUID",
        arguments: [(BluetoothUUID(0x180F), "0F 18"), (vendor, vendorBytes)])
    func primaryServicesByUUID(uuid: BluetoothUUID, encoded: String) throws {
        let result = try run(
            .discoverPrimaryServices(uuid: uuid),
            [
                ("06 01 00 FF FF 00 28 " + encoded, "07 10 00 1F 00 30 00 31 00"),
                ("06 32 00 FF FF 00 28 " + encoded, "07 40 00 FF FF"),
            ])
        #expect(
            result
                == .success(
                    .services([
                        DiscoveredService(uuid: uuid, startHandle: 0x10, endHandle: 0x1F),
                        DiscoveredService(uuid: uuid, startHandle: 0x30, endHandle: 0x31),
                        DiscoveredService(uuid: uuid, startHandle: 0x40, endHandle: 0xFFFF),
                    ])))
        let fewer = try run(
            .discoverPrimaryServices(uuid: uuid),
            [
                ("06 01 00 FF FF 00 28 " + encoded, "07 10 00 1F 00"),
                ("06 20 00 FF FF 00 28 " + encoded, "01 06 20 00 0A"),
            ])
        #expect(
            fewer == .success(.services([DiscoveredService(uuid: uuid, startHandle: 0x10, endHandle: 0x1F)])))
    }

    @Test("GATT/CL/GAD/BV-03: included services are found; a 128-bit UUID is read from the included service")
    func includes() throws {
        let result = try run(
            .discoverIncludedServices(in: 0x0010...0x0020),
            [
                ("08 10 00 20 00 02 28", "09 08 11 00 30 00 3F 00 0F 18"),
                ("08 12 00 20 00 02 28", "09 06 12 00 40 00 4F 00 13 00 50 00 5F 00"),
                ("0A 40 00", "0B " + Self.vendorBytes),
                ("0A 50 00", "0B 0A 18"),
                ("08 14 00 20 00 02 28", "01 08 14 00 0A"),
            ])
        #expect(
            result
                == .success(
                    .includes([
                        DiscoveredInclude(declarationHandle: 0x11, startHandle: 0x30, endHandle: 0x3F, uuid: "180F"),
                        DiscoveredInclude(
                            declarationHandle: 0x12, startHandle: 0x40, endHandle: 0x4F, uuid: Self.vendor),
                        DiscoveredInclude(declarationHandle: 0x13, startHandle: 0x50, endHandle: 0x5F, uuid: "180A"),
                    ])))
    }

    static let characteristicScript: [Exchange] = [
        ("08 01 00 20 00 03 28", "09 07 02 00 02 03 00 00 2A 04 00 10 05 00 05 2A"),
        ("08 05 00 20 00 03 28", "09 15 08 00 08 09 00 " + vendorBytes),
        ("08 09 00 20 00 03 28", "01 08 09 00 0A"),
    ]
    static let characteristics = [
        DiscoveredCharacteristic(
            uuid: .deviceName, declarationHandle: 2, valueHandle: 3, endHandle: 3, properties: .read),
        DiscoveredCharacteristic(
            uuid: .serviceChanged, declarationHandle: 4, valueHandle: 5, endHandle: 7, properties: .notify),
        DiscoveredCharacteristic(
            uuid: vendor, declarationHandle: 8, valueHandle: 9, endHandle: 0x20, properties: .write),
    ]

    @Test("GATT/CL/GAD/BV-04: the characteristics of a service are found, each ending before the next")
    func characteristics() throws {
        let result = try run(.discoverCharacteristics(in: 0x0001...0x0020), Self.characteristicScript)
        #expect(result == .success(.characteristics(Self.characteristics)))
    }

    @Test(
        "GATT/CL/GAD/BV-05: characteristics are found by UUID, of either length, and still end at their neighbors",
        arguments: [(.deviceName, [0]), (.serviceChanged, [1]), (vendor, [2]), ("2A19", [])]
            as [(BluetoothUUID, [Int])])
    func characteristicsByUUID(uuid: BluetoothUUID, indices: [Int]) throws {
        let result = try run(
            .discoverCharacteristics(in: 0x0001...0x0020, uuid: uuid), Self.characteristicScript)
        #expect(result == .success(.characteristics(indices.map { Self.characteristics[$0] })))
    }

    @Test("A4: no request is sent where no characteristic could follow", arguments: [("06 00", 6), ("07 00", 7)])
    func characteristicsAtTheEnd(end: String, endHandle: UInt16) throws {
        let result = try run(
            .discoverCharacteristics(in: 0x0001...AttributeHandle(endHandle)),
            [("08 01 00 \(end) 03 28", "09 07 05 00 02 06 00 00 2A")])
        #expect(
            result
                == .success(
                    .characteristics([
                        DiscoveredCharacteristic(
                            uuid: .deviceName, declarationHandle: 5, valueHandle: 6,
                            endHandle: AttributeHandle(endHandle), properties: .read)
                    ])))
    }

    @Test("GATT/CL/GAD/BV-06: descriptors are found, with UUIDs of either length, up to 0xFFFF")
    func descriptors() throws {
        let result = try run(
            .discoverDescriptors(in: 0xFFF0...0xFFFF),
            [
                ("04 F0 FF FF FF", "05 01 F0 FF 01 29 F1 FF 02 29"),
                ("04 F2 FF FF FF", "05 02 FF FF " + Self.vendorBytes),
            ])
        #expect(
            result
                == .success(
                    .descriptors([
                        DiscoveredDescriptor(uuid: .characteristicUserDescription, handle: 0xFFF0),
                        DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: 0xFFF1),
                        DiscoveredDescriptor(uuid: Self.vendor, handle: 0xFFFF),
                    ])))
    }

    @Test(
        "an error other than Attribute Not Found fails a discovery",
        arguments: [
            (GATTClientOperation.discoverPrimaryServices(), UInt8(0x10)),
            (.discoverPrimaryServices(uuid: "180F"), 0x06),
            (.discoverIncludedServices(in: 0x0001...0xFFFF), 0x08),
            (.discoverCharacteristics(in: 0x0001...0xFFFF), 0x08),
            (.discoverDescriptors(in: 0x0001...0xFFFF), 0x04),
            (.discoverAll(includes: true), 0x10),
        ])
    func refused(operation: GATTClientOperation, opcode: UInt8) throws {
        var harness = ClientHarness()
        let id = try harness.start(operation).id
        #expect(harness.receive([0x01, opcode, 0x01, 0x00, 0x08]) == [])
        let error = ATTError(requestOpcode: opcode, handle: 1, code: .insufficientAuthorization)
        #expect(harness.takeEvents() == [.failed(id, .att(error))])
    }
}
