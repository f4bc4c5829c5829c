import BluetoothBase

/// The content of an AD structure of the type Encrypted Data (Core Supplement, Part A, 1.23). It contains AD structures
/// that can only be read with the device's Encrypted Data Key Material.
public struct EncryptedAdvertisingData: Equatable, Sendable {
    /// The length of `randomizer` in octets.
    public static let randomizerLength = 5
    /// The length of the message integrity check in octets.
    public static let tagLength = 4
    /// The data that is authenticated in addition to the structures.
    private static let associatedData: [UInt8] = [0xEA]

    /// Five octets, which must be new whenever the structures or the device's address change.
    public let randomizer: [UInt8]
    /// The encrypted structures.
    public let ciphertext: [UInt8]
    /// The message integrity check.
    public let tag: [UInt8]

    /// Encrypts AD structures.
    ///
    /// - Parameters:
    ///   - structures: AD structures, each with its length and type.
    ///   - randomizer: five random octets.
    /// - Precondition: the randomizer has five octets.
    public init(
        _ structures: some Collection<UInt8>, with material: EncryptedDataKeyMaterial,
        randomizer: some Collection<UInt8>,
        cipher: some AdvertisingCipher
    ) {
        precondition(randomizer.count == Self.randomizerLength)
        self.randomizer = Array(randomizer)
        (ciphertext, tag) = cipher.seal(
            Array(structures), authenticating: Self.associatedData, key: material.sessionKey,
            nonce: self.randomizer + material.initializationVector, tagLength: Self.tagLength)
    }

    /// Encrypts AD structures with a new randomizer. Every change of the structures or of the device's address requires
    /// a new one.
    ///
    /// - Parameter generator: the source of the randomizer.
    public init(
        _ structures: some Collection<UInt8>, with material: EncryptedDataKeyMaterial,
        using generator: inout some RandomNumberGenerator, cipher: some AdvertisingCipher
    ) {
        let randomizer = (0..<Self.randomizerLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.init(structures, with: material, randomizer: randomizer, cipher: cipher)
    }

    /// Decodes the content of an AD structure.
    ///
    /// - Throws: `.truncated` if the content is too short.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(Self.randomizerLength + Self.tagLength)
        randomizer = Array(try reader.readBytes(Self.randomizerLength))
        ciphertext = Array(try reader.readBytes(reader.remaining - Self.tagLength))
        tag = Array(try reader.readBytes(Self.tagLength))
    }

    /// Returns the AD structures, or nil if they were encrypted with another key or modified in transit.
    public func decrypted(with material: EncryptedDataKeyMaterial, cipher: some AdvertisingCipher) -> [UInt8]? {
        cipher.open(
            ciphertext, authenticating: Self.associatedData, tag: tag, key: material.sessionKey,
            nonce: self.randomizer + material.initializationVector)
    }

    /// The encoded content of an AD structure.
    public var encoded: [UInt8] { randomizer + ciphertext + tag }
}
