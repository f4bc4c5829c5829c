import BluetoothSMP
import Crypto
import CryptoExtras

/// The ciphers of swift-crypto, for the Security Manager.
public struct SwiftCryptoToolbox: CryptoToolbox {
    /// Creates a toolbox, which holds no state.
    public init() {}

    /// Encrypts one block with AES-128. To encrypt several blocks with one key, use `blockCipher(key:)`.
    public func encrypt(key: UInt128, block: UInt128) -> UInt128 { SwiftCryptoBlockCipher(key: key).encrypt(block) }

    /// A cipher with a fixed AES-128 key. Encrypting many blocks in one call expands the key only once.
    public func blockCipher(key: UInt128) -> any BlockCipher { SwiftCryptoBlockCipher(key: key) }

    /// Computes AES-CMAC (RFC 4493) over the message, which may be empty.
    public func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128 {
        do {
            var cipher = try AES.CMAC(key: SymmetricKey(data: bigEndianOctets(key)))
            cipher.update(data: message)
            return cipher.finalize().withUnsafeBytes { $0.reduce(0) { $0 << 8 | UInt128($1) } }
        } catch {
            // Only a key of the wrong length can cause an error.
            preconditionFailure("CMAC rejected a key of 16 octets: \(error)")
        }
    }

    /// The key pair for a private key; nil if the number is 0, or is not less than the order of P-256.
    public func keyPair(privateKey: FieldElement) -> P256KeyPair? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets) else { return nil }
        let point = Array(key.publicKey.rawRepresentation)
        return P256KeyPair(
            privateKey: privateKey,
            publicKey: P256PublicKey(x: FieldElement(point[..<32]), y: FieldElement(point[32...])))
    }

    /// The x-coordinate of the shared point (ECDH); nil if a key is invalid, for example if `publicKey` is not on the
    /// curve.
    public func sharedSecret(privateKey: FieldElement, publicKey: P256PublicKey) -> FieldElement? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets),
            let point = try? P256.KeyAgreement.PublicKey(
                rawRepresentation: publicKey.x.octets + publicKey.y.octets),
            let secret = try? key.sharedSecretFromKeyAgreement(with: point)
        else { return nil }
        return secret.withUnsafeBytes { FieldElement(Array($0)[...]) }
    }
}

private func bigEndianOctets(_ number: UInt128) -> [UInt8] {
    (0..<16).reversed().map { UInt8(truncatingIfNeeded: number >> UInt128(8 * $0)) }
}

private func integer(_ octets: ArraySlice<UInt8>) -> UInt128 {
    octets.reduce(0) { $0 << 8 | UInt128($1) }
}

extension FieldElement {
    /// Creates an element from 32 octets, most significant first.
    fileprivate init(_ octets: ArraySlice<UInt8>) {
        self.init(high: integer(octets.prefix(16)), low: integer(octets.dropFirst(16)))
    }

    fileprivate var octets: [UInt8] { bigEndianOctets(high) + bigEndianOctets(low) }
}
