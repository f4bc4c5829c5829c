import BluetoothBase
import Testing

@Suite("Hexadecimal")
struct HexadecimalTests {
    @Test(
        "numbers are upper-case and padded, never truncated",
        arguments: [
            (0, 2, "00"), (0xA, 2, "0A"), (0xABC, 2, "ABC"), (0xABC, 4, "0ABC"), (0, 0, "0"),
            (UInt64.max, 16, "FFFFFFFFFFFFFFFF"),
        ] as [(UInt64, Int, String)])
    func numbers(_ value: UInt64, _ digits: Int, _ text: String) {
        #expect(hexadecimal(value, digits: digits) == text)
    }

    @Test("Bytes are joined in upper-case hexadecimal, with or without a separator") func bytesAreJoined() {
        let octets: [UInt8] = [0x01, 0xAB, 0x00]
        #expect(octets.hexadecimal() == "01 AB 00")
        #expect(octets.hexadecimal(separator: "") == "01AB00")
        #expect(octets.span.hexadecimal(separator: ":") == "01:AB:00")
        #expect([UInt8]().hexadecimal() == "")
    }

    @Test(
        "text with or without separators is parsed",
        arguments: [
            ("", []), ("01AB", [0x01, 0xAB]), ("01 ab", [0x01, 0xAB]), ("01:AB\n0f", [0x01, 0xAB, 0x0F]),
            (" 0f ", [0x0F]),
        ] as [(String, [UInt8])])
    func reading(_ text: String, _ octets: [UInt8]) {
        #expect([UInt8](hexadecimal: text) == octets)
    }

    @Test("malformed text is rejected", arguments: ["0", "012", "0 1", "0G", "0x01", "01-02", "0\n1", "é0"])
    func malformed(_ text: String) {
        #expect([UInt8](hexadecimal: text) == nil)
    }
}
