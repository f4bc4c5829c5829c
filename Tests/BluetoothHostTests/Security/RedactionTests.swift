import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Testing

@Suite("No text contains a key")
struct RedactionTests {
    private static let key: UInt128 = 0x0123_4567_89AB_CDEF_1133_5577_99BB_DDFF

    private static let identity = DeviceIdentity(
        address: DeviceAddress(0xC011_2233_4455, kind: .random), resolvingKey: key)
    private static let longTerm = LongTermKey(
        key: key, encryptedDiversifier: 0xABCD, random: UInt64(truncatingIfNeeded: key))
    private static let strength = KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 16)
    private static let element = FieldElement(high: key, low: key)

    private static var result: PairingResult {
        var result = PairingResult(strength: strength, isBonded: true)
        (result.centralKey, result.peripheralKey, result.peerIdentity) = (longTerm, longTerm, identity)
        (result.peerSignatureKey, result.localSignatureKey) = (key, key)
        return result
    }

    private static let bond = Bond(
        peer: PeerID(identity.address), address: identity.address, identity: identity, centralKey: longTerm,
        peripheralKey: longTerm, strength: strength, peerSignature: SignatureKey(key: key, counter: 1),
        localSignature: SignatureKey(key: key, counter: 2), databaseHash: key, servedDatabaseHash: key)

    static let values: [any Sendable] = [
        bond, longTerm, identity, result, SignatureKey(key: key, counter: 3), OutOfBandData.temporaryKey(key),
        OutOfBandData.secureConnections(confirm: key, random: key), OutOfBandRecord(.temporaryKey(key)),
        P256KeyPair(
            privateKey: element,
            publicKey: P256PublicKey(x: FieldElement(high: 1, low: 2), y: FieldElement(high: 3, low: 4))),
        SecurityManagerPDU.encryptionInformation(longTermKey: key), SecurityManagerPDU.pairingRandom(key),
        SecurityManagerPDU.pairingConfirm(key), SecurityManagerPDU.identityInformation(resolvingKey: key),
        SecurityManagerPDU.signingInformation(signatureKey: key), SecurityManagerPDU.pairingDHKeyCheck(key),
        SecurityManagerPDU.centralIdentification(encryptedDiversifier: 0xABCD, random: UInt64(truncatingIfNeeded: key)),
        PairingEffect.encrypt(key: key), PairingEffect.send(.encryptionInformation(longTermKey: key)),
        PairingEffect.ended(.success(result)), [bond], ["bond": bond],
    ]

    @Test("Interpolations, debug descriptions and dumps contain no key", arguments: values.indices)
    func hidden(index: Int) {
        let value = Self.values[index]
        var dumped = ""
        dump(value, to: &dumped)
        for text in ["\(value)", String(reflecting: value), dumped] {
            for secret in Self.secrets { #expect(!text.lowercased().contains(secret), "\(text)") }
            #expect(!text.isEmpty)
        }
    }

    /// The key, and the halves of it that other fields have, in decimal and hexadecimal.
    private static let secrets: [String] = {
        let low = UInt64(truncatingIfNeeded: key)
        return [
            "\(key)", String(key, radix: 16), "\(low)", String(low, radix: 16),
            "\(UInt64(truncatingIfNeeded: key >> 64))",
            "43981",
        ]
    }()

    @Test("Descriptions still identify the value")
    func texts() {
        #expect("\(Self.bond)" == "bond with C0:11:22:33:44:55, passkeyEntry, LE Secure Connections, 16 octets")
        #expect("\(Self.identity)" == "C0:11:22:33:44:55, identity key (hidden)")
        #expect("\(Self.longTerm)" == "long-term key (hidden)")
    }
}
