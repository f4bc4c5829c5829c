/// The primitives of the cryptographic toolbox (Core 5.4, Vol 3, Part H, 2.2). They are passed in, because the core
/// contains no cipher.
public protocol CryptoToolbox: Sendable {
    /// Encrypts one block with AES-128. Integers are big-endian blocks: the most significant octet comes first.
    func encrypt(key: UInt128, block: UInt128) -> UInt128

    /// A cipher with a key prepared for many blocks, so that each block costs less than with `encrypt(key:block:)`.
    func blockCipher(key: UInt128) -> any BlockCipher

    /// Computes AES-CMAC (RFC 4493). The message and the result are in the octet order of the RFC.
    func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128

    /// The key pair for a private key of 32 random octets; nil if they are not a valid P-256 private key.
    func keyPair(privateKey: FieldElement) -> P256KeyPair?

    /// The x-coordinate of the shared point; nil if `peer` is not on the curve.
    func sharedSecret(privateKey: FieldElement, publicKey: P256PublicKey) -> FieldElement?
}

extension CryptoToolbox {
    /// A cipher that encrypts one block after the other.
    public func blockCipher(key: UInt128) -> any BlockCipher { SingleBlockCipher(toolbox: self, key: key) }
}

/// AES-128 with a fixed key.
public protocol BlockCipher: Sendable {
    /// Encrypts each block independently, in place. Integers are big-endian blocks: the most significant octet comes
    /// first. Encrypting many blocks at once costs less than one at a time.
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
    /// The 128 most significant bits.
    public var high: UInt128
    /// The 128 least significant bits.
    public var low: UInt128

    /// Creates an element from its two halves. Values beyond the field's prime are not rejected.
    public init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }
}

/// A point of P-256.
public struct P256PublicKey: Hashable, Sendable {
    /// The x-coordinate of the point.
    public var x: FieldElement
    /// The y-coordinate of the point.
    public var y: FieldElement

    /// Creates a key from its coordinates. The point is not checked to be on the curve.
    public init(x: FieldElement, y: FieldElement) {
        self.x = x
        self.y = y
    }
}

/// A key pair of P-256.
public struct P256KeyPair: Hashable, Sendable {
    /// The secret scalar. It must never leave the device.
    public var privateKey: FieldElement
    /// The point that belongs to the private key, sent to the peer.
    public var publicKey: P256PublicKey

    /// Creates a pair of keys, which are not checked to belong together.
    public init(privateKey: FieldElement, publicKey: P256PublicKey) {
        self.privateKey = privateKey
        self.publicKey = publicKey
    }
}
