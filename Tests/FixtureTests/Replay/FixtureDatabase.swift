import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The database of the recorded peripheral, as `Scripts/python/fixture_database.py` has it and its captures show it.
enum FixtureDatabase {
    static let longValue = (0..<300).map { (index: Int) -> UInt8 in UInt8((index * 7 + index / 256) % 256) }
    static let manufacturerName = Array("Exempel AB".utf8)
    static let modelNumber = Array("Mk. II".utf8)
    static let batteryLevel: [UInt8] = [87]

    /// The UUIDs of the vendor who made the fixture.
    static func vendor(_ number: UInt32) -> BluetoothUUID {
        BluetoothUUID(high: UInt64(number) << 32 | 0x4C1B_4E54, low: 0x9E9C_5F0C_2B7A_1D3E)
    }

    // Handles of values and of descriptors.
    static let batteryLevelHandle: AttributeHandle = 0x0012
    static let manufacturerNameHandle: AttributeHandle = 0x0019
    static let modelNumberHandle: AttributeHandle = 0x001B
    static let longValueHandle: AttributeHandle = 0x0020
    static let writeOnlyHandle: AttributeHandle = 0x0024
    static let notifyingHandle: AttributeHandle = 0x0026
    static let notifyingConfigurationHandle: AttributeHandle = 0x0027
    static let indicatingHandle: AttributeHandle = 0x0029
    static let indicatingConfigurationHandle: AttributeHandle = 0x002A
    static let encryptedHandle: AttributeHandle = 0x002C
    static let refusingHandle: AttributeHandle = 0x002E

    static let services = [
        DiscoveredService(uuid: "1800", startHandle: 0x0001, endHandle: 0x0005, isPrimary: true),
        DiscoveredService(uuid: "1801", startHandle: 0x0006, endHandle: 0x000F, isPrimary: true),
        DiscoveredService(uuid: "180F", startHandle: 0x0010, endHandle: 0x0013, isPrimary: true),
        DiscoveredService(uuid: "180A", startHandle: 0x0017, endHandle: 0x001B, isPrimary: true),
        DiscoveredService(uuid: vendor(1), startHandle: 0x001C, endHandle: 0x002E, isPrimary: true),
    ]

    /// The same database on our server, at the same handles.
    static func make() throws -> GATTDatabase {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: "1800",
                characteristics: [
                    .init(uuid: "2A00", properties: .read, value: .constant(Array("Fixture".utf8))),
                    .init(uuid: "2A01", properties: .read, value: .constant([0, 0])),
                ]), at: 0x0001)
        _ = try database.add(
            .init(
                uuid: "1801",
                characteristics: [
                    .init(uuid: "2A05", properties: .indicate, value: .constant([])),
                    .init(uuid: "2B29", properties: [.read, .write], value: .clientSupportedFeatures),
                    .init(uuid: "2B2A", properties: .read, value: .constant([])),
                    .init(uuid: "2B3A", properties: .read, value: .constant([1])),
                ]), at: 0x0006)
        _ = try database.add(
            .init(
                uuid: "180F",
                characteristics: [
                    .init(uuid: "2A19", properties: [.read, .notify], value: .constant(batteryLevel))
                ]), at: 0x0010)
        _ = try database.add(
            .init(
                uuid: vendor(8), isPrimary: false,
                characteristics: [
                    .init(
                        uuid: vendor(9), properties: .read, value: .constant(Array("of a secondary service".utf8)))
                ]), at: 0x0014)
        _ = try database.add(
            .init(
                uuid: "180A",
                characteristics: [
                    .init(uuid: "2A29", properties: .read, value: .constant(manufacturerName)),
                    .init(uuid: "2A24", properties: .read, value: .constant(modelNumber)),
                ]), at: 0x0017)
        _ = try database.add(everything, at: 0x001C)
        return database
    }

    private static let everything = GATTServiceDefinition(
        uuid: vendor(1), includes: [0x0010, 0x0014],
        characteristics: [
            .init(
                uuid: vendor(2), properties: [.read, .write, .writeWithoutResponse], value: .variableLength(longValue),
                descriptors: [
                    .userDescription("A long value"),
                    .init(uuid: "2904", value: .constant([0x1B, 0, 0x00, 0x27, 1, 0, 0])),
                ]),
            .init(uuid: vendor(3), properties: .write, value: .variableLength([])),
            .init(uuid: vendor(4), properties: .notify, value: .constant([])),
            .init(uuid: vendor(5), properties: [.indicate, .read], value: .constant(Array("at first".utf8))),
            .init(
                uuid: vendor(6), properties: .read, permissions: .init(read: .encrypted),
                value: .constant(Array("a secret".utf8))),
            .init(uuid: vendor(7), properties: .write, value: .dynamic),
        ])
}
