import BluetoothBase

/// The value of a characteristic with a known layout: the meaning of the bytes that are read, written or notified.
///
/// The layouts of this module are those of the GATT Specification Supplement. Your own types can conform in the same
/// way, and are then read, written and subscribed to like these.
public protocol CharacteristicValue: Sendable {
    /// The UUID of the characteristics that carry such values.
    static var uuid: BluetoothUUID { get }

    /// Reads a value. Reserved bits are ignored, and so are octets after the known fields if the layout allows new
    /// ones, as layouts that begin with flags do.
    ///
    /// - Throws: `.truncated` if octets are missing: `offset` says how many there are, and `missing` how many more are
    ///   needed. `.trailingBytes` if a layout of fixed length is exceeded, `.invalidValue` if a field has a value that
    ///   is not allowed.
    init(decoding bytes: Span<UInt8>) throws(DecodingFailure)

    /// Appends the value. Numbers outside the range of a field are clamped to it.
    func encode(into writer: inout ByteWriter)
}

extension CharacteristicValue {
    /// Reads a value from an array, Foundation's `Data`, or any other collection of octets.
    ///
    /// - Throws: the errors of `init(decoding:)`.
    public init(decoding bytes: some Collection<UInt8>) throws(DecodingFailure) {
        let bytes = Array(bytes)
        try self.init(decoding: bytes.span)
    }

    /// The value as it is sent.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
