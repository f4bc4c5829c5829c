import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT database: input of the hash")
struct ServerDatabaseHashTests {
    /// The database of Core 5.4, Vol 3, Part G, Appendix B; its hash is F1CA2D48ECF58BAC8A8830BBB9FBA990.
    @Test("The hash input matches the example in the specification (Vol 3, Part G, Appendix B)")
    func theExampleOfTheSpecification() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .genericAccess,
                characteristics: [
                    .init(uuid: .deviceName, properties: [.read, .write]),
                    .init(uuid: .appearance, properties: .read),
                ]))
        _ = try database.add(
            .init(
                uuid: .genericAttribute,
                characteristics: [
                    .init(uuid: .serviceChanged, properties: .indicate),
                    .init(uuid: .clientSupportedFeatures, properties: [.read, .write]),
                    .init(uuid: .databaseHash, properties: .read),
                ]))
        let battery = try database.add(
            .init(
                uuid: .init(0x180F), isPrimary: false,
                characteristics: [.init(uuid: .init(0x2A19), properties: .read)]), at: 0x0014)
        _ = try database.add(
            .init(
                uuid: .init(0x1808), includes: [battery.declaration],
                characteristics: [
                    .init(uuid: .init(0x2A18), properties: [.read, .indicate, .extendedProperties])
                ]), at: 0x000E)
        #expect(
            written(database.appendHashInput)
                == bytes(
                    """
                    01 00 00 28 00 18 02 00 03 28 0A 03 00 00 2A 04 00 03 28 02 05 00 01 2A \
                    06 00 00 28 01 18 07 00 03 28 20 08 00 05 2A 09 00 02 29 \
                    0A 00 03 28 0A 0B 00 29 2B 0C 00 03 28 02 0D 00 2A 2B \
                    0E 00 00 28 08 18 0F 00 02 28 14 00 16 00 0F 18 10 00 03 28 A2 11 00 18 2A \
                    12 00 02 29 13 00 00 29 00 00 14 00 01 28 0F 18 15 00 03 28 02 16 00 19 2A
                    """))
    }
}
