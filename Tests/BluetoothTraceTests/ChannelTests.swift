import BluetoothBase
import BluetoothTrace
import TestSupport
import Testing

/// The line for one packet from a new tracer, without time and direction.
func trace(_ packet: String, showsKeys: Bool = false) -> String {
    var tracer = PacketTracer(showsKeys: showsKeys)
    return String(
        tracer.line(for: bytes(packet).span, direction: .hostToController, at: .zero).dropFirst("0.000000 > ".count))
}

/// The same for the payload of one L2CAP PDU, sent whole on link 0x0040; without the link.
func trace(payload: String, on channel: UInt8, showsKeys: Bool = false) -> String {
    let payload = bytes(payload)
    let frame = [UInt8(payload.count), 0, channel, 0] + payload
    let packet = [0x02, 0x40, 0x00, UInt8(frame.count), 0] + frame
    return String(trace(packet.hexadecimal(), showsKeys: showsKeys).dropFirst("ACL 0x0040 ".count))
}

@Suite("Trace: L2CAP channels")
struct ChannelTests {
    @Test(
        "ATT PDUs",
        arguments: [
            ("12 12 00 01 00", "ATT_WRITE_REQ handle 0x0012 value 01 00"),
            ("0B", "ATT_READ_RSP value empty"),
            ("BF 01 02", "ATT opcode 0xBF 01 02"),
            ("12 12", "ATT_WRITE_REQ malformed, truncated at byte 2: 1 more needed: 12 12"),
            ("", "ATT malformed, truncated at byte 0: 1 more needed"),
        ])
    func attribute(_ payload: String, _ text: String) {
        #expect(trace(payload: payload, on: 0x04) == text)
    }

    @Test(
        "signalling commands",
        arguments: [
            ("01 07 02 00 00 00", "COMMAND_REJECT_RSP identifier 7 reason command not understood"),
            ("01 07 04 00 01 00 17 00", "COMMAND_REJECT_RSP identifier 7 reason signalling MTU exceeded (actual 23)"),
            (
                "01 07 06 00 02 00 40 00 51 00",
                "COMMAND_REJECT_RSP identifier 7 reason invalid channel identifier (local 0x0040 remote 0x0051)"
            ),
            ("06 07 04 00 40 00 51 00", "DISCONNECTION_REQ identifier 7 destination 0x0040 source 0x0051"),
            ("07 07 04 00 40 00 51 00", "DISCONNECTION_RSP identifier 7 destination 0x0040 source 0x0051"),
            (
                "12 07 08 00 06 00 0C 00 04 00 F4 01",
                "CONNECTION_PARAMETER_UPDATE_REQ identifier 7 interval 7.5-15 ms, latency 4, timeout 5000 ms"
            ),
            ("13 07 02 00 01 00", "CONNECTION_PARAMETER_UPDATE_RSP identifier 7 result rejected"),
            (
                "14 07 0A 00 80 00 41 00 00 01 40 00 0A 00",
                "LE_CREDIT_BASED_CONNECTION_REQ identifier 7 SPSM 128 source 0x0041 MTU 256 MPS 64 initial credits 10"
            ),
            (
                "15 07 0A 00 42 00 00 02 F7 00 03 00 02 00",
                "LE_CREDIT_BASED_CONNECTION_RSP identifier 7 "
                    + "destination 0x0042 MTU 512 MPS 247 initial credits 3 result 0x0002"
            ),
            ("16 07 04 00 41 00 FF FF", "FLOW_CONTROL_CREDIT_IND identifier 7 channel 0x0041 credits 65535"),
            (
                "17 07 0C 00 27 00 40 00 41 00 01 00 40 00 41 00",
                "CREDIT_BASED_CONNECTION_REQ identifier 7 "
                    + "SPSM 39 MTU 64 MPS 65 initial credits 1 sources [0x0040, 0x0041]"
            ),
            (
                "18 07 0A 00 40 00 40 00 02 00 04 00 40 00",
                "CREDIT_BASED_CONNECTION_RSP identifier 7 "
                    + "MTU 64 MPS 64 initial credits 2 result 0x0004 destinations [0x0040]"
            ),
            (
                "19 07 06 00 80 00 40 00 40 00",
                "CREDIT_BASED_RECONFIGURE_REQ identifier 7 MTU 128 MPS 64 channels [0x0040]"
            ),
            ("1A 07 02 00 02 00", "CREDIT_BASED_RECONFIGURE_RSP identifier 7 result 0x0002"),
            ("0A 07 02 00 02 00", "INFORMATION_REQ identifier 7 02 00"),
        ])
    func signalling(_ payload: String, _ text: String) {
        #expect(trace(payload: payload, on: 0x05) == "L2CAP_" + text)
    }

