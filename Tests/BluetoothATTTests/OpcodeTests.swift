import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

struct OpcodeTests {
    @Test(
        "A5: every opcode byte has a kind",
        arguments: [
            (ATTOpcode.Kind.request, [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20]),
            (.response, [0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21]),
            (.command, [0x52, 0xD2]),
            (.notification, [0x1B, 0x23]),
            (.indication, [0x1D]),
            (.confirmation, [0x1E]),
        ] as [(ATTOpcode.Kind, [UInt8])])
    func kinds(_ kind: ATTOpcode.Kind, _ known: [UInt8]) {
        for byte in UInt8.min...UInt8.max {
            let actual = ATTOpcode.Kind(ofOpcode: byte)
            if ATTOpcode(rawValue: byte) != nil {
                #expect((actual == kind) == known.contains(byte), "opcode \(byte)")
            } else {
                #expect(!known.contains(byte))
                #expect(actual == (byte & 0x40 != 0 ? .command : .request), "opcode \(byte)")
            }
        }
    }

    @Test func `every opcode byte decodes to its own message, or throws, and never to another`() {
        let parameters = bytes("01 00 02 00 03 00 04 00 05 00 06 00 07 00 08 00 09 00 0A 00")
        for byte in UInt8.min...UInt8.max {
            for length in 0...parameters.count {
                let pdu = [byte] + parameters.prefix(length)
                guard let message = try? ATTMessage(decoding: pdu.span) else {
                    #expect(ATTOpcode(rawValue: byte) != nil, "an unknown opcode never throws")
                    continue
                }
                #expect(message.opcode == byte)
                var writer = ByteWriter()
                message.encode(into: &writer)
                #expect(writer.bytes == pdu)
                if case .unknown = message { #expect(ATTOpcode(rawValue: byte) == nil) }
            }
        }
    }

    @Test(arguments: ATTOpcode.allCases)
    func `a request is answered by the opcode after its own`(_ opcode: ATTOpcode) {
        guard opcode.kind == .request else {
            #expect(opcode.response == nil)
            return
        }
        #expect(opcode.response?.rawValue == opcode.rawValue + 1)
        #expect(opcode.response?.kind == .response)
        #expect(opcode.name.dropLast(3) == opcode.response?.name.dropLast(3) ?? "")
    }

    @Test(arguments: ATTOpcode.allCases)
    func `an opcode's name begins with ATT_ and ends with the suffix of its kind`(_ opcode: ATTOpcode) {
        let suffix =
            switch opcode.kind {
            case .request: "_REQ"
            case .response: "_RSP"
            case .command: "_CMD"
            case .notification: "_NTF"
            case .indication: "_IND"
            case .confirmation: "_CFM"
            }
        #expect(opcode.name.hasPrefix("ATT_"))
        #expect(opcode.name.hasSuffix(suffix))
        #expect(ATTOpcode.name(of: opcode.rawValue) == opcode.name)
    }
}
