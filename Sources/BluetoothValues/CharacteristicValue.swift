import BluetoothBase

/// The value of a characteristic whose layout is known: what the bytes that a peer reads, writes or notifies say.
///
/// The layouts of this module are those of the GATT Specification Supplement. A type of one's own conforms in the same
/// way, and is then read, written and subscribed to like them.
public protocol CharacteristicValue: Sendable {
    /// The UUID of the characteristics that carry such values.
    static var uuid: BluetoothUUID { get }

    /// Reads a value. Bits that are reserved are ignored, and so are octets behind the known fields where the layout
    /// leaves room for new ones, as those that begin with flags do.
    ///
    /// - Throws: `.truncated` where octets are missing: `offset` says how many there are, and `missing` how many more are
    ///   needed. `.trailingBytes` where a layout of a fixed length is exceeded, `.invalidValue` where a field holds what
    ///   it must not.
    init(decoding bytes: Span<UInt8>) throws(DecodingFailure)

    /// Appends the value. What a field cannot hold is written as the nearest that it can.
    func encode(into writer: inout ByteWriter)
}

extension CharacteristicValue {
    /// Reads a value from an array, from Foundation's `Data`, or from any other collection of octets.
    ///
    /// - Throws: what `init(decoding:)` does for a span.
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
