import Crypto
import Foundation

/// One direction of an encrypted connection (the Noise Protocol Framework, revision 34, 5.1).
struct NoiseCipher: Sendable {
    private let key: SymmetricKey
    private var counter: UInt64 = 0

    init(_ key: SymmetricKey) { self.key = key }

    static let tagLength = 16

    /// Returns the encrypted octets, followed by their tag.
    mutating func seal(_ octets: [UInt8], authenticating associated: [UInt8] = []) -> [UInt8] {
        // Sealing fails only for a nonce of the wrong length.
        guard let nonce = nextNonce(),
            let box = try? ChaChaPoly.seal(octets, using: key, nonce: nonce, authenticating: associated)
        else { return [] }
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// Returns the decrypted octets; nil if they were modified, or encrypted with another key.
    mutating func open(_ octets: [UInt8], authenticating associated: [UInt8] = []) -> [UInt8]? {
        guard octets.count >= Self.tagLength, let nonce = nextNonce(),
            let box = try? ChaChaPoly.SealedBox(
                nonce: nonce, ciphertext: octets.dropLast(Self.tagLength), tag: octets.suffix(Self.tagLength)),
            let opened = try? ChaChaPoly.open(box, using: key, authenticating: associated)
        else { return nil }
        return Array(opened)
    }

    /// Four zeros and the number of the message, least significant octet first (12.3).
    private mutating func nextNonce() -> ChaChaPoly.Nonce? {
        // At a million messages per second, the counter lasts for half a million years.
        guard counter < .max else { return nil }
        let octets = [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(8 * $0)) }
        counter += 1
        return try? ChaChaPoly.Nonce(data: octets)
    }
}

/// The state of a handshake that both sides compute (5.2), with SHA-256.
struct NoiseSymmetricState: Sendable {
    private var chainingKey: [UInt8]
    /// The hash of everything exchanged so far.
    private(set) var hash: [UInt8]
    private var cipher: NoiseCipher?

    init(protocolName: String, prologue: [UInt8]) {
        let name = Array(protocolName.utf8)
        hash = name.count <= 32 ? name + [UInt8](repeating: 0, count: 32 - name.count) : Self.digest(name)
        chainingKey = hash
        mixHash(prologue)
    }

    mutating func mixHash(_ octets: [UInt8]) { hash = Self.digest(hash + octets) }

    mutating func mixKey(_ material: SymmetricKey) {
        let derived = derive(material, 2)
        chainingKey = derived[0]
        cipher = NoiseCipher(SymmetricKey(data: derived[1]))
    }

    mutating func mixKeyAndHash(_ material: SymmetricKey) {
        let derived = derive(material, 3)
        chainingKey = derived[0]
        mixHash(derived[1])
        cipher = NoiseCipher(SymmetricKey(data: derived[2]))
    }

    mutating func encryptAndHash(_ octets: [UInt8]) -> [UInt8] {
        let sealed = cipher?.seal(octets, authenticating: hash) ?? octets
        mixHash(sealed)
        return sealed
    }

    mutating func decryptAndHash(_ octets: [UInt8]) -> [UInt8]? {
        guard let opened = cipher?.open(octets, authenticating: hash) else { return nil }
        mixHash(octets)
        return opened
    }

    /// The ciphers for the initiator's messages and for the responder's.
    func split() -> (initiator: NoiseCipher, responder: NoiseCipher) {
        let derived = derive(SymmetricKey(data: []), 2)
        return (NoiseCipher(SymmetricKey(data: derived[0])), NoiseCipher(SymmetricKey(data: derived[1])))
    }

    /// Derives `count` keys of 32 octets. Noise's HKDF (4.3) is that of RFC 5869, with the chaining key as salt and no
    /// information.
    private func derive(_ material: SymmetricKey, _ count: Int) -> [[UInt8]] {
        let octets = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, salt: chainingKey, info: [UInt8](), outputByteCount: 32 * count
        ).withUnsafeBytes { Array($0) }
        return (0..<count).map { Array(octets[(32 * $0)..<(32 * $0 + 32)]) }
    }

    private static func digest(_ octets: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: octets)) }
}

/// The responder of `Noise_NNpsk0_25519_ChaChaPoly_SHA256`: both sides have a pre-shared key and exchange ephemeral
/// keys.
enum NoiseResponder {
    static let protocolName = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"
    /// The length of a public key and of the pre-shared key.
    static let keyLength = 32

    struct Answer {
        var message: [UInt8]
        /// Decrypts messages from the client.
        var receiving: NoiseCipher
        /// Encrypts messages to the client.
        var sending: NoiseCipher
        var hash: [UInt8]
    }

    /// Answers a client's first message. Returns nil if the client does not have the key.
    ///
    /// - Parameter ephemeral: a new key for each connection. It is made only for a client with the key, because making
    ///   it costs more than all the steps before it.
    static func answer(
        _ message: [UInt8], psk: SymmetricKey, prologue: [UInt8],
        ephemeral: @autoclosure () -> Curve25519.KeyAgreement.PrivateKey = .init()
    ) -> Answer? {
        var state = NoiseSymmetricState(protocolName: protocolName, prologue: prologue)
        // -> psk, e. With a pre-shared key, each ephemeral key is also mixed in (9.2).
        guard message.count >= keyLength else { return nil }
        let theirs = Array(message.prefix(keyLength))
        state.mixKeyAndHash(psk)
        state.mixHash(theirs)
        state.mixKey(SymmetricKey(data: theirs))
        guard state.decryptAndHash(Array(message.dropFirst(keyLength))) != nil,
            let peer = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: theirs)
        else { return nil }
        // <- e, ee. A public key that yields no shared secret is rejected.
        let ephemeral = ephemeral()
        let ours = Array(ephemeral.publicKey.rawRepresentation)
        state.mixHash(ours)
        state.mixKey(SymmetricKey(data: ours))
        guard let secret = try? ephemeral.sharedSecretFromKeyAgreement(with: peer) else { return nil }
        state.mixKey(secret.withUnsafeBytes { SymmetricKey(data: $0) })
        let answer = ours + state.encryptAndHash([])
        let ciphers = state.split()
        return Answer(message: answer, receiving: ciphers.initiator, sending: ciphers.responder, hash: state.hash)
    }
}
