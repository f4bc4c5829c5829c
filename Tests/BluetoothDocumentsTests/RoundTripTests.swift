import BluetoothATT
import BluetoothBase
import BluetoothGAP
import Testing

@testable import BluetoothDocuments
@testable import BluetoothGATT

@Suite("Documents: round trip and layout")
struct RoundTripTests {
    /// One of everything.
    static let everything = """
        {
          "format": "bluetooth-device",
          "version": 1,
          "name": "A \\u001b name",
          "address": "C0:11:22:33:44:55",
          "connectable": false,
          "addsGenericServices": false,
          "advertisement": {
            "flags": "0x06",
            "name": "Thermometer",
            "services": ["1809"],
            "manufacturerData": [
              {"company": "0x004C", "data": "01 02"}
            ]
          },
          "scanResponse": {"data": "02 0A F8"},
          "services": [
            {
              "uuid": "1809",
              "handle": "0x0001",
              "endHandle": "0x0020",
              "includes": [
                {"service": "0x0030", "handle": "0x0003"},
                "180F"
              ],
              "characteristics": [
                {
                  "uuid": "2A1C",
                  "handle": "0x0008",
                  "valueHandle": "0x000A",
                  "properties": ["read", "indicate"],
                  "permissions": {"subscribe": "encrypted", "keySize": 16, "readError": "insufficientAuthentication"},
                  "value": "00 FF",
                  "maximumLength": 5,
                  "addsDescriptors": false,
                  "descriptors": [
                    {"uuid": "2902", "handle": "0x000C", "permissions": {"read": "open", "writeError": "0x81"}},
                    {"uuid": "2901", "text": "Temperature"}
                  ]
                }
              ]
            },
            {
              "uuid": "180F",
              "type": "secondary",
              "handle": "0x0030",
              "characteristics": [
                {
                  "uuid": "2A19",
                  "properties": ["read", "notify"],
                  "permissions": {"read": "authenticatedSecureConnections", "write": "notAllowed"},
                  "value": "64",
                  "fixedLength": true
                }
              ]
            }
          ],
          "notifications": [
            {"at": 0, "uuid": "2A19", "value": "01"},
            {"at": 12.5, "from": "connection", "handle": "0x000A", "text": "\\u2066", "indication": true}
          ]
        }

        """

    @Test("a document that is written and read back is unchanged")
    func everythingOnce() throws {
        let document = try DeviceDocument(json: Array(Self.everything.utf8))
        let again = try DeviceDocument(json: Array(document.json.utf8))
        #expect(again == document)
        #expect(again.json == document.json)
        #expect(document.name == "A \u{1B} name")
        #expect(document.services[0].characteristics[0].permissions.readError == .insufficientAuthentication)
        #expect(document.services[0].characteristics[0].descriptors[0].permissions.writeError?.rawValue == 0x81)
        #expect(document.notifications[1].time == .microseconds(12_500))
        #expect(document.scanResponse == .octets([0x02, 0x0A, 0xF8]))
        // Nothing in the text moves a terminal's cursor or turns its letters around.
        let isPlain = document.json.unicodeScalars.allSatisfy { $0 == "\n" || (" "..."~").contains($0) }
        #expect(isPlain)
    }

    @Test("attributes get the handles that the document names")
    func layout() throws {
        let layout = try DeviceDocument(json: Array(Self.everything.utf8)).layout()
        #expect(
            layout.handles == [
                GATTServiceHandles(
                    declaration: 0x0001, end: 0x0020, includes: [0x0003, 0x0004],
                    characteristics: [
                        .init(
                            declaration: 0x0008, value: 0x000A, clientConfiguration: 0x000C,
                            descriptors: [0x000C, 0x000D])
                    ]),
                GATTServiceHandles(
                    declaration: 0x0030, end: 0x0033, includes: [],
                    characteristics: [
                        .init(declaration: 0x0031, value: 0x0032, clientConfiguration: 0x0033, descriptors: [])
                    ]),
            ])
        #expect(layout.definitions[0].includes == [0x0030, 0x0030])
        #expect(
            layout.notifications == [
                .init(handle: 0x0032, time: .zero, origin: .subscription, octets: [1]),
                .init(
                    handle: 0x000A, time: .microseconds(12_500), origin: .connection,
                    octets: [0xE2, 0x81, 0xA6], isIndication: true),
            ])
        var database = GATTDatabase()
        _ = try database.add(layout.definitions)
        #expect(database.value(of: 0x0003) == [0x30, 0x00, 0x33, 0x00, 0x0F, 0x18])
        #expect(database.value(of: 0x000D) == Array("Temperature".utf8))
    }

    @Test("the generic services come first, unless the document defines them, declines them, or names handles")
    func genericServices() throws {
        let short = try DeviceDocument(json: Array(#"{"name": "N", "services": [{"uuid": "180F"}]}"#.utf8))
        #expect(try short.layout().definitions.map(\.uuid) == ["1800", "1801", "180F"])
        #expect(try short.layout().handles.map(\.range) == [0x0001...0x0005, 0x0006...0x000B, 0x000C...0x000C])
        for whole in [
            #"{"services": [{"uuid": "180F", "handle": "0x0001"}]}"#, #"{"services": [{"uuid": "1800"}]}"#,
            #"{"services": [{"uuid": "180F"}], "addsGenericServices": false}"#,
        ] {
            let layout = try DeviceDocument(json: Array(whole.utf8)).layout()
            #expect(layout.handles.map(\.range) == [0x0001...0x0001])
        }
    }

    @Test("a service may end at the last handle, and none may follow it")
    func lastHandle() throws {
        let full = #"{"services": [{"uuid": "180F", "handle": 65535}]}"#
        #expect(try DeviceDocument(json: Array(full.utf8)).layout().handles[0].range == 0xFFFF...0xFFFF)
        let over = #"{"services": [{"uuid": "180F", "handle": 65535}, {"uuid": "180A"}]}"#
        #expect(throws: DocumentError("services[1]", .database(.handleInUse(0xFFFF)))) {
            try DeviceDocument(json: Array(over.utf8))
        }
    }
}
