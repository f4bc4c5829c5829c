import BluetoothBase

/// What telephones send to notify of exposure: opaque to everybody but who has the keys (Exposure Notification, Bluetooth
/// Specification 1.2).
public struct ExposureNotification: AdvertisedValue {
    public static let formatName = "exposure-notification"
    public static let container = AdvertisedContainer.serviceData(BluetoothUUID(0xFD6F as UInt16))

    /// The rolling proximity identifier, which changes some four times an hour.
    public let identifier: [UInt8]
    /// A version and a transmit power, encrypted.
    public let metadata: [UInt8]

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(20)
        identifier = Array(try reader.readBytes(16))
        metadata = Array(try reader.readBytes(4))
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(identifier)
        writer.append(metadata)
    }

    public var fields: [AdvertisedField] {
        [
            AdvertisedField("identifier", .text(identifier.hexadecimal(separator: ""))),
            AdvertisedField("metadata", .text(metadata.hexadecimal(separator: ""))),
        ]
    }
}
