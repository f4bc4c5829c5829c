/// AES-CCM with a key of 128 bits (RFC 3610), as formats of encrypted advertising use it. `BluetoothCrypto` has one.
public protocol AdvertisingCipher: Sendable {
    /// Decrypts; nil if the tag does not fit.
    ///
    /// - Parameters:
    ///   - associatedData: what was authenticated and not encrypted, fewer than 65,280 octets; may be empty.
    ///   - tag: 4 to 16 octets, an even number.
    ///   - key: 16 octets.
    ///   - nonce: 7 to 13 octets.
    func open(
        _ ciphertext: [UInt8], authenticating associatedData: [UInt8], tag: [UInt8], key: [UInt8], nonce: [UInt8]
    ) -> [UInt8]?

    /// Encrypts.
    func seal(
        _ plaintext: [UInt8], authenticating associatedData: [UInt8], key: [UInt8], nonce: [UInt8], tagLength: Int
    ) -> (ciphertext: [UInt8], tag: [UInt8])
}

extension AdvertisingCipher {
    /// Decrypts where nothing else is authenticated; nil if the tag does not fit.
    public func open(_ ciphertext: [UInt8], tag: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        open(ciphertext, authenticating: [], tag: tag, key: key, nonce: nonce)
    }

    /// Encrypts where nothing else is authenticated.
    public func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], tagLength: Int
    ) -> (ciphertext: [UInt8], tag: [UInt8]) {
        seal(plaintext, authenticating: [], key: key, nonce: nonce, tagLength: tagLength)
    }
}
