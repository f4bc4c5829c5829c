import BluetoothLE
import Testing

@testable import ble
@testable import BluetoothCommandLine

/// What `ble read`, `write` and `notify` make of octets, and of what a user types.
struct ValueFormatTests {
    private static func format(_ name: String) throws -> ValueFormat { try #require(ValueFormat(argument: name)) }

    @Test(
        "Octets are decoded in each format",
        arguments: [
            ("hex", [0, 255], .octets([0, 255])), ("utf8", [0x41, 0xFF], .text("A\u{FFFD}")),
            ("u8", [0, 255], .integers([0, 255])),
            ("i8", [0x80, 0x7F], .integers([-128, 127])), ("u16", [1, 2, 0xFF, 0xFF], .integers([0x0201, 65535])),
            ("i16", [0xFE, 0xFF, 0xFF, 0x7F], .integers([-2, 32767])),
            ("u32", [0xFF, 0xFF, 0xFF, 0xFF], .integers([4_294_967_295])),
            ("i32", [0, 0, 0, 0x80], .integers([-2_147_483_648])), ("float", [0, 0, 0xC0, 0x3F], .numbers([1.5])),
            ("u16", [1], .malformed([1], "not u16: 1 octet is the wrong length")),
            ("u8", [], .malformed([], "not u8: 0 octets is the wrong length")),
            ("battery-level", [87], .fields([ValueField("percentage", 87, "%")])),
            ("temperature", [0x64, 0x09], .fields([ValueField("celsius", .number(24.04), "°C")])),
            ("serial-number", [0x41], .fields([ValueField("text", .text("A"))])),
        ] as [(String, [UInt8], DecodedValue)])
    func decode(name: String, octets: [UInt8], expected: DecodedValue) throws {
        #expect(try Self.format(name).decode(octets) == expected)
    }

    @Test(
        "A value that lacks octets of its layout is malformed",
        arguments: ["heart-rate", "current-time", "pnp-id", "weight"])
    func malformed(name: String) throws {
        guard case .malformed([0x16], let why) = try Self.format(name).decode([0x16]) else {
            Issue.record("it is not malformed")
            return
        }
        #expect(why.hasPrefix("not \(name): "))
    }

    @Test(
        "Without a format, values are shown as fields if known, as text if printable, otherwise as octets",
        arguments: [
            ("2A19", [87], .fields([ValueField("percentage", 87, "%")])), ("2A19", [], .octets([])),
            ("F000", Array("hello".utf8), .text("hello")), ("F000", [0x41], .octets([0x41])), ("F000", [], .octets([])),
            ("F000", [0x41, 0x1B], .octets([0x41, 0x1B])), ("F000", [0x41, 0xFF], .octets([0x41, 0xFF])),
            ("F000", Array("a\u{202E}b".utf8), .octets(Array("a\u{202E}b".utf8))),
            ("F000", Array("a\"b".utf8), .octets(Array("a\"b".utf8))),
            (nil, Array("Zoë 📇".utf8), .text("Zoë 📇")),
        ] as [(BluetoothUUID?, [UInt8], DecodedValue)])
    func automatic(uuid: BluetoothUUID?, octets: [UInt8], expected: DecodedValue) {
        #expect(ValueFormat.automatic(octets, of: uuid) == expected)
    }

    @Test("A heart rate has the fields that its flags announce")
    func heartRate() throws {
        let decoded = try Self.format("heart-rate").decode([0x1E, 72, 0x01, 0x02, 0x00, 0x04])
        #expect(
            decoded
                == .fields([
                    ValueField("heartRate", 72, "beats/min"), ValueField("sensorContact", .flag(true)),
                    ValueField("energyExpended", 513, "kJ"), ValueField("rrIntervals", .numbers([1]), "s"),
                ]))
    }

    @Test(
        "Typed text is encoded in each format",
        arguments: [
            ("hex", "01FF", [1, 255]), ("hex", "01 ff", [1, 255]), ("hex", "0x01:FF", [1, 255]), ("hex", "", []),
            ("utf8", "hé", [0x68, 0xC3, 0xA9]), ("u8", "0,255", [0, 255]), ("i8", "-128,127", [128, 127]),
            ("u16", "0x0201", [1, 2]), ("i16", "-2", [0xFE, 0xFF]), ("u32", "4294967295", [255, 255, 255, 255]),
            ("i32", "-2147483648", [0, 0, 0, 128]), ("float", "1.5", [0, 0, 0xC0, 0x3F]), ("battery-level", "87", [87]),
            ("temperature", "-1.5", [0x6A, 0xFF]), ("serial-number", "A1", [0x41, 0x31]),
        ] as [(String, String, [UInt8])])
    func encode(name: String, text: String, expected: [UInt8]) throws {
        #expect(try Self.format(name).encode(text) == expected)
    }

    @Test(
        "Invalid values are refused with a reason",
        arguments: [
            ("hex", "1", "in hexadecimal"), ("hex", "0g", "in hexadecimal"), ("hex", "é1", "in hexadecimal"),
            ("u8", "256", "u8 is one number"), ("u8", "-1", "u8 is one number"), ("i8", "128", "i8 is one number"),
            ("u16", "1,,2", "u16 is one number"), ("u16", "", "u16 is one number"),
            ("float", "x", "float is one number"),
            ("battery-level", "101", "it is not a valid battery-level"),
            ("temperature", "nan", "it is not a valid temperature"),
            ("heart-rate", "72", "can be shown, not written"),
        ])
    func refuse(name: String, text: String, words: String) throws {
        let format = try Self.format(name)
        let error = #expect(throws: CommandFailure.self) { try format.encode(text) }
        #expect(error?.status == .usage)
        #expect(error?.message?.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("Format names are unique, and each format is found by its name")
    func names() throws {
        #expect(Set(ValueFormat.allValueStrings).count == ValueFormat.allValueStrings.count)
        for name in ValueFormat.allValueStrings { #expect("\(try Self.format(name))" == name) }
        #expect(ValueFormat(argument: "u64") == nil)
        for format in TypedFormat.all { #expect(TypedFormat.of(format.uuid)?.name == format.name) }
    }
}
