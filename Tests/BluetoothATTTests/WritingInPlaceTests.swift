import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

/// Responses that a server writes element by element, without building a list.
struct WritingInPlaceTests {
    @Test func `a Find Information response is written in place, and the UUID determines its format`() {
        let pdu = written {
            FindInformationResponse.begin(format: .init(for: "2800"), into: &$0)
            FindInformationResponse.append(handle: 1, type: "2800", into: &$0)
            FindInformationResponse.append(handle: 2, type: "2803", into: &$0)
        }
        #expect(pdu == bytes("05 01 01 00 00 28 02 00 03 28"))
        #expect(FindInformationResponse.Format(for: "243A0D11-6BA1-4C55-B89A-A1463252C1CF") == .uuid128)
        #expect(FindInformationResponse.Format(for: "0001180D") == .uuid128)
    }

    @Test func `a Find By Type Value response is written in place`() {
        let pdu = written {
            FindByTypeValueResponse.begin(into: &$0)
            FindByTypeValueResponse.append(foundHandle: 0x10, groupEndHandle: 0xFFFF, into: &$0)
        }
        #expect(pdu == bytes("07 10 00 FF FF"))
    }

    @Test func `Read By Type and Read By Group Type responses are written in place`() {
        let value = bytes("0D 18")
        let byType = written {
            ReadByTypeResponse.begin(elementLength: 4, into: &$0)
            ReadByTypeResponse.append(handle: 5, value: value.span, into: &$0)
        }
        #expect(byType == bytes("09 04 05 00 0D 18"))
        let byGroupType = written {
            ReadByGroupTypeResponse.begin(elementLength: 6, into: &$0)
            ReadByGroupTypeResponse.append(handle: 5, endGroupHandle: 9, value: value.span, into: &$0)
        }
        #expect(byGroupType == bytes("11 06 05 00 09 00 0D 18"))
    }

    @Test(
        "read multiple variable, truncated to the available space",
        arguments: [
            (-1, "21"), (0, "21"), (1, "21 03"), (2, "21 03 00"), (4, "21 03 00 AA BB"), (5, "21 03 00 AA BB CC"),
            (99, "21 03 00 AA BB CC"),
        ])
    func readMultipleVariable(_ space: Int, _ expected: String) {
        let value = bytes("AA BB CC")
        let pdu = written {
            ReadMultipleVariableResponse.begin(into: &$0)
            ReadMultipleVariableResponse.append(value: value.span, space: space, into: &$0)
        }
        #expect(pdu == bytes(expected))
    }

    @Test func `a Multiple Handle Value Notification is written in place`() {
        let value = bytes("AA BB"), none: [UInt8] = []
        let pdu = written {
            MultipleHandleValueNotification.begin(into: &$0)
            MultipleHandleValueNotification.append(handle: 3, value: value.span, into: &$0)
            MultipleHandleValueNotification.append(handle: 5, value: none.span, into: &$0)
        }
        #expect(pdu == bytes("23 03 00 02 00 AA BB 05 00 00 00"))
    }

    @Test func `a value too long for its length field is truncated`() {
        let value = [UInt8](repeating: 0x55, count: 65_536)
        let pdu = written { MultipleHandleValueNotification.append(handle: 3, value: value.span, into: &$0) }
        #expect(pdu.count == 4 + 65_535)
        #expect(pdu.prefix(4) == [3, 0, 0xFF, 0xFF])
    }
}
