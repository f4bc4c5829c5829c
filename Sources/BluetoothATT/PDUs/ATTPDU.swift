import BluetoothBase

/// A PDU of the Attribute Protocol: a view of the bytes it was decoded from, or of the values it is made of
/// (Core 5.4, Vol 3, Part F, 3.3.1).
///
/// Every conforming type has an `init(decoding:)` that takes a reader positioned after the opcode, and a memberwise
/// initializer. Types of fixed length are ordinary `Equatable` values.
public protocol ATTPDU: ~Escapable {
    static var opcode: ATTOpcode { get }

    /// Appends the parameters, which follow the opcode.
    func encodeParameters(into writer: inout ByteWriter)

    /// The parameters in readable form; empty if the PDU has none.
    var parameterDescription: String { get }
}

extension ATTPDU where Self: ~Escapable {
    /// Appends the whole PDU, opcode first.
    @inlinable @inline(__always)
    public func encode(into writer: inout ByteWriter) {
        Self.begin(into: &writer)
        encodeParameters(into: &writer)
    }

    /// Appends only the opcode, for parameters that are written directly into the buffer.
    @inlinable @inline(__always)
    public static func begin(into writer: inout ByteWriter) {
        writer.append(Self.opcode.rawValue)
    }
}

/// A PDU that consists of its opcode alone.
public protocol ATTParameterlessPDU: ATTPDU, Equatable, Sendable {
    init()
}

extension ATTParameterlessPDU {
    /// Decodes the PDU, which has no parameters. Throws if there are any.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        try parameters.finish()
        self.init()
    }

    /// Appends nothing, because the PDU has no parameters.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {}
}

extension ByteReader {
    /// Reads the rest as a list of at least `minimum` complete elements of `stride` octets each.
    @inlinable
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    mutating func readList(stride: Int, minimum: Int = 1) throws(DecodingFailure) -> Span<UInt8> {
        guard stride > 0 else { throw DecodingFailure(.invalidLength, at: offset) }
        let needed = stride &* minimum
        guard remaining >= needed else {
            throw DecodingFailure(.truncated(missing: needed &- remaining), at: bytes.count)
        }
        let ragged = remaining % stride
        guard ragged == 0 else { throw DecodingFailure(.invalidLength, at: bytes.count &- ragged) }
        return readRemaining()
    }
}
