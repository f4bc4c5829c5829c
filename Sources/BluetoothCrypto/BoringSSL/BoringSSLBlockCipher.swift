#if BoringSSL
import BluetoothSMP
import Crypto
import CryptoExtras
import FoundationEssentials

/// AES-128 with a key stored as a `SymmetricKey` of swift-crypto.
///
/// swift-crypto expands the key in each call, and has no call for several independent blocks. Decryption in CFB mode
/// serves as one: for each ciphertext block C, it computes E(previous block) ^ C. The first block is passed as the
/// initialization vector, and the others, followed by a block of zeros, as the ciphertext. One call with one key
/// expansion then encrypts them all. The computation is BoringSSL's, which uses the hardware if it can, and otherwise
/// takes the same time for all keys.
struct BoringSSLBlockCipher: BlockCipher {
    private let key: SymmetricKey

    /// The number of blocks from which one call for all of them costs less than one call for each.
    private static let worthwhileCount = 6

    init(key: UInt128) {
        self.key = withUnsafeBytes(of: key.bigEndian) { SymmetricKey(data: $0) }
    }

    func encrypt(_ block: UInt128) -> UInt128 {
        var octets = block.bigEndian
        withUnsafeMutableBytes(of: &octets) { octets in
            var octets = octets
            do {
                try AES.permute(&octets, key: key)
            } catch {
                // Only a key or a block of the wrong length can cause an error.
                preconditionFailure("AES rejected a block of 16 octets: \(error)")
            }
        }
        return UInt128(bigEndian: octets)
    }

    func encrypt(_ blocks: inout [UInt128]) {
        guard blocks.count >= Self.worthwhileCount else {
            for index in blocks.indices { blocks[index] = encrypt(blocks[index]) }
            return
        }
        // With the buffer's address, the loops below don't check at each block whether the array is shared.
        blocks.withUnsafeMutableBufferPointer { blocks in
            let first = blocks[0].bigEndian
            for index in 1..<blocks.count { blocks[index - 1] = blocks[index].bigEndian }
            blocks[blocks.count - 1] = 0
            let result: Data
            do {
                let vector = try withUnsafeBytes(of: first) { try AES._CFB.IV(ivBytes: $0) }
                result = try AES._CFB.decrypt(UnsafeRawBufferPointer(blocks), using: key, iv: vector)
            } catch {
                // Only a key or a vector of the wrong length can cause an error.
                preconditionFailure("AES rejected whole blocks: \(error)")
            }
            result.withUnsafeBytes { result in
                for index in blocks.indices {
                    let sum = result.loadUnaligned(fromByteOffset: 16 * index, as: UInt128.self)
                    blocks[index] = UInt128(bigEndian: sum ^ blocks[index])
                }
            }
        }
    }
}
#endif
