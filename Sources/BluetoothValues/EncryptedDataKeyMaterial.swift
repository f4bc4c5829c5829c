import BluetoothBase

/// Encrypted Data Key Material, 0x2B88: what it takes to read and to make encrypted advertising data (Core 5.4, Vol 3, Part C,
/// 12.6). A device gives it over links that are encrypted, authenticated and authorized.
public struct EncryptedDataKeyMaterial: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2B88) }

    /// The octets of `sessionKey`.
    public static let keyLength = 16
    /// The octets of `initializationVector`.
    public static let vectorLength = 8

    /// The key, 16 octets.
    public let sessionKey: [UInt8]
    /// Eight octets that change with the key.
    public let initializationVector: [UInt8]

    /// - Precondition: the key has 16 octets and the vector eight.
    public init(sessionKey: [UInt8], initializationVector: [UInt8]) {
        precondition(sessionKey.count == Self.keyLength && initializationVector.count == Self.vectorLength)
        self.sessionKey = sessionKey
        self.initializationVector = initializationVector
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(Self.keyLength + Self.vectorLength)
        sessionKey = Array(try reader.readBytes(Self.keyLength))
        initializationVector = Array(try reader.readBytes(Self.vectorLength))
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(sessionKey)
        writer.append(initializationVector)
    }
}

/// A key is not to be found in a log.
extension EncryptedDataKeyMaterial: CustomStringConvertible, CustomReflectable {
    public var description: String { "EncryptedDataKeyMaterial(…)" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
