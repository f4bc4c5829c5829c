import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP signalling: rejected and ignored commands")
struct SignallingRejectTests {
    /// Passes a payload to a new channel of either role, which must treat it alike.
    func expect(_ payload: [UInt8], _ outcome: SignallingOutcome, _ answer: String) {
        for role in LinkRole.allCases {
            var channel = SignallingChannel(role: role)
            var writer = ByteWriter()
            #expect(channel.receive(payload.span, into: &writer) == outcome, "as \(role)")
            #expect(writer.bytes == bytes(answer), "as \(role)")
            #expect(channel.nextDeadline == nil)
        }
    }

    @Test(
        "L6, L2CAP/LE/REJ/BI-02: commands unknown on this link are rejected as not understood",
        arguments: [
            "55 01 00 00", "FF 01 00 00", "00 01 00 00", "02 01 04 00 01 00 40 00", "04 01 04 00 40 00 00 00",
            "08 01 00 00", "0A 01 02 00 02 00", "0C 01 00 00", "0E 01 00 00", "10 01 00 00", "1B 01 00 00",
            "1C 01 00 00",
            "1D 01 00 00", "7F 01 00 00", "C3 01 00 00", "55 01 03 00 01 02 03",
        ])
    func notUnderstood(_ payload: String) {
        expect(bytes(payload), .rejected(.commandNotUnderstood), "01 01 02 00 00 00")
    }

    @Test(
        "L6, L12, L2CAP/COS/CED/BI-29: an unsolicited response is never answered",
        arguments: SignallingCode.allCases.filter(\.isResponse))
    func responses(_ code: SignallingCode) {
        for rest in ["", "00", "01 00", "02 00 00 00", "02 00 01 00", "0A 00 40 00", "FF FF 00", "04 00 00 00 00 00"] {
            expect([code.rawValue, 1] + bytes(rest), .ignored, "")
        }
        expect([code.rawValue, 1] + [UInt8](repeating: 0, count: 60), .ignored, "")
    }

    @Test("L4: a payload without code and identifier is ignored", arguments: ["", "12", "06", "55", "13"])
    func empty(_ payload: String) {
        expect(bytes(payload), .ignored, "")
    }

    @Test(
        "L7: identifier 0 is illegal, and the command is ignored",
        arguments: ["55 00 00 00", "12 00 08 00 18 00 28 00 00 00 F4 01", "06 00 04 00 40 00 41 00"])
    func identifierZero(_ payload: String) {
        expect(bytes(payload), .ignored, "")
    }

    @Test(
        "L7: a command with a wrong length is rejected as not understood",
        arguments: [
            // No room for the length field.
            "12 09", "12 09 08", "55 09 00",
            // Longer than the PDU, and shorter.
            "12 09 09 00 18 00 28 00 00 00 F4 01", "12 09 07 00 18 00 28 00 00 00 F4 01", "12 09 FF FF 18 00",
            "06 09 08 00 40 00 41 00", "16 09 05 00 40 00 01 00",
            // Consistent, but not what the command needs: nothing, too little, too much.
            "12 09 00 00", "12 09 07 00 18 00 28 00 00 00 F4", "12 09 09 00 18 00 28 00 00 00 F4 01 00",
            "14 09 09 00 80 00 50 00 64 00 17 00 02", "14 09 0B 00 80 00 50 00 64 00 17 00 02 00 00",
            "17 09 07 00 80 00 64 00 40 00 02", "19 09 03 00 64 00 40", "06 09 03 00 40 00 41",
            "06 09 05 00 40 00 41 00 00", "16 09 03 00 40 00 01", "16 09 05 00 40 00 01 00 00",
            // Two commands in one C-frame.
            "12 09 08 00 18 00 28 00 00 00 F4 01 55 02 00 00", "55 09 00 00 55 02 00 00",
        ])
    func lengths(_ payload: String) {
        expect(bytes(payload), .rejected(.commandNotUnderstood), "01 09 02 00 00 00")
    }

    @Test("L7: a C-frame above the signalling MTU of 23 is rejected with that MTU", arguments: [24, 25, 672, 65535])
    func signallingMTU(_ count: Int) {
        for start in ["12 03 08 00", "55 03 FF FF", "16 03 04 00", "14 03 14 00"] {
            let payload = bytes(start) + [UInt8](repeating: 0, count: count - 4)
            expect(payload, .rejected(.signallingMTUExceeded(actual: 23)), "01 03 04 00 01 00 17 00")
        }
    }

    @Test("a C-frame of exactly 23 octets is processed")
    func atTheSignallingMTU() {
        let payload = bytes("55 03 13 00") + [UInt8](repeating: 0, count: 19)
        expect(payload, .rejected(.commandNotUnderstood), "01 03 02 00 00 00")
    }

    @Test(
        "L13: a request to close a nonexistent or fixed channel is rejected",
        arguments: [(0x04, 0x04), (0x05, 0x05), (0x06, 0x06), (0x40, 0x51), (0x00, 0x00)] as [(UInt8, UInt8)])
    func disconnection(_ destination: UInt8, _ source: UInt8) {
        let reason = CommandReject.Reason.invalidChannelIdentifier(
            local: ChannelIdentifier(UInt16(destination)), remote: ChannelIdentifier(UInt16(source)))
        expect(
            [0x06, 0x01, 0x04, 0x00, destination, 0x00, source, 0x00], .rejected(reason),
            "01 01 06 00 02 00 \(hexadecimal(destination)) 00 \(hexadecimal(source)) 00")
    }

    @Test(
        "L14: credits for an unknown channel are ignored",
        arguments: ["41 00 01 00", "41 00 00 00", "04 00 FF FF"])
    func credits(_ data: String) {
        expect(bytes("16 01 04 00" + data), .ignored, "")
    }
}
