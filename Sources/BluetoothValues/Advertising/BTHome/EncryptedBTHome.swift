import BluetoothBase

/// What sensors send in the open format BTHome, version 2, encrypted with a key that they share with their owner:
/// https://bthome.io/encryption.
public struct EncryptedBTHome: AdvertisedValue {
    public static let formatName = "bthome-encrypted"
    public static let container = BTHome.container

    /// The octets of a key.
    public static let keyLength = 16
    /// The octets of the message integrity check.
    public static let tagLength = 4

    /// Whether the device sends only when something happens.
    public let isTriggerBased: Bool
    /// The first octet, which is part of what is authenticated: reserved bits count.
    private let information: UInt8
    public let ciphertext: [UInt8]
    /// A number that grows with every message. Whoever keeps the last one can tell a message that was recorded and sent
    /// again.
    public let counter: UInt32
    /// The message integrity check.
    public let tag: [UInt8]

    /// - Throws: `.invalidValue` if it is of another version or not encrypted.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(1 + 4 + Self.tagLength)
        information = try reader.readUInt8()
        let bits = BTHomeInformation(rawValue: information)
        guard bits.isKnownVersion, bits.contains(.encrypted) else { throw DecodingFailure(.invalidValue, at: 0) }
        isTriggerBased = bits.contains(.triggerBased)
        ciphertext = Array(try reader.readBytes(reader.remaining - 4 - Self.tagLength))
        counter = try reader.readUInt32()
        tag = Array(try reader.readBytes(Self.tagLength))
    }

    /// Encrypts measurements.
    ///
    /// - Parameters:
    ///   - address: the address that the device advertises with.
    ///   - counter: a number that was never used with this key.
    /// - Precondition: the key has 16 octets.
    public init(
        _ value: BTHome, key: [UInt8], address: DeviceAddress, counter: UInt32, with cipher: some AdvertisingCipher
    ) {
        precondition(key.count == Self.keyLength)
        isTriggerBased = value.isTriggerBased
        information =
            (isTriggerBased ? [.version2, .encrypted, .triggerBased] : [.version2, .encrypted] as BTHomeInformation)
            .rawValue
        self.counter = counter
        var writer = ByteWriter()
        value.encodeObjects(into: &writer)
        let nonce = Self.nonce(address, information, counter)
        (ciphertext, tag) = cipher.seal(writer.bytes, key: key, nonce: nonce, tagLength: Self.tagLength)
    }

    /// What it says; nil if it was encrypted with another key or for another address, or was changed on the way.
    ///
    /// - Parameter address: the address that it was received from.
    public func decrypted(key: [UInt8], address: DeviceAddress, with cipher: some AdvertisingCipher) -> BTHome? {
        let nonce = Self.nonce(address, information, counter)
        guard key.count == Self.keyLength, let plaintext = cipher.open(ciphertext, tag: tag, key: key, nonce: nonce)
        else { return nil }
        return try? BTHome(decrypted: plaintext.span, isTriggerBased: isTriggerBased)
    }

    /// The address as it is written, the UUID, the first octet and the counter: 13 octets.
    private static func nonce(_ address: DeviceAddress, _ information: UInt8, _ counter: UInt32) -> [UInt8] {
        var writer = ByteWriter()
        writer.append((address.value << 16).byteSwapped, byteCount: 6)
        writer.append(BTHome.service)
        writer.append(information)
        writer.append(counter)
        return writer.bytes
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(information)
        writer.append(ciphertext)
        writer.append(counter)
        writer.append(tag)
    }

    public var fields: [AdvertisedField] { [AdvertisedField("encryption_counter", counter)] }
}
