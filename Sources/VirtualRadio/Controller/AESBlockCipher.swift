import Crypto
import CryptoExtras

/// AES-128 on one block, the security function e of the link layer (Core 5.4, Vol 6, Part C, 1; Vol 3, Part H, 2.2.1).
enum AESBlockCipher {
    /// Encrypts a block. The integers are in the order of HCI; AES takes the most significant octet first.
    @Sendable
    static func encrypt(key: UInt128, plaintext: UInt128) -> UInt128 {
        var block = octets(plaintext)
        do {
            try AES.permute(&block, key: SymmetricKey(data: octets(key)))
        } catch {
            // Only a key or a block of the wrong length can be refused.
            preconditionFailure("AES refused a block of 16 octets: \(error)")
        }
        return block.reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static func octets(_ number: UInt128) -> [UInt8] {
        (0..<16).reversed().map { UInt8(truncatingIfNeeded: number >> UInt128(8 * $0)) }
    }
}
