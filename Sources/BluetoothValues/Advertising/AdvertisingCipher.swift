/// AES-CCM with a 128-bit key (RFC 3610), as used by formats of encrypted advertising. `BluetoothCrypto` provides an
/// implementation.
public protocol AdvertisingCipher: Sendable {
    /// Decrypts and verifies data. Returns nil if the tag is not valid.
    ///
    /// - Parameters:
    ///   - associatedData: the data that is authenticated but not encrypted, fewer than 65,280 octets; may be empty.
    ///   - tag: 4 to 16 octets, an even number.
    ///   - key: 16 octets.
    ///   - nonce: 7 to 13 octets.
    func open(
        _ ciphertext: [UInt8], authenticating associatedData: [UInt8], tag: [UInt8], key: [UInt8], nonce: [UInt8]
    ) -> [UInt8]?

    /// Encrypts and authenticates data.
    func seal(
        _ plaintext: [UInt8], authenticating associatedData: [UInt8], key: [UInt8], nonce: [UInt8], tagLength: Int
    ) -> (ciphertext: [UInt8], tag: [UInt8])
}

extension AdvertisingCipher {
    /// Decrypts and verifies data, without associated data. Returns nil if the tag is not valid.
    public func open(_ ciphertext: [UInt8], tag: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        open(ciphertext, authenticating: [], tag: tag, key: key, nonce: nonce)
    }

    /// Encrypts and authenticates data, without associated data.
    public func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], tagLength: Int
    ) -> (ciphertext: [UInt8], tag: [UInt8]) {
        seal(plaintext, authenticating: [], key: key, nonce: nonce, tagLength: tagLength)
    }
}