    @Test(
        "malformed and unknown signalling",
        arguments: [
            ("55 01 00 00", "L2CAP code 0x55 identifier 1"),
            ("", "L2CAP signalling malformed, truncated at byte 0: 1 more needed"),
            (
                "06 07 04 00 40 00",
                "L2CAP_DISCONNECTION_REQ malformed, truncated at byte 6: 2 more needed: 06 07 04 00 40 00"
            ),
            (
                "06 07 02 00 40 00",
                "L2CAP_DISCONNECTION_REQ identifier 7 malformed, truncated at byte 6: 2 more needed: 06 07 02 00 40 00"
            ),
        ])
    func malformedSignalling(_ payload: String, _ text: String) {
        #expect(trace(payload: payload, on: 0x05) == text)
    }

    @Test(
        "Security Manager PDUs",
        arguments: [
            (
                "01 03 00 0D 10 07 00",
                "Pairing Request IO NoInputNoOutput AuthReq bonding+MITM+SC key size 16 "
                    + "initiator EncKey+IdKey+SignKey responder none"
            ),
            (
                "02 04 01 C2 07 00 10",
                "Pairing Response IO KeyboardDisplay OOB AuthReq 0xC2 key size 7 initiator none responder 0x10"
            ),
            (
                "03 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F",
                "Pairing Confirm 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
            ),
            ("07 34 12 00 01 02 03 04 05 06 07", "Central Identification EDIV 0x1234 Rand 00 01 02 03 04 05 06 07"),
            ("09 01 0F 00 00 00 DE C0", "Identity Address Information address C0:DE:00:00:00:0F"),
            (
                "0C" + String(repeating: " 11", count: 32) + String(repeating: " 22", count: 32),
                "Pairing Public Key X" + String(repeating: " 11", count: 32) + " Y"
                    + String(repeating: " 22", count: 32)
            ),
            ("0E 01", "Pairing Keypress Notification digit entered"),
            ("05 0A", "Pairing Failed Invalid Parameters"), ("05 FF", "Pairing Failed 0xFF"),
            ("0B 05", "Security Request AuthReq bonding+MITM"),
            ("0F 00", "code 0x0F 00"), ("00", "code 0x00"), ("FF", "code 0xFF"),
            ("", "malformed, truncated at byte 0: 1 more needed"),
            ("01 03", "Pairing Request malformed, truncated at byte 2: 1 more needed: 01 03"),
            ("02 09 01 C2 07 00 10", "Pairing Response malformed, invalid value at byte 1: 02 09 01 C2 07 00 10"),
            ("05 01 02", "Pairing Failed malformed, 1 unexpected bytes from byte 2: 05 01 02"),
        ])
    func securityManager(_ payload: String, _ text: String) {
        #expect(trace(payload: payload, on: 0x06) == "SMP " + text)
    }

    @Test("distributed keys are shown only on request", arguments: [0x06, 0x08, 0x0A] as [UInt8])
    func keys(_ code: UInt8) {
        let key = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
        let payload = hexadecimal(code) + " " + key
        #expect(trace(payload: payload, on: 0x06).hasSuffix(" Information (hidden)"))
        #expect(trace(payload: payload, on: 0x06, showsKeys: true).hasSuffix(" Information " + key))
        #expect(trace(payload: payload + " 10", on: 0x06).hasSuffix("malformed, 1 unexpected bytes from byte 17"))
    }

    @Test(
        "L5: unknown channels",
        arguments: [(0x3F, "01 02", "L2CAP channel 0x003F 01 02"), (0x41, "", "L2CAP channel 0x0041")]
            as [(UInt8, String, String)])
    func otherChannels(_ channel: UInt8, _ payload: String, _ text: String) {
        #expect(trace(payload: payload, on: channel) == text)
    }
}
