#if BoringSSL
import BluetoothSMP
import Crypto
import CryptoExtras

extension LibraryToolbox {
    /// The reason why the ciphers cannot be used. Always nil, because the library is part of the program.
    public static var unavailability: CryptoUnavailable? { nil }

    /// Encrypts one block with AES-128. To encrypt several blocks with one key, use `blockCipher(key:)`.
    public func encrypt(key: UInt128, block: UInt128) -> UInt128 { BoringSSLBlockCipher(key: key).encrypt(block) }

    /// A cipher with a fixed AES-128 key. Encrypting many blocks in one call expands the key only once.
    public func blockCipher(key: UInt128) -> any BlockCipher { BoringSSLBlockCipher(key: key) }

    /// Computes AES-CMAC (RFC 4493) over the message, which may be empty.
    public func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128 {
        do {
            var cipher = try AES.CMAC(key: SymmetricKey(data: key.bigEndianOctets))
            cipher.update(data: message)
            return cipher.finalize().withUnsafeBytes { UInt128(bigEndianOctets: Array($0)[...]) }
        } catch {
            // Only a key of the wrong length can cause an error.
            preconditionFailure("CMAC rejected a key of 16 octets: \(error)")
        }
    }

    /// The key pair for a private key; nil if the number is 0, or is not less than the order of P-256.
    public func keyPair(privateKey: FieldElement) -> P256KeyPair? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets) else { return nil }
        return P256KeyPair(
            privateKey: privateKey, publicKey: P256PublicKey(octets: Array(key.publicKey.rawRepresentation)))
    }

    /// The x-coordinate of the shared point (ECDH); nil if a key is invalid, for example if `publicKey` is not on the
    /// curve.
    public func sharedSecret(privateKey: FieldElement, publicKey: P256PublicKey) -> FieldElement? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets),
            let point = try? P256.KeyAgreement.PublicKey(rawRepresentation: publicKey.octets),
            let secret = try? key.sharedSecretFromKeyAgreement(with: point)
        else { return nil }
        return secret.withUnsafeBytes { FieldElement(Array($0)[...]) }
    }
}
#endif
