import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothCommandLine
import Testing

@testable import ble

@Suite("ble inspect: the tree")
struct InspectTreeTests {
    @Test("every attribute is shown with its handle, its name and its value")
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

    @Test("long values are wrapped only on a terminal")
    func wrapping() throws {
        let octets = (0..<40).map { "0\($0 % 10)" }.joined(separator: " ")
        let text =
            #"{"services":[{"uuid":"FF00","characteristics":[{"uuid":"FF01","properties":["read"],"value":"\#(octets)","#
            + #""descriptors":[{"uuid":"FF02","value":"\#(octets)"}]}]}],"addsGenericServices":false}"#
        let document = try DeviceDocument(json: Array(text.utf8))
        let plain = InspectTree(document, palette: Palette(isColoured: false)).lines
        #expect(plain.contains("      " + octets) && plain.contains { $0.hasSuffix("FF02  " + octets) })
        let lines = InspectTree(document, palette: Palette(isColoured: true), columns: 60).lines
        let values = lines.filter { $0.hasPrefix("      0") || $0.hasPrefix("        0") }
        #expect(values.map(\.count) == [59, 59, 17, 58, 58, 25])
        #expect(values.joined(separator: " ").split(separator: " ").joined(separator: " ") == octets + " " + octets)
    }

    @Test(
        "text is broken at spaces, and within words only if necessary",
        arguments: [
            ("", 5, [""]), ("abc", 5, ["abc"]), ("ab cd ef", 5, ["ab cd", "ef"]),
            ("abcdefgh", 3, ["abc", "def", "gh"]),
            ("a bcdefg", 4, ["a", "bcde", "fg"]), ("日本語", 4, ["日本", "語"]), ("a  b", 10, ["a  b"]),
        ])
    func wrapped(_ text: String, _ columns: Int, _ lines: [String]) {
        #expect(CellText.wrapped(text, to: columns) == lines)
    }

    @Test("the attributes found and read so far are counted")
    func progress() throws {
        var survey = DatabaseSurvey()
        #expect(DeviceRecording.progressText(survey) == nil)
        survey.take(.failure(ATTError(.requestNotSupported, for: .exchangeMTURequest, at: AttributeHandle(0))))
        let handles = 0x0002...0x0004 as ClosedRange<UInt16>
        for _ in 0..<2 { survey.take(.success(.services([]))) }
        survey.take(
            .success(.descriptors(handles.map { DiscoveredDescriptor(uuid: "2A19", handle: AttributeHandle($0)) })))
        #expect(DeviceRecording.progressText(survey) == "the device's services, 3 attributes found")
        survey.take(.success(.characteristics([])))
        survey.take(.success(.includes([])))
        survey.take(.success(.value([1])))
        #expect(DeviceRecording.progressText(survey) == "the device's values, 1 of 3 attributes read")
    }

    @Test(
        "values are shown as fields, as text or as octets, without control characters",
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
