import BluetoothBase
import BluetoothCrypto
import TestSupport
import Testing

struct AESCCMTests {
    private static let key = [UInt8](0xC0...0xCF)
    private static let nonce = bytes("00 00 00 03 02 01 00 A0 A1 A2 A3 A4 A5")
    private static let header = [UInt8](0x00...0x07)
    private static let plaintext = [UInt8](0x08...0x1E)

    @Test("RFC 3610, 8, packet vector 1")
    func packetVector() {
        let sealed = AESCCM().seal(
            Self.plaintext, authenticating: Self.header, key: Self.key, nonce: Self.nonce, tagLength: 8)
        #expect(sealed.ciphertext == bytes("58 8C 97 9A 61 C6 63 D2 F0 66 D0 C2 C0 F9 89 80 6D 5F 6B 61 DA C3 84"))
        #expect(sealed.tag == bytes("17 E8 D1 2C FD F9 26 E0"))
    }

    @Test("RFC 3610, 2: a tag has 4 to 16 octets, and an even number of them", arguments: 0...18)
    func tagLength(_ length: Int) {
        let cipher = AESCCM()
        let isAllowed = [4, 6, 8, 10, 12, 14, 16].contains(length)
        let sealed = cipher.seal(
            Self.plaintext, authenticating: Self.header, key: Self.key, nonce: Self.nonce,
            tagLength: isAllowed ? length : 16)
        let tag = Array((sealed.tag + [0, 0]).prefix(length))
        let opened = cipher.open(
            sealed.ciphertext, authenticating: Self.header, tag: tag, key: Self.key, nonce: Self.nonce)
        #expect(opened == (isAllowed ? Self.plaintext : nil))
    }
}
