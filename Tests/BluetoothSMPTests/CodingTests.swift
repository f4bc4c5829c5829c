import BluetoothBase
import BluetoothSMP
import Testing

/// PDUs in their octets (Core 5.4, Vol 3, Part H, 3.3 to 3.6).
struct CodingTests {
    static let key = P256PublicKey(
        x: FieldElement(
            high: 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10, low: 0x1112_1314_1516_1718_191A_1B1C_1D1E_1F20),
        y: FieldElement(high: 0x2122_2324_2526_2728_292A_2B2C_2D2E_2F30, low: 0x3132_3334_3536_3738_393A_3B3C_3D3E_3F40)
    )
    static let value: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100
    static let valueText = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
    static let features = PairingFeatures(
        ioCapability: .keyboardDisplay, hasOutOfBandData: true,
        requirements: [.bonding, .mitmProtection, .secureConnections],
        maximumKeySize: 16, initiatorKeys: [.identity], responderKeys: [.encryption, .identity, .signing])

    static let table: [(SecurityManagerPDU, String)] = [
        (.pairingRequest(features), "01 04 01 0D 10 02 07"),
        (.pairingResponse(features), "02 04 01 0D 10 02 07"),
        (.pairingConfirm(value), "03 " + valueText),
        (.pairingRandom(value), "04 " + valueText),
        (.pairingFailed(.repeatedAttempts), "05 09"),
        (.encryptionInformation(longTermKey: value), "06 " + valueText),
        (
            .centralIdentification(encryptedDiversifier: 0x1234, random: 0x0102_0304_0506_0708),
            "07 34 12 08 07 06 05 04 03 02 01"
        ),
        (.identityInformation(resolvingKey: value), "08 " + valueText),
        (.identityAddressInformation(DeviceAddress(0xC011_2233_4455, kind: .random)), "09 01 55 44 33 22 11 C0"),
        (.signingInformation(signatureKey: value), "0A " + valueText),
        (.securityRequest([.bonding, .keypress]), "0B 11"),
        (
            .pairingPublicKey(key),
            "0C " + (1...32).reversed().map { hexadecimal($0) }.joined(separator: " ") + " "
                + (33...64).reversed().map { hexadecimal($0) }.joined(separator: " ")
        ),
        (.pairingDHKeyCheck(value), "0D " + valueText),
        (.pairingKeypressNotification(.entryCompleted), "0E 04"),
    ]

    @Test(arguments: 0..<table.count)
    func `Every PDU round-trips, and a shorter or longer one is rejected`(_ index: Int) throws {
        let (pdu, text) = Self.table[index]
        let octets = try #require([UInt8](hexadecimal: text))
        #expect(pdu.octets == octets)
        #expect(try SecurityManagerPDU(decoding: octets.span) == pdu)
        for length in 1..<octets.count {
            #expect(throws: DecodingFailure(.truncated(missing: missing(octets, length)), at: length)) {
                try SecurityManagerPDU(decoding: Array(octets[..<length]).span)
            }
        }
        #expect(throws: DecodingFailure(.trailingBytes(count: 1), at: octets.count)) {
            try SecurityManagerPDU(decoding: (octets + [0]).span)
        }
    }

    /// How many octets the field lacks in which the PDU breaks off.
    private func missing(_ octets: [UInt8], _ length: Int) -> Int {
        var fields: [Int]
        switch octets[0] {
        case 0x01, 0x02: fields = Array(repeating: 1, count: 6)
        case 0x05, 0x0B, 0x0E: fields = [1]
        case 0x07: fields = [2, 8]
        case 0x09: fields = [1, 6]
        case 0x0C: fields = Array(repeating: 8, count: 8)
        default: fields = [8, 8]
        }
        var rest = length - 1
        while let first = fields.first, rest >= first {
            rest -= first
            fields.removeFirst()
        }
        return (fields.first ?? 0) - rest
    }

    @Test func `Reserved bits are ignored, and sent as 0`() throws {
        let octets: [UInt8] = [0x01, 0x03, 0x00, 0xC2 | 0x3D, 0x10, 0xF7, 0xFF]
        let pdu = try SecurityManagerPDU(decoding: octets.span)
        #expect(pdu.octets == [0x01, 0x03, 0x00, 0x3D, 0x10, 0x07, 0x0F])
        #expect(try SecurityManagerPDU(decoding: [0x0B, 0xFF].span).octets == [0x0B, 0x3D])
    }

    @Test(arguments: [
        "01 05 00 01 10 00 00", "02 FF 00 01 10 00 00", "01 03 02 01 10 00 00", "09 04 00 00 00 00 00 00", "0E 05",
    ])
    func `Undefined values are rejected as invalid`(_ text: String) throws {
        let octets = try #require([UInt8](hexadecimal: text))
        #expect { try SecurityManagerPDU(decoding: octets.span) } throws: {
            ($0 as? DecodingFailure)?.reason == .invalidValue
        }
    }
}
