import BluetoothBase

/// The layout that all signalling commands share: a view of the bytes it was decoded from (Core 5.4, Vol 3, Part A, 4).
public struct SignallingCommand: ~Escapable {
    /// The length of the header: code, identifier, and a length of two octets.
    @inlinable public static var headerLength: Int { 4 }

    /// A `SignallingCode`, or a code that this package does not know.
    public var code: UInt8
    /// Matches a response to its request; 0 is invalid.
    public var identifier: UInt8
    /// The command's own fields.
    public var data: Span<UInt8>

    /// Creates a command, which refers to the memory of `data`. Neither the code nor the identifier is checked.
    @inlinable
    @_lifetime(copy data)
    public init(code: UInt8, identifier: UInt8, data: Span<UInt8>) {
        self.code = code
        self.identifier = identifier
        self.data = data
    }

    /// Decodes the payload of a C-frame. On an LE link a C-frame carries one command, so the length field must match
    /// exactly what follows it.
    @inlinable
    @_lifetime(copy payload)
    public init(decoding payload: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(payload)
        code = try reader.readUInt8()
        identifier = try reader.readUInt8()
        let length = Int(try reader.readUInt16())
        data = try reader.readBytes(length)
        try reader.finish()
    }
}

/// The fields of one signalling command, for decoding and encoding.
public protocol SignallingPDU: Equatable, Sendable {
    static var code: SignallingCode { get }

    /// Reads all of a command's data.
    init(decoding data: consuming ByteReader) throws(DecodingFailure)

    /// Appends the command's data, without the header.
    func encodeData(into writer: inout ByteWriter)
}

extension SignallingPDU {
    /// Appends the whole command: code, identifier, length, data.
    public func encode(identifier: UInt8, into writer: inout ByteWriter) {
        writer.append(Self.code.rawValue)
        writer.append(identifier)
        let lengthOffset = writer.count
        writer.append(UInt16(0))
        encodeData(into: &writer)
        writer.overwrite(UInt16(truncatingIfNeeded: writer.count &- lengthOffset &- 2), at: lengthOffset)
    }
}
