import BluetoothLE
import Testing

@testable import ble

/// Which attributes a user means.
struct AttributeSelectorTests {
    @Test(
        "A selector is a handle, a UUID, or a UUID in a service",
        arguments: [
            ("0x0010", .handle(0x10)), ("0Xffff", .handle(0xFFFF)), ("2A37", .uuid("2A37", service: nil)),
            ("180d/2a37", .uuid("2A37", service: "180D")),
            ("9D534E8B-2153-4F6D-B2B0-8C68665A7274", .uuid("9D534E8B-2153-4F6D-B2B0-8C68665A7274", service: nil)),
            ("0x0", nil), ("0x", nil), ("0x10000", nil), ("0x-1", nil), ("", nil), ("/2A37", nil), ("180D/", nil),
            ("180D/2A37/1", nil),
            ("heart", nil), ("16", nil),
        ] as [(String, AttributeSelector?)])
    func parse(text: String, expected: AttributeSelector?) {
        #expect(AttributeSelector(argument: text) == expected)
    }

    private static func characteristic(_ uuid: BluetoothUUID, _ declaration: UInt16) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            uuid: uuid, declarationHandle: AttributeHandle(declaration), valueHandle: AttributeHandle(declaration + 1),
            endHandle: AttributeHandle(declaration + 2), properties: .read)
    }

    /// Two services, each with a battery level and a descriptor of it.
    private static let database = DiscoveredDatabase(
        services: [
            DiscoveredService(uuid: "180F", startHandle: 1, endHandle: 4),
            DiscoveredService(uuid: "F000", startHandle: 5, endHandle: 0xFFFF),
        ],
        characteristics: [characteristic("2A19", 2), characteristic("2A19", 6), characteristic("F001", 9)],
        descriptors: [DiscoveredDescriptor(uuid: "2904", handle: 4), DiscoveredDescriptor(uuid: "2904", handle: 8)])

    @Test(
        "A UUID selects all attributes that have it, in the service if one is given",
        arguments: [
            ("2A19", [3, 7]), ("180F/2A19", [3]), ("F000/2A19", [7]), ("F000/F001", [10]), ("180F/F001", []),
            ("2904", [4, 8]),
            ("F000/2904", [8]), ("2A37", []), ("FFFF/2A19", []), ("0x0003", [3]), ("0x0008", [8]), ("0x0100", [0x100]),
        ] as [(String, [AttributeHandle])])
    func attributes(text: String, expected: [AttributeHandle]) throws {
        let selector = try #require(AttributeSelector(argument: text))
        #expect(selector.attributes(in: Self.database).map(\.handle) == expected)
    }

    @Test("A handle selects the attribute that the database has there")
    func handle() throws {
        let value = AttributeSelector.handle(7).attributes(in: Self.database)
        #expect(value.first?.characteristic?.declarationHandle == 6)
        let descriptor = AttributeSelector.handle(8).attributes(in: Self.database)
        #expect(descriptor.first?.uuid == "2904")
        #expect(descriptor.first?.characteristic == nil)
        let unknown = AttributeSelector.handle(0x100).attributes(in: Self.database)
        #expect(unknown.first?.uuid == nil)
    }
}
