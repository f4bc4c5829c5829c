#if !BoringSSL
import BluetoothSMP

extension LibraryToolbox {
    /// The reason why the ciphers cannot be used; nil if they can.
    public static var unavailability: CryptoUnavailable? {
        if case .failure(let reason) = OpenSSL.shared { reason } else { nil }
    }

    private var library: OpenSSL {
        switch OpenSSL.shared {
        case .success(let library): return library
        // Unlike that of a precondition, its message is also printed by an optimized program.
        case .failure(let reason): fatalError("\(reason)")
        }
    }

    /// Encrypts one block with AES-128. To encrypt several blocks with one key, use `blockCipher(key:)`.
    public func encrypt(key: UInt128, block: UInt128) -> UInt128 {
        var blocks = [block]
        blockCipher(key: key).encrypt(&blocks)
        return blocks[0]
    }

    /// A cipher with a fixed AES-128 key, which is expanded once.
    public func blockCipher(key: UInt128) -> any BlockCipher { OpenSSLBlockCipher(library: library, key: key) }

    /// Computes AES-CMAC (RFC 4493) over the message, which may be empty.
    public func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128 {
        guard let code = library.authenticationCode(key: key.bigEndianOctets, message: message) else {
            preconditionFailure("OpenSSL rejected a key of 16 octets")
        }
        return UInt128(bigEndianOctets: code[...])
    }

    /// The key pair for a private key; nil if the number is 0, or is not less than the order of P-256.
    public func keyPair(privateKey: FieldElement) -> P256KeyPair? {
        library.publicKey(of: privateKey.octets).map {
            P256KeyPair(privateKey: privateKey, publicKey: P256PublicKey(octets: $0))
        }
    }

    /// The x-coordinate of the shared point (ECDH); nil if a key is invalid, for example if `publicKey` is not on the
    /// curve.
    public func sharedSecret(privateKey: FieldElement, publicKey: P256PublicKey) -> FieldElement? {
        library.sharedSecret(privateKey: privateKey.octets, publicKey: publicKey.octets).map { FieldElement($0[...]) }
    }
}
#endif
