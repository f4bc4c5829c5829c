import BluetoothBase
import TestSupport
import Testing

@Suite("Bluetooth UUIDs")
struct BluetoothUUIDTests {
    @Test(
        "UUIDs are parsed from any form and written in the shortest",
        arguments: [
            ("180D", "180D"), ("180d", "180D"), ("0000180D", "180D"), ("0000180D-0000-1000-8000-00805F9B34FB", "180D"),
            ("12345678", "12345678"), ("12345678-0000-1000-8000-00805f9b34fb", "12345678"),
            ("E07F0AE8-00BB-47F5-94F4-4A7174EA3032", "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"),
        ])
    func text(_ input: String, _ output: String) {
        #expect(BluetoothUUID(input)?.description == output)
    }

    @Test(
        "malformed text is rejected",
        arguments: [
            "", "18", "180", "180G", "+80D", "180D0", "0000180D-0000-1000-8000-00805F9B34F",
            "0000180D00001000800000805F9B34FB",
            "0000180-D0000-1000-8000-00805F9B34FB", "E07F0AE8-00BB-47F5-94F4-4A7174EA303Z",
        ])
    func malformed(_ input: String) {
        #expect(BluetoothUUID(input) == nil)
    }

    @Test("UUIDs are encoded least significant byte first") func bytesAreLittleEndian() throws {
        let uuid: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
        let encoded = written { $0.append(uuid) }
        #expect(encoded == bytes("32 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0"))
        var reader = ByteReader(encoded.span)
        let decoded = try reader.readUUID(length: 16)
        #expect(decoded == uuid)
        #expect(written { $0.append(BluetoothUUID(0x180D)) } == bytes("0D 18"))
    }
}
