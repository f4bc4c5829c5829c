import BluetoothBase

/// AD structures that only those can read who have the device's Encrypted Data Key Material: the content of an AD structure of the
/// type Encrypted Data (Core Supplement, Part A, 1.23).
public struct EncryptedAdvertisingData: Equatable, Sendable {
    /// The octets of `randomizer`.
    public static let randomizerLength = 5
    /// The octets of the message integrity check.
    public static let tagLength = 4
    /// What is authenticated besides the structures.
    private static let associatedData: [UInt8] = [0xEA]

    /// Five octets that are fresh whenever the structures or the device's address change.
    public let randomizer: [UInt8]
    /// The encrypted structures.
    public let ciphertext: [UInt8]
    /// The message integrity check.
    public let tag: [UInt8]

    /// Encrypts AD structures.
    ///
    /// - Parameters:
    ///   - structures: AD structures, each with its length and its type.
    ///   - randomizer: five random octets.
    /// - Precondition: the randomizer has five octets.
    public init(
        _ structures: [UInt8], with material: EncryptedDataKeyMaterial, randomizer: [UInt8],
        cipher: some AdvertisingCipher
    ) {
        precondition(randomizer.count == Self.randomizerLength)
        self.randomizer = randomizer
        (ciphertext, tag) = cipher.seal(
            structures, authenticating: Self.associatedData, key: material.sessionKey,
            nonce: randomizer + material.initializationVector, tagLength: Self.tagLength)
    }

    /// Encrypts AD structures with a fresh randomizer, as each change of the structures or of the device's address needs one.
    ///
    /// - Parameter generator: the source of the randomizer.
    public init(
        _ structures: [UInt8], with material: EncryptedDataKeyMaterial,
        using generator: inout some RandomNumberGenerator, cipher: some AdvertisingCipher
    ) {
        let randomizer = (0..<Self.randomizerLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.init(structures, with: material, randomizer: randomizer, cipher: cipher)
    }

    /// Reads the content of an AD structure.
    ///
    /// - Throws: `.truncated` if it is too short.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(Self.randomizerLength + Self.tagLength)
        randomizer = Array(try reader.readBytes(Self.randomizerLength))
        ciphertext = Array(try reader.readBytes(reader.remaining - Self.tagLength))
        tag = Array(try reader.readBytes(Self.tagLength))
    }

    /// The AD structures; nil if they were encrypted with another key, or changed on the way.
    public func decrypted(with material: EncryptedDataKeyMaterial, cipher: some AdvertisingCipher) -> [UInt8]? {
        cipher.open(
            ciphertext, authenticating: Self.associatedData, tag: tag, key: material.sessionKey,
            nonce: randomizer + material.initializationVector)
    }

    /// The content of an AD structure.
    public var encoded: [UInt8] { randomizer + ciphertext + tag }
}
