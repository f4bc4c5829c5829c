import BluetoothBase

/// Temperature, 0x2A6E: what an environmental sensor measures.
public struct Temperature: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A6E) }

    /// In degrees Celsius, -273.15 to 327.67, with a resolution of 0.01; nil if unknown.
    public var celsius: Double?

    public init(celsius: Double?) { self.celsius = celsius }

    /// Hundredths of a degree, from absolute zero up.
    private static let range: ClosedRange<Int16> = -27315...32767
    private static let unknown = Int16.min

    /// - Throws: also `.invalidValue` below absolute zero.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let hundredths = Int16(bitPattern: try reader.readUInt16())
        try reader.finish()
        guard hundredths != Self.unknown else {
            celsius = nil
            return
        }
        guard Self.range.contains(hundredths) else { throw DecodingFailure(.invalidValue, at: 0) }
        celsius = Double(hundredths) / 100
    }

    public func encode(into writer: inout ByteWriter) {
        // NaN counts as unknown.
        let known = celsius.flatMap { $0.isNaN ? nil : $0 }
        writer.append(known.map { Int16(nearest: $0 * 100, in: Self.range) } ?? Self.unknown)
    }
}
