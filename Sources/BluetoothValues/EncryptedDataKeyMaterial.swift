import BluetoothBase

/// Encrypted Data Key Material, 0x2B88: the key material to encrypt and decrypt advertising data (Core 5.4, Vol 3, Part
/// C, 12.6). A device provides it only over links that are encrypted, authenticated and authorized.
public struct EncryptedDataKeyMaterial: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2B88.
    public static var uuid: BluetoothUUID { .init(0x2B88) }

    /// The length of `sessionKey` in octets.
    public static let keyLength = 16
    /// The length of `initializationVector` in octets.
    public static let vectorLength = 8

    /// The key, 16 octets.
    public let sessionKey: [UInt8]
    /// Eight octets, which change with the key.
    public let initializationVector: [UInt8]

    /// - Precondition: the key has 16 octets and the vector eight.
    public init(sessionKey: some Collection<UInt8>, initializationVector: some Collection<UInt8>) {
        precondition(sessionKey.count == Self.keyLength && initializationVector.count == Self.vectorLength)
        self.sessionKey = Array(sessionKey)
        self.initializationVector = Array(initializationVector)
    }

    /// Decodes exactly 24 octets: the key, then the initialization vector.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(Self.keyLength + Self.vectorLength)
        sessionKey = Array(try reader.readBytes(Self.keyLength))
        initializationVector = Array(try reader.readBytes(Self.vectorLength))
        try reader.finish()
    }

    /// Appends the key, then the initialization vector.
    public func encode(into writer: inout ByteWriter) {
        writer.append(sessionKey)
        writer.append(initializationVector)
    }
}

/// Keeps the key out of logs.
extension EncryptedDataKeyMaterial: CustomStringConvertible, CustomReflectable {
    /// The name of the type, without the key material.
    public var description: String { "EncryptedDataKeyMaterial(…)" }

    /// A mirror without children, so that `dump` does not print the key material.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
