import BluetoothBase

/// Sensor data in the open format BTHome, version 2, encrypted with a key that the sensor shares with its owner:
/// https://bthome.io/encryption.
public struct EncryptedBTHome: AdvertisedValue {
    /// The name of the format: `bthome-encrypted`.
    public static let formatName = "bthome-encrypted"
    /// Service data with the UUID of unencrypted BTHome, 0xFCD2. A bit of the first octet distinguishes the two
    /// formats.
    public static let container = BTHome.container

    /// The length of a key in octets.
    public static let keyLength = 16
    /// The length of the message integrity check in octets.
    public static let tagLength = 4

    /// Whether the device sends data only when an event occurs.
    public let isTriggerBased: Bool
    /// The first octet, including its reserved bits. It is part of the nonce.
    private let information: UInt8
    /// The encrypted measurements, as long as the unencrypted ones.
    public let ciphertext: [UInt8]
    /// A counter that increases with every message. A receiver that stores the last value can detect replayed messages.
    public let counter: UInt32
    /// The message integrity check.
    public let tag: [UInt8]

    /// Decodes the first octet, the ciphertext, the counter and the tag. The measurements remain encrypted.
    ///
    /// - Throws: `.invalidValue` if the data has another version or is not encrypted.
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
    ///   - address: the address with which the device advertises.
    ///   - counter: a value that has never been used with this key.
    /// - Precondition: the key has 16 octets.
    public init(
        _ value: BTHome, key: some Collection<UInt8>, address: DeviceAddress, counter: UInt32,
        with cipher: some AdvertisingCipher
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
        (ciphertext, tag) = cipher.seal(writer.bytes, key: Array(key), nonce: nonce, tagLength: Self.tagLength)
    }

    /// Returns the decrypted data, or nil if it was encrypted with another key or for another address, or was modified
    /// in transit.
    ///
    /// - Parameter address: the address from which the data was received.
    public func decrypted(
        key: some Collection<UInt8>, address: DeviceAddress, with cipher: some AdvertisingCipher
    ) -> BTHome? {
        let nonce = Self.nonce(address, information, counter)
        guard key.count == Self.keyLength,
            let plaintext = cipher.open(ciphertext, tag: tag, key: Array(key), nonce: nonce)
        else { return nil }
        return try? BTHome(decrypted: plaintext.span, isTriggerBased: isTriggerBased)
    }

    /// Returns the nonce of 13 octets: the address, most significant octet first, the UUID, the first octet and the
    /// counter.
    private static func nonce(_ address: DeviceAddress, _ information: UInt8, _ counter: UInt32) -> [UInt8] {
        var writer = ByteWriter()
        writer.append((address.value << 16).byteSwapped, byteCount: 6)
        writer.append(BTHome.service)
        writer.append(information)
        writer.append(counter)
        return writer.bytes
    }

    /// Appends the information octet, the ciphertext, the counter and the message integrity check.
    public func encode(into writer: inout ByteWriter) {
        writer.append(information)
        writer.append(ciphertext)
        writer.append(counter)
        writer.append(tag)
    }

    /// The counter as `encryption_counter`, which is the only field that needs no key.
    public var fields: [AdvertisedField] { [AdvertisedField("encryption_counter", counter)] }
}
