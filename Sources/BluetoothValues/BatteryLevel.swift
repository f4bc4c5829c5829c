import BluetoothBase

/// Battery Level, 0x2A19: the charge of a battery.
public struct BatteryLevel: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A19.
    public static var uuid: BluetoothUUID { .init(0x2A19) }

    /// The charge from 0 (empty) to 100 (full).
    public var percentage: UInt8

    /// Creates a level. A value above 100 is encoded as 100.
    public init(percentage: UInt8) { self.percentage = percentage }

    /// Decodes exactly one octet.
    ///
    /// - Throws: also `.invalidValue` above 100.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        percentage = try reader.readUInt8(atMost: 100)
        try reader.finish()
    }

    /// Appends one octet: the percentage, at most 100.
    public func encode(into writer: inout ByteWriter) { writer.append(min(percentage, 100)) }
}
