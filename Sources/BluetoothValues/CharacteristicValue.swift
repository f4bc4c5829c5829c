import BluetoothBase

/// The value of a characteristic with a known layout. It gives meaning to the bytes that are read, written or notified.
///
/// The layouts in this module are those of the GATT Specification Supplement. Your own types can also conform, and are
/// then read, written and subscribed to in the same way.
public protocol CharacteristicValue: Sendable {
    /// The UUID of the characteristics that have values of this type.
    static var uuid: BluetoothUUID { get }

    /// Decodes a value. Reserved bits are ignored. Octets after the known fields are also ignored if the layout allows
    /// new fields, as layouts that begin with flags do.
    ///
    /// - Throws: `.truncated` if octets are missing: `offset` is the number of octets present, and `missing` the number
    ///   of further octets needed. `.trailingBytes` if the data is longer than a layout of fixed length.
    ///   `.invalidValue` if a field has a value that is not allowed.
    init(decoding bytes: Span<UInt8>) throws(DecodingFailure)

    /// Appends the encoded value. Numbers outside the range of a field are clamped to it.
    func encode(into writer: inout ByteWriter)
}

extension CharacteristicValue {
    /// Decodes a value from an array, Foundation's `Data`, or any other collection of octets.
    ///
    /// - Throws: the errors of `init(decoding:)`.
    public init(decoding bytes: some Collection<UInt8>) throws(DecodingFailure) {
        let bytes = Array(bytes)
        try self.init(decoding: bytes.span)
    }

    /// The encoded value.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
