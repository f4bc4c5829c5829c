import ArgumentParser
import BluetoothLE
import FoundationEssentials
import Testing

@testable import ble

/// How values are printed.
struct ValueLinesTests {
    private static let time = Date(timeIntervalSince1970: 1_700_000_000.25)
    private static let peer = DeviceAddress(0xC011_2233_4455, kind: .random)

    private static func record(_ uuid: BluetoothUUID, _ octets: [UInt8]?) throws -> ValueRecord {
        let characteristic = DiscoveredCharacteristic(
            uuid: uuid, declarationHandle: 0x0F, valueHandle: 0x10, endHandle: 0x10, properties: .read)
        let database = DiscoveredDatabase(
            services: [DiscoveredService(uuid: "180F", startHandle: 1, endHandle: 0xFFFF)],
            characteristics: [characteristic])
        let attribute = try #require(AttributeSelector.handle(0x10).attributes(in: database).first)
        return ValueRecord(time: time, attribute, of: peer, octets)
    }

    private static func line(_ arguments: [String], _ uuid: BluetoothUUID, _ octets: [UInt8]?, isLabelled: Bool = false)
        throws -> String
    {
        let lines = ValueLines(options: try ValueOutputOptions.parse(arguments), isLabelled: isLabelled)
        return lines.line(for: try record(uuid, octets))
    }

    /// A name that clears the screen, turns the writing direction around, and ends in no UTF-8.
    private static let hostile: [UInt8] = Array("A,\"\u{1B}[2J\u{202E}\n".utf8) + [0xFF]

    @Test(
        "Values as plain lines",
        arguments: [
            ([], "2A19", [87], "87 %"), ([], "F000", [], "(empty)"), ([], "F000", [1, 2], "01 02"),
            ([], "F000", nil, "(values were lost here)"),
            ([], "2A29", hostile, "\"A,\\\"\\u{1B}[2J\\u{202E}\\n\u{FFFD}\""),
            ([], "F000", hostile, "41 2C 22 1B 5B 32 4A E2 80 AE 0A FF"),
            (["--format", "utf8"], "F000", hostile, "A,\\\"\\u{1B}[2J\\u{202E}\\n\u{FFFD}"),
            (["--format", "u16"], "2A19", [87], "57 (not u16: 1 octet is the wrong length)"),
            (["--timestamps"], "2A19", [87], "2023-11-14T22:13:20.250Z  87 %"),
            ([], "2A37", [0x10, 72, 0, 4], "72 beats/min, rrIntervals 1.0 s"),
        ] as [([String], BluetoothUUID, [UInt8]?, String)])
    func plain(arguments: [String], uuid: BluetoothUUID, octets: [UInt8]?, expected: String) throws {
        #expect(try Self.line(arguments, uuid, octets) == expected)
        #expect(
            try Self.line(arguments.filter { $0 != "--timestamps" }, uuid, octets, isLabelled: true).hasPrefix(
                "\(uuid)  "))
    }

    @Test(
        "Values as comma-separated lines",
        arguments: [
            ([], "2A19", [87], "57,87 %"), ([], "F000", [1, 2], "0102,0102"),
            ([], "F000", nil, ",values were lost here"),
            ([], "2A29", hostile, "412C221B5B324AE280AE0AFF,\"\"\"A,\\\"\"\\u{1B}[2J\\u{202E}\\n\u{FFFD}\"\"\""),
            (["--format", "u8"], "F000", [1, 2], "0102,1 2"),
            ([], "2A37", [0x10, 72, 0, 4], "10480004,\"72 beats/min, rrIntervals 1.0 s\""),
        ] as [([String], BluetoothUUID, [UInt8]?, String)])
    func csv(arguments: [String], uuid: BluetoothUUID, octets: [UInt8]?, expected: String) throws {
        #expect(
            try Self.line(arguments + ["--csv"], uuid, octets)
                == "2023-11-14T22:13:20.250Z,C0:11:22:33:44:55,0x0010,\(uuid),\(expected)")
    }

    @Test(
        "Values as JSON",
        arguments: [
            ([], "2A19", [87], #""value":"57","fields":{"percentage":87}"#), ([], "F000", [1, 2], #""value":"0102""#),
            ([], "F000", nil, #""dataLost":true"#),
            ([], "F000", Array("hello".utf8), #""value":"68656C6C6F","text":"hello""#),
            (["--format", "i8"], "F000", [255], #""value":"FF","numbers":[-1]"#),
            (
                ["--format", "float"], "F000", [0, 0, 0xC0, 0x3F, 0, 0, 0x80, 0x7F],
                #""value":"0000C03F0000807F","numbers":[1.5,null]"#
            ),
            (
                ["--format", "u16"], "F000", [1],
                #""value":"01","malformed":"not u16: 1 octet is the wrong length""#
            ),
            (
                [], "2A29", hostile,
                #""value":"412C221B5B324AE280AE0AFF","fields":{"text":"A,\"\u001b[2J\u202e\u000a"# + "\u{FFFD}\"}"
            ),
            ([], "2A37", [0x04, 72], #""value":"0448","fields":{"heartRate":72,"sensorContact":false}"#),
        ] as [([String], BluetoothUUID, [UInt8]?, String)])
    func json(arguments: [String], uuid: BluetoothUUID, octets: [UInt8]?, expected: String) throws {
        let names: [BluetoothUUID: String] = [
            "2A19": "Battery Level", "2A29": "Manufacturer Name String", "2A37": "Heart Rate Measurement",
        ]
        let name = names[uuid].map { #""name":"\#($0)","# } ?? ""
        #expect(
            try Self.line(arguments + ["--json"], uuid, octets)
                == #"{"time":"2023-11-14T22:13:20.250Z","address":"C0:11:22:33:44:55","handle":16,"characteristic":"\#(uuid)",\#(name)\#(expected)}"#
        )
    }
}
