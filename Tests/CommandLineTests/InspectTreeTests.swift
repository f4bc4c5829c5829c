import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothCommandLine
import Testing

@testable import BLETool

@Suite("ble inspect: the tree")
struct InspectTreeTests {
    @Test("every attribute with its handle, its name and its value")
    func tree() throws {
        var document = try DeviceDocument(json: Array(ReplayTests.device.utf8))
        document.address = DeviceAddress("C0:11:22:33:44:55")
        document.name = "a\u{1B}\u{202E}b"
        document.services.removeLast(2)
        let lines = InspectTree(document, link: "ATT_MTU 247, LE 2M", palette: Palette(isColoured: false)).lines
        #expect(
            lines == [
                #"C0:11:22:33:44:55  "a\u{1B}\u{202E}b""#,
                "ATT_MTU 247, LE 2M",
                "0x0001  service GAP (1800)",
                "  ?  Device Name (2A00)  read",
                "      53 65 6E 73 6F 72 20 1B 5B 33 31 6D",
                "  ?  Appearance (2A01)  read",
                "      40 03  Heart Rate Sensor",
                "0x0010–0x0030  service Health Thermometer (1809)",
                "  0x0012  includes the service at 0x0040",
                "  0x0022  Temperature Measurement (2A1C)  read, indicate",
                "      cannot be read: Insufficient Authentication (0x05)",
                "    ?  Characteristic User Description (2901)  54",
                "    0x0028  Client Characteristic Configuration (2902)",
                "  ?  Intermediate Temperature (2A1E)  notify",
                "    ?  Client Characteristic Configuration (2902)",
                "0x0040  secondary service Battery (180F)",
                "  ?  Battery Level (2A19)  read, notify",
                "      64  100 %",
            ])
    }

    @Test(
        "values are typed, text or octets, and never what a terminal would obey",
        arguments: [
            ("2A00", "48 69", "\"Hi\""), ("2A00", "48 69 00", "48 69 00"), ("2A00", "1B 5B 32 4A", "1B 5B 32 4A"),
            ("2A00", "E2 80 AE 61", "E2 80 AE 61"), ("2A00", "C3 28", "C3 28"), ("2A00", "FF FE", "FF FE"),
            ("2A00", "C2 9B 32 4A", "C2 9B 32 4A"), ("2A00", "00", "00"), ("2A00", "", "empty"),
            ("2A19", "07", "07  7 %"), ("2A19", "07 07", "07 07"), ("2A37", "00 48", "00 48  72 beats/min"),
            ("2900", "01 00", "01 00  reliable write"), ("2904", "04 FE 2F 27 01 00 00", nil),
        ] as [(BluetoothUUID, String, String?)])
    func values(uuid: BluetoothUUID, octets: String, text: String?) throws {
        let octets = try #require([UInt8](hexadecimal: octets))
        let shown = ValueText.text(octets, of: uuid, .init())
        if let text { #expect(shown == text) }
        #expect(shown.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }
}
