import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import DBus
import Testing

@testable import BusService

@Suite struct PublishingTests {
    // MARK: - Applications

    private static func object(_ path: String, _ interface: String, _ properties: [(String, DBusValue)])
        -> DBusValue.Entry
    {
        .init(
            .objectPath(ObjectPath(path) ?? .root),
            .dictionary(
                key: "s", value: "a{sv}",
                [.init(.string("org.bluez." + interface), .variants(properties))]))
    }

    private static func objects(_ entries: [DBusValue.Entry]) -> DBusValue {
        .dictionary(key: "o", value: "a{sa{sv}}", entries)
    }

    private static func path(_ text: String) -> DBusValue { .objectPath(ObjectPath(text) ?? .root) }

    @Test func `the objects of an application are put together, whatever their order`() throws {
        let parsed = try ApplicationObjects(
            Self.objects([
                Self.object(
                    "/app/d", "GattDescriptor1",
                    [("UUID", .string("2901")), ("Characteristic", Self.path("/app/c")), ("Flags", .strings(["read"]))]),
                Self.object(
                    "/app/c", "GattCharacteristic1",
                    [
                        ("UUID", .string("2a19")), ("Service", Self.path("/app/s")),
                        ("Flags", .strings(["encrypt-read", "notify"])),
                    ]),
                Self.object("/app/s", "GattService1", [("UUID", .string("180f")), ("Primary", .boolean(true))]),
            ]))
        #expect(parsed.services.count == 1)
        let characteristic = try #require(parsed.services.first?.characteristics.first)
        #expect(characteristic.flags.properties == [.read, .notify])
        #expect(characteristic.flags.permissions.read == .encrypted)
        #expect(characteristic.descriptors.first?.permissions.read == .open)
    }

    @Test func `an application without a service, or with an orphan, is refused`() {
        #expect(throws: BusError.self) { try ApplicationObjects(Self.objects([])) }
        #expect(throws: BusError.self) {
            try ApplicationObjects(
                Self.objects([
                    Self.object("/app/s", "GattService1", [("UUID", .string("180f"))]),
                    Self.object(
                        "/app/c", "GattCharacteristic1",
                        [("UUID", .string("2a19")), ("Service", Self.path("/other")), ("Flags", .strings(["read"]))]),
                ]))
        }
        #expect(throws: BusError.self) {
            try ApplicationObjects(Self.objects([Self.object("/app/s", "GattService1", [("UUID", .string("x"))])]))
        }
    }

    private static let flags: [([String], GATTCharacteristicProperties, GATTPermissions.Requirement)] = [
        (["write"], [.write], .open), (["write-without-response"], [.writeWithoutResponse], .open),
        (["encrypt-write"], [.write], .encrypted), (["encrypt-authenticated-write"], [.write], .authenticated),
        (["secure-write"], [.write], .authenticatedSecureConnections),
        (["write", "encrypt-write"], [.write], .encrypted),
        (["reliable-write"], [.extendedProperties], .open),
    ]

    @Test(arguments: 0..<flags.count)
    func `flags become properties and permissions`(_ index: Int) throws {
        let (names, properties, requirement) = Self.flags[index]
        let flags = try CharacteristicFlags(names)
        #expect(flags.properties == properties)
        #expect(flags.permissions.write == requirement)
    }

    @Test func `an unknown flag is refused`() {
        #expect(throws: BusError.self) { try CharacteristicFlags(["telepathy"]) }
    }

    // MARK: - Advertisements

    @Test func `the properties of an advertisement become advertising data`() throws {
        let content = try Advertisement.Content(
            .variants([
                ("Type", .string("peripheral")), ("ServiceUUIDs", .strings(["180f", "180f"])),
                ("LocalName", .string("Sensor")), ("Appearance", .uint16(0x0340)),
                ("ManufacturerData", .dictionary(key: "q", value: "v", [.init(.uint16(0x4C), .variant(.bytes([1])))])),
                ("ServiceData", .variants([("180f", .bytes([2]))])), ("Timeout", .uint16(5)),
                ("Data", .dictionary(key: "s", value: "ay", [])), ("MinInterval", .uint32(20)),
                ("MaxInterval", .uint32(40)), ("FutureProperty", .byte(0)),
            ]))
        #expect(content.data.serviceUUIDs == ["180F"])
        #expect(content.data.localName == .complete("Sensor"))
        #expect(content.data.manufacturerData == [.init(companyID: 0x4C, data: [1])])
        #expect(content.data.serviceData == [.init(uuid: "180F", data: [2])])
        #expect(content.duration == .seconds(5))
        #expect(content.interval == .milliseconds(20)...(.milliseconds(40)))
    }

    private static let invalid: [[(String, DBusValue)]] = [
        [("Type", .string("broadcast")), ("Discoverable", .boolean(true))], [("Type", .string("unknown"))],
        [("Type", .string("peripheral")), ("ServiceUUIDs", .strings(["x"]))],
        [("Type", .string("peripheral")), ("MinInterval", .uint32(19))],
        [("Type", .string("peripheral")), ("MinInterval", .uint32(200)), ("MaxInterval", .uint32(150))],
        [("Type", .string("peripheral")), ("LocalName", .uint16(1))],
        [("Type", .string("peripheral")), ("LocalName", .string("a")), ("Includes", .strings(["local-name"]))],
        [("Type", .string("peripheral")), ("SecondaryChannel", .string("3M"))],
    ]

    @Test(arguments: 0..<invalid.count)
    func `an invalid advertisement is refused`(_ index: Int) {
        #expect(throws: BusError.failed("Failed to parse advertisement.")) {
            try Advertisement.Content(.variants(Self.invalid[index]))
        }
    }

    // MARK: - Monitors

    @Test(arguments: [
        (0, 0xFF, [0x4C, 0x00], true), (1, 0xFF, [0x00, 0x02], true), (0, 0xFF, [0x4D], false),
        (0, 0x09, [0x4C, 0x00], false), (3, 0xFF, [0x02], false),
    ])
    func `a pattern matches octets at its position in data of its type`(
        _ start: Int, _ type: Int, _ content: [UInt8], _ isMatch: Bool
    ) {
        let pattern = Monitor.Pattern(start: start, type: ADType(rawValue: UInt8(type)), content: content)
        #expect(pattern.matches([0x02, 0x01, 0x06, 0x04, 0xFF, 0x4C, 0x00, 0x02]) == isMatch)
    }

    @Test func `malformed advertising data matches nothing, and harms nothing`() {
        let pattern = Monitor.Pattern(start: 0, type: ADType(rawValue: 0xFF), content: [1])
        let data: [UInt8] = [0x09, 0xFF, 0x02, 0x02, 0x02, 0x02]
        for length in 0..<data.count { #expect(!pattern.matches(Array(data.prefix(length)))) }
    }
}
