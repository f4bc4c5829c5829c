/// The primitives under the cryptographic toolbox (Core 5.4, Vol 3, Part H, 2.2), which the core is handed: it has no
/// cipher of its own.
public protocol CryptoToolbox: Sendable {
    /// AES-128 on one block. Integers are big-endian blocks: the most significant octet comes first.
    func encrypt(key: UInt128, block: UInt128) -> UInt128

    /// A key made ready for many blocks, so that each costs less than with `encrypt(key:block:)`.
    func blockCipher(key: UInt128) -> any BlockCipher

    /// AES-CMAC (RFC 4493). The message is in the order of the RFC, as is the result.
    func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128

    /// The key pair of a private key of 32 random octets; nil if these are no private key of P-256.
    func keyPair(privateKey: FieldElement) -> P256KeyPair?

    /// The x-coordinate of the shared point; nil if `peer` is not on the curve.
    func sharedSecret(privateKey: FieldElement, peer: P256PublicKey) -> FieldElement?
}

extension CryptoToolbox {
    /// A cipher that encrypts one block after the other.
    public func blockCipher(key: UInt128) -> any BlockCipher { SingleBlockCipher(toolbox: self, key: key) }
}

/// AES-128 with one key.
public protocol BlockCipher: Sendable {
    /// Encrypts each of the blocks, independently of the others, and puts the results in their places. Integers are
    /// big-endian blocks: the most significant octet comes first. Many blocks at once cost less than one at a time.
    func encrypt(_ blocks: inout [UInt128])
}

private struct SingleBlockCipher<Toolbox: CryptoToolbox>: BlockCipher {
    let toolbox: Toolbox
    let key: UInt128

    func encrypt(_ blocks: inout [UInt128]) {
        for index in blocks.indices { blocks[index] = toolbox.encrypt(key: key, block: blocks[index]) }
    }
}

/// A coordinate of a point of P-256, or a private key: 256 bits.
public struct FieldElement: Hashable, Sendable {
    public var high: UInt128
    public var low: UInt128

    public init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }
}

/// A point of P-256.
public struct P256PublicKey: Hashable, Sendable {
    public var x: FieldElement
    public var y: FieldElement

    public init(x: FieldElement, y: FieldElement) {
        self.x = x
        self.y = y
    }
}

/// A key pair of P-256.
public struct P256KeyPair: Hashable, Sendable {
    public var privateKey: FieldElement
    public var publicKey: P256PublicKey

    public init(privateKey: FieldElement, publicKey: P256PublicKey) {
        self.privateKey = privateKey
        self.publicKey = publicKey
    }
}
