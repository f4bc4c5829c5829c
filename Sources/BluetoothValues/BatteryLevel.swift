import BluetoothBase

/// Battery Level, 0x2A19: how full a battery is.
public struct BatteryLevel: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A19) }

    /// 0, empty, to 100, full.
    public var percentage: UInt8

    public init(percentage: UInt8) { self.percentage = percentage }

    /// - Throws: also `.invalidValue` above 100.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        percentage = try reader.readUInt8(atMost: 100)
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) { writer.append(min(percentage, 100)) }
}
