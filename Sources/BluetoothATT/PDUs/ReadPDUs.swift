import BluetoothBase

/// ATT_READ_REQ (Core 5.4, Vol 3, Part F, 3.4.4.3).
public struct ReadRequest: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .readRequest }

    public var handle: AttributeHandle

    @inlinable
    public init(handle: AttributeHandle) {
        self.handle = handle
    }

    @inlinable @inline(__always)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        try parameters.finish()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
    }
}

/// ATT_READ_RSP (Core 5.4, Vol 3, Part F, 3.4.4.4).
public struct ReadResponse: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .readResponse }

    /// The value, or as much of it as fits: a PDU as long as ATT_MTU means that there may be more.
    public var value: Span<UInt8>

    @inlinable
    @_lifetime(copy value)
    public init(value: Span<UInt8>) {
        self.value = value
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        value = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(value)
    }
}

/// ATT_READ_BLOB_REQ (Core 5.4, Vol 3, Part F, 3.4.4.5): reads a value from an offset.
public struct ReadBlobRequest: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .readBlobRequest }

    public var handle: AttributeHandle
    /// The index of the first octet of the value to read.
    public var offset: UInt16

    @inlinable
    public init(handle: AttributeHandle, offset: UInt16) {
        self.handle = handle
        self.offset = offset
    }

    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        offset = try parameters.readUInt16()
        try parameters.finish()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(offset)
    }
}

/// ATT_READ_BLOB_RSP (Core 5.4, Vol 3, Part F, 3.4.4.6).
public struct ReadBlobResponse: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .readBlobResponse }

    /// The value from the offset, or as much of it as fits.
    public var value: Span<UInt8>

    @inlinable
    @_lifetime(copy value)
    public init(value: Span<UInt8>) {
        self.value = value
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        value = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(value)
    }
}
