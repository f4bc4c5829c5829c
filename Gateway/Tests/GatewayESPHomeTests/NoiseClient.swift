import Crypto
@testable import GatewayESPHome

/// The side that begins, for tests.
struct NoiseClient {
    private var state: NoiseSymmetricState
    private let ephemeral: Curve25519.KeyAgreement.PrivateKey
    private var ciphers: (initiator: NoiseCipher, responder: NoiseCipher)?
    /// The hello and the handshake.
    let opening: [UInt8]
    var hash: [UInt8] { state.hash }

    init(key: [UInt8], ephemeral: Curve25519.KeyAgreement.PrivateKey = .init(), hello: [UInt8] = []) {
        let length = [UInt8(hello.count >> 8), UInt8(hello.count & 0xFF)]
        state = NoiseSymmetricState(
            protocolName: NoiseResponder.protocolName, prologue: Array("NoiseAPIInit".utf8) + length + hello)
        self.ephemeral = ephemeral
        state.mixKeyAndHash(SymmetricKey(data: key))
        let ours = Array(ephemeral.publicKey.rawRepresentation)
        state.mixHash(ours)
        state.mixKey(SymmetricKey(data: ours))
        let message = ours + state.encryptAndHash([])
        opening = [1] + length + hello + Self.frame([0] + message)
    }

    /// Takes the answer to the handshake, without its header.
    mutating func finish(_ answer: [UInt8]) throws {
        let theirs = Array(answer.prefix(32))
        state.mixHash(theirs)
        state.mixKey(SymmetricKey(data: theirs))
        let secret = try ephemeral.sharedSecretFromKeyAgreement(
            with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: theirs))
        state.mixKey(secret.withUnsafeBytes { SymmetricKey(data: $0) })
        guard state.decryptAndHash(Array(answer.dropFirst(32))) != nil else { throw ProtocolFailure("no tag") }
        ciphers = state.split()
    }

    mutating func seal(_ message: [UInt8]) -> [UInt8] {
        guard var ciphers else { return [] }
        defer { self.ciphers = ciphers }
        return Self.frame(ciphers.initiator.seal(message))
    }

    mutating func seal(_ frame: Frame) -> [UInt8] {
        let type = frame.type.rawValue
        return seal(
            [
                UInt8(type >> 8), UInt8(type & 0xFF), UInt8(frame.payload.count >> 8),
                UInt8(frame.payload.count & 0xFF),
            ] + frame.payload)
    }

    /// Takes one frame with its header.
    mutating func open(_ frame: [UInt8]) -> [UInt8]? {
        guard var ciphers else { return nil }
        defer { self.ciphers = ciphers }
        return ciphers.responder.open(Array(frame.dropFirst(3)))
    }

    static func frame(_ octets: [UInt8]) -> [UInt8] {
        [1, UInt8(octets.count >> 8), UInt8(octets.count & 0xFF)] + octets
    }
}
