import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

/// Every PDU as bytes and as text. The text is made from the decoded fields, so a line of this table fails if decoding,
/// encoding or either opcode table is wrong.
struct PDURoundTripTests {
    @Test(
        arguments: [
            ("01 0A 03 00 02", "ATT_ERROR_RSP ATT_READ_REQ handle 0x0003: Read Not Permitted (0x02)"),
            ("01 BF 00 00 06", "ATT_ERROR_RSP ATT opcode 0xBF handle 0x0000: Request Not Supported (0x06)"),
            ("02 05 02", "ATT_EXCHANGE_MTU_REQ client Rx MTU 517"),
            ("03 17 00", "ATT_EXCHANGE_MTU_RSP server Rx MTU 23"),
            ("04 01 00 FF FF", "ATT_FIND_INFORMATION_REQ handles 0x0001...0xFFFF"),
            ("05 01 01 00 00 28 02 00 03 28", "ATT_FIND_INFORMATION_RSP 0x0001 2800, 0x0002 2803"),
            (
                "05 02 03 00 CF C1 52 32 46 A1 9A B8 55 4C A1 6B 11 0D 3A 24",
                "ATT_FIND_INFORMATION_RSP 0x0003 243A0D11-6BA1-4C55-B89A-A1463252C1CF"
            ),
            (
                "06 01 00 FF FF 00 28 0D 18",
                "ATT_FIND_BY_TYPE_VALUE_REQ handles 0x0001...0xFFFF type 2800 value 0D 18"
            ),
            ("06 01 00 FF FF 00 2A", "ATT_FIND_BY_TYPE_VALUE_REQ handles 0x0001...0xFFFF type 2A00 value empty"),
            ("07 10 00 1F 00 20 00 FF FF", "ATT_FIND_BY_TYPE_VALUE_RSP 0x0010...0x001F, 0x0020...0xFFFF"),
            ("08 05 00 09 00 03 28", "ATT_READ_BY_TYPE_REQ handles 0x0005...0x0009 type 2803"),
            (
                "08 05 00 09 00 CF C1 52 32 46 A1 9A B8 55 4C A1 6B 11 0D 3A 24",
                "ATT_READ_BY_TYPE_REQ handles 0x0005...0x0009 type 243A0D11-6BA1-4C55-B89A-A1463252C1CF"
            ),
            ("09 03 05 00 AA 07 00 BB", "ATT_READ_BY_TYPE_RSP 0x0005 AA, 0x0007 BB"),
            ("09 02 05 00 07 00", "ATT_READ_BY_TYPE_RSP 0x0005 empty, 0x0007 empty"),
            ("0A 03 00", "ATT_READ_REQ handle 0x0003"),
            ("0B 01 02 03", "ATT_READ_RSP value 01 02 03"),
            ("0B", "ATT_READ_RSP value empty"),
            ("0C 03 00 16 01", "ATT_READ_BLOB_REQ handle 0x0003 offset 278"),
            ("0D", "ATT_READ_BLOB_RSP value empty"),
            ("0D FF", "ATT_READ_BLOB_RSP value FF"),
            ("0E 03 00 05 00", "ATT_READ_MULTIPLE_REQ handles 0x0003, 0x0005"),
            ("0F 01 02", "ATT_READ_MULTIPLE_RSP values 01 02"),
            ("10 01 00 FF FF 00 28", "ATT_READ_BY_GROUP_TYPE_REQ handles 0x0001...0xFFFF type 2800"),
            (
                "11 06 01 00 05 00 00 18 06 00 FF FF 0D 18",
                "ATT_READ_BY_GROUP_TYPE_RSP 0x0001...0x0005 00 18, 0x0006...0xFFFF 0D 18"
            ),
            ("12 03 00 01", "ATT_WRITE_REQ handle 0x0003 value 01"),
            ("12 03 00", "ATT_WRITE_REQ handle 0x0003 value empty"),
            ("13", "ATT_WRITE_RSP"),
            ("16 03 00 12 00 AB CD", "ATT_PREPARE_WRITE_REQ handle 0x0003 offset 18 value AB CD"),
            ("17 03 00 12 00 AB CD", "ATT_PREPARE_WRITE_RSP handle 0x0003 offset 18 value AB CD"),
            ("18 00", "ATT_EXECUTE_WRITE_REQ cancel"),
            ("18 01", "ATT_EXECUTE_WRITE_REQ write"),
            ("19", "ATT_EXECUTE_WRITE_RSP"),
            ("1B 03 00 48 65", "ATT_HANDLE_VALUE_NTF handle 0x0003 value 48 65"),
            ("1D 03 00 48 65", "ATT_HANDLE_VALUE_IND handle 0x0003 value 48 65"),
            ("1E", "ATT_HANDLE_VALUE_CFM"),
            ("20 03 00 05 00 07 00", "ATT_READ_MULTIPLE_VARIABLE_REQ handles 0x0003, 0x0005, 0x0007"),
            ("21 02 00 AA BB 00 00", "ATT_READ_MULTIPLE_VARIABLE_RSP value AA BB, value empty"),
            ("21 01 00 AA 05 00 BB", "ATT_READ_MULTIPLE_VARIABLE_RSP value AA, value BB of 5"),
            ("21 01 00 AA 05", "ATT_READ_MULTIPLE_VARIABLE_RSP value AA"),
            (
                "23 03 00 01 00 AA 05 00 00 00",
                "ATT_MULTIPLE_HANDLE_VALUE_NTF handle 0x0003 value AA, handle 0x0005 value empty"
            ),
            ("52 03 00 01", "ATT_WRITE_CMD handle 0x0003 value 01"),
            (
                "D2 03 00 01 01 00 00 00 11 22 33 44 55 66 77 88",
                "ATT_SIGNED_WRITE_CMD handle 0x0003 value 01 signature 01 00 00 00 11 22 33 44 55 66 77 88"
            ),
            ("BF 01", "ATT opcode 0xBF 01"),
            ("7F", "ATT opcode 0x7F"),
        ])
    func `a PDU decodes to the expected fields, and encodes to the same bytes`(_ hexadecimal: String, _ text: String)
        throws
    {
        let pdu = bytes(hexadecimal)
        let message = try ATTMessage(decoding: pdu.span)
        #expect(message.description == text)
        #expect(message.opcode == pdu[0])
        var writer = ByteWriter()
        message.encode(into: &writer)
        #expect(writer.bytes == pdu)
    }
}
