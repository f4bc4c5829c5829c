import Testing

@testable import ble

@Suite("ble l2cap: the number of a service")
struct PSMTests {
    @Test(
        "A PSM is a number from 1 to 255, and not that of the Enhanced Attribute Protocol",
        arguments: [
            ("1", 1), ("128", 0x80), ("0x80", 0x80), ("0XfF", 0xFF), ("255", 0xFF), ("0x25", 0x25), ("0x27", nil),
            ("39", nil), ("0", nil), ("256", nil), ("0x100", nil), ("-1", nil), ("+1", nil), ("0x", nil), ("0x+1", nil),
            ("", nil), ("any", nil),
        ] as [(String, UInt16?)])
    func number(text: String, expected: UInt16?) {
        #expect(PSM(argument: text)?.number == expected)
        #expect(OfferedPSM(argument: text)?.number == expected)
    }

    @Test("The word any stands for a free PSM")
    func any() {
        guard case .any? = OfferedPSM(argument: "any") else { return #expect(Bool(false)) }
    }
}
