import BluetoothATT
import Testing

struct ErrorCodeTests {
    @Test(
        arguments: [
            (0x00, "Reserved (0x00)"), (0x01, "Invalid Handle (0x01)"), (0x13, "Value Not Allowed (0x13)"),
            (0x14, "Reserved (0x14)"), (0x7F, "Reserved (0x7F)"), (0x80, "Application Error (0x80)"),
            (0x9F, "Application Error (0x9F)"), (0xA0, "Reserved (0xA0)"), (0xDF, "Reserved (0xDF)"),
            (0xE0, "Common Profile Error (0xE0)"), (0xFC, "Write Request Rejected (0xFC)"),
            (0xFF, "Out of Range (0xFF)"),
        ] as [(UInt8, String)])
    func `an error code is described by its name or range, and its value`(_ code: UInt8, _ text: String) {
        #expect(ATTErrorCode(rawValue: code).description == text)
    }

    @Test func `only codes 0x01 to 0x13 and 0xFC to 0xFF have names, and each name is unique`() {
        let names = (UInt8.min...UInt8.max).compactMap { code in
            ATTErrorCode(rawValue: code).name.map { (code, $0) }
        }
        #expect(names.map(\.0) == Array(0x01...0x13) + Array(0xFC...0xFF))
        #expect(Set(names.map(\.1)).count == names.count)
    }
}
