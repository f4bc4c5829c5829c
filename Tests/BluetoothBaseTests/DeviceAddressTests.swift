import BluetoothBase
import TestSupport
import Testing

@Suite("Device addresses")
struct DeviceAddressTests {
    @Test(
        "text is parsed, and the description parses back to the same address",
        arguments: [
            ("C0:11:22:33:44:55", DeviceAddress(0xC011_2233_4455, kind: .random), "C0:11:22:33:44:55"),
            ("ff:ee:dd:cc:bb:aa", DeviceAddress(0xFFEE_DDCC_BBAA, kind: .random), "FF:EE:DD:CC:BB:AA"),
            ("00:11:22:33:44:55", DeviceAddress(0x0011_2233_4455, kind: .public), "00:11:22:33:44:55/P"),
            ("00:11:22:33:44:55/P", DeviceAddress(0x0011_2233_4455, kind: .public), "00:11:22:33:44:55/P"),
            ("C0:11:22:33:44:55/p", DeviceAddress(0xC011_2233_4455, kind: .public), "C0:11:22:33:44:55/P"),
            ("C0:11:22:33:44:55/public", DeviceAddress(0xC011_2233_4455, kind: .public), "C0:11:22:33:44:55/P"),
            ("40:11:22:33:44:55/R", DeviceAddress(0x4011_2233_4455, kind: .random), "40:11:22:33:44:55/R"),
            ("40:11:22:33:44:55/random", DeviceAddress(0x4011_2233_4455, kind: .random), "40:11:22:33:44:55/R"),
        ])
    func text(_ input: String, _ address: DeviceAddress, _ output: String) {
        #expect(DeviceAddress(input) == address)
        #expect(address.description == output)
        #expect(DeviceAddress(output) == address)
    }

    @Test(
        "malformed text is rejected",
        arguments: [
            "", "C0:11:22:33:44", "C0:11:22:33:44:5", "C0:11:22:33:44:55:66", "C0-11-22-33-44-55", "C01122334455",
            "C0:11:22:33:44:5G", "C0:11:22:33:44:+5", " C0:11:22:33:44:55", "C0:11:22:33:44:55/", "C0:11:22:33:44:55/X",
            "C0:11:22:33:44:55/P/P", "/P", "C0::11:22:33:44:5", "C:011:22:33:44:55",
        ])
    func malformed(_ input: String) {
        #expect(DeviceAddress(input) == nil)
    }

    @Test(
        "the top two bits of a random address determine its kind",
        arguments: [
            (0xC000_0000_0000, .random, .static, true), (0x4000_0000_0000, .random, .resolvablePrivate, false),
            (0x0000_0000_0001, .random, .nonResolvablePrivate, false), (0x8000_0000_0000, .random, .reserved, false),
            (0xC000_0000_0000, .randomIdentity, .static, true), (0xC000_0000_0000, .public, nil, true),
            (0x4000_0000_0000, .publicIdentity, nil, true),
        ] as [(UInt64, DeviceAddress.Kind, DeviceAddress.RandomKind?, Bool)])
    func kinds(_ value: UInt64, _ kind: DeviceAddress.Kind, _ random: DeviceAddress.RandomKind?, _ isIdentity: Bool) {
        let address = DeviceAddress(value, kind: kind)
        #expect(address.randomKind == random)
        #expect(address.isIdentity == isIdentity)
    }

    @Test("An address keeps only the low 48 bits of its value") func onlyFortyEightBitsCount() {
        #expect(DeviceAddress(0xFFFF_0011_2233_4455, kind: .public).value == 0x0011_2233_4455)
    }

    @Test("addresses are encoded least significant byte first", arguments: 0...3 as ClosedRange<UInt8>)
    func octets(_ kind: UInt8) throws {
        let address = DeviceAddress(0xC011_2233_4455, kind: try #require(DeviceAddress.Kind(rawValue: kind)))
        #expect(written { $0.append(address) } == bytes("55 44 33 22 11 C0"))
        let typed = written { $0.appendTyped(address) }
        #expect(typed == [kind] + bytes("55 44 33 22 11 C0"))
        var reader = ByteReader(typed.span)
        let decoded = try reader.readTypedAddress()
        #expect(decoded == address)
        #expect(reader.remaining == 0)
    }

    @Test(
        "an unknown type and a truncated address are rejected",
        arguments: [
            ("04 55 44 33 22 11 C0", DecodingFailure(.invalidValue, at: 0)),
            ("FF 55 44 33 22 11 C0", DecodingFailure(.invalidValue, at: 0)),
            ("01 55 44 33 22 11", DecodingFailure(.truncated(missing: 1), at: 6)),
            ("01", DecodingFailure(.truncated(missing: 6), at: 1)),
            ("", DecodingFailure(.truncated(missing: 1), at: 0)),
        ])
    func badOctets(_ text: String, _ expected: DecodingFailure) {
        let input = bytes(text)
        var reader = ByteReader(input.span)
        var failure: DecodingFailure?
        do throws(DecodingFailure) { _ = try reader.readTypedAddress() } catch { failure = error }
        #expect(failure == expected)
    }
}
