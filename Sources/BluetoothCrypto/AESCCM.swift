import BluetoothSMP
import BluetoothValues

/// AES-CCM with a 128-bit key (RFC 3610), on the block cipher of `LibraryToolbox`. One implementation serves both
/// libraries, because swift-crypto does not provide this mode. Traps if the library cannot be used.
public struct AESCCM: AdvertisingCipher {
    private static let blockLength = 16

    /// Creates a cipher. It holds no state, because each call passes its own key and nonce.
    public init() {}

    /// Encrypts the plaintext, and computes a tag of `tagLength` octets, 4 to 16 and even, over it and the associated
    /// data, which has less than 65,280. Traps on another length of the tag, and unless the key has 16 octets and the
    /// nonce 7 to 13. The ciphertext is as long as the plaintext.
    public func seal(
        _ plaintext: [UInt8], authenticating associatedData: [UInt8], key: [UInt8], nonce: [UInt8], tagLength: Int
    ) -> (ciphertext: [UInt8], tag: [UInt8]) {
        precondition(Self.isTagLength(tagLength), "a tag has 4 to 16 octets, and an even number of them")
        let blocks = Blocks(key: key, nonce: nonce)
        let code = blocks.authenticator(of: plaintext, associatedData, tagLength: tagLength)
        let tag = zip(code, blocks.stream(0)).map { $0 ^ $1 }
        return (blocks.crypt(plaintext), Array(tag.prefix(tagLength)))
    }

    /// Decrypts the ciphertext; nil if the tag does not match, or has a length that no sender produces. Traps on a key
    /// or a nonce of the wrong length.
    public func open(
        _ ciphertext: [UInt8], authenticating associatedData: [UInt8], tag: [UInt8], key: [UInt8], nonce: [UInt8]
    ) -> [UInt8]? {
        // A tag of no octets would match any ciphertext.
        guard Self.isTagLength(tag.count) else { return nil }
        let blocks = Blocks(key: key, nonce: nonce)
        let plaintext = blocks.crypt(ciphertext)
        let code = blocks.authenticator(of: plaintext, associatedData, tagLength: tag.count)
        let expected = zip(code, blocks.stream(0)).map { $0 ^ $1 }
        // Takes the same time wherever the tags differ.
        let difference = zip(expected, tag).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? plaintext : nil
    }

    /// RFC 3610, 2.
    private static func isTagLength(_ count: Int) -> Bool { (4...16).contains(count) && count.isMultiple(of: 2) }

    /// The block cipher with a key, for blocks that begin with a nonce.
    private struct Blocks {
        private let cipher: any BlockCipher
        private let nonce: [UInt8]
        /// The length of the message length field in octets: the octets that the nonce leaves.
        private var lengthOctets: Int { blockLength - 1 - nonce.count }

        init(key: [UInt8], nonce: [UInt8]) {
            precondition(key.count == blockLength && (7...13).contains(nonce.count))
            cipher = LibraryToolbox().blockCipher(key: UInt128(bigEndianOctets: key[...]))
            self.nonce = nonce
        }

        private func encrypt(_ block: UInt128) -> UInt128 {
            var blocks = [block]
            cipher.encrypt(&blocks)
            return blocks[0]
        }

        private func encrypt(_ block: [UInt8]) -> UInt128 { encrypt(UInt128(bigEndianOctets: block[...])) }

        private func block(flags: UInt8, _ number: Int) -> [UInt8] {
            [flags] + nonce + (0..<lengthOctets).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }

        /// RFC 3610, 2.2.
        func authenticator(of message: [UInt8], _ associatedData: [UInt8], tagLength: Int) -> [UInt8] {
            let isPresent: UInt8 = associatedData.isEmpty ? 0 : 0x40
            let flags = isPresent | UInt8(((tagLength - 2) / 2) << 3 | (lengthOctets - 1))
            var code = encrypt(block(flags: flags, message.count))
            if !associatedData.isEmpty {
                let length = [
                    UInt8(truncatingIfNeeded: associatedData.count >> 8),
                    UInt8(truncatingIfNeeded: associatedData.count),
                ]
                code = chain(code, length + associatedData)
            }
            return chain(code, message).bigEndianOctets
        }

        /// Adds octets, padded with zeros, to an authentication code.
        private func chain(_ code: UInt128, _ message: [UInt8]) -> UInt128 {
            stride(from: 0, to: message.count, by: blockLength).reduce(code) { code, start in
                let part = Array(message[start..<min(start + blockLength, message.count)])
                let padded = part + [UInt8](repeating: 0, count: blockLength - part.count)
                return encrypt(code ^ UInt128(bigEndianOctets: padded[...]))
            }
        }

        /// RFC 3610, 2.3.
        func stream(_ number: Int) -> [UInt8] {
            encrypt(block(flags: UInt8(lengthOctets - 1), number)).bigEndianOctets
        }

        func crypt(_ message: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            for start in stride(from: 0, to: message.count, by: blockLength) {
                let part = message[start..<min(start + blockLength, message.count)]
                result += zip(part, stream(start / blockLength + 1)).map { $0 ^ $1 }
            }
            return result
        }
    }
}
