import BluetoothCrypto

/// AES-128 on one block, the security function e of the link layer (Core 5.4, Vol 6, Part C, 1; Vol 3, Part H, 2.2.1).
enum AESBlockCipher {
    /// Encrypts a block. The integers are in the order of HCI; AES takes the most significant octet first.
    @Sendable
    static func encrypt(key: UInt128, plaintext: UInt128) -> UInt128 {
        LibraryToolbox().encrypt(key: key, block: plaintext)
    }
}
