import BluetoothBase

/// Temperature, 0x2A6E: the temperature that an environmental sensor measures.
public struct Temperature: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A6E.
    public static var uuid: BluetoothUUID { .init(0x2A6E) }

    /// The temperature in degrees Celsius, -273.15 to 327.67, with a resolution of 0.01; nil if unknown.
    public var celsius: Double?

    /// Creates a temperature in degrees Celsius. Pass nil if it is unknown.
    public init(celsius: Double?) { self.celsius = celsius }

    /// The valid range in hundredths of a degree, starting at absolute zero.
    private static let range: ClosedRange<Int16> = -27315...32767
    private static let unknown = Int16.min

    /// Decodes exactly two octets.
    ///
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

    /// Appends two octets: the temperature, rounded to 0.01 °C, or the value for an unknown temperature.
    public func encode(into writer: inout ByteWriter) {
        // NaN is treated as unknown.
        let known = celsius.flatMap { $0.isNaN ? nil : $0 }
        writer.append(known.map { Int16(nearest: $0 * 100, in: Self.range) } ?? Self.unknown)
    }
}
