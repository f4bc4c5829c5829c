import BluetoothBase

/// An exposure notification sent by a phone. It is opaque without the keys (Exposure Notification, Bluetooth
/// Specification 1.2).
public struct ExposureNotification: AdvertisedValue {
    /// The name of the format: `exposure-notification`.
    public static let formatName = "exposure-notification"
    /// Service data with the 16-bit UUID 0xFD6F.
    public static let container = AdvertisedContainer.serviceData(BluetoothUUID(0xFD6F as UInt16))

    /// The rolling proximity identifier, which changes about four times an hour.
    public let identifier: [UInt8]
    /// The encrypted version and transmit power.
    public let metadata: [UInt8]

    /// Decodes exactly 20 octets: the identifier (16) and the metadata (4).
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(20)
        identifier = Array(try reader.readBytes(16))
        metadata = Array(try reader.readBytes(4))
        try reader.finish()
    }

    /// Appends the identifier and the metadata.
    public func encode(into writer: inout ByteWriter) {
        writer.append(identifier)
        writer.append(metadata)
    }

    /// The identifier and the metadata as hexadecimal digits.
    public var fields: [AdvertisedField] {
        [
            AdvertisedField("identifier", .text(identifier.hexadecimal(separator: ""))),
            AdvertisedField("metadata", .text(metadata.hexadecimal(separator: ""))),
        ]
    }
}
