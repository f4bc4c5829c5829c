import BluetoothBase

/// ATT_READ_REQ (Core 5.4, Vol 3, Part F, 3.4.4.3).
public struct ReadRequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_READ_REQ: 0x0A.
    public static var opcode: ATTOpcode { .readRequest }

    /// The handle of the attribute to read.
    public var handle: AttributeHandle

    /// Creates a request to read the value at `handle`.
    @inlinable
    public init(handle: AttributeHandle) {
        self.handle = handle
    }

    /// Decodes the handle. Throws unless there are exactly two octets.
    @inlinable @inline(__always)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        try parameters.finish()
    }

    /// Appends the handle.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
    }
}

/// ATT_READ_RSP (Core 5.4, Vol 3, Part F, 3.4.4.4).
public struct ReadResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_RSP: 0x0B.
    public static var opcode: ATTOpcode { .readResponse }

    /// The value, or as much of it as fits: if the PDU is as long as ATT_MTU, there may be more.
    public var value: Span<UInt8>

    /// Creates a response, which refers to the memory of `value`. At most ATT_MTU - 1 octets fit.
    @inlinable
    @_lifetime(copy value)
    public init(value: Span<UInt8>) {
        self.value = value
    }

    /// Takes all octets as the value, which may be empty. Never throws.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        value = parameters.readRemaining()
    }

    /// Appends the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(value)
    }
}

/// ATT_READ_BLOB_REQ (Core 5.4, Vol 3, Part F, 3.4.4.5): reads a value from an offset.
public struct ReadBlobRequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_READ_BLOB_REQ: 0x0C.
    public static var opcode: ATTOpcode { .readBlobRequest }

    /// The handle of the attribute to read.
    public var handle: AttributeHandle
    /// The offset of the first octet of the value to read.
    public var offset: UInt16

    /// Creates a request to read the value at `handle`, from `offset` on.
    @inlinable
    public init(handle: AttributeHandle, offset: UInt16) {
        self.handle = handle
        self.offset = offset
    }

    /// Decodes the handle and the offset. Throws unless there are exactly four octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        offset = try parameters.readUInt16()
        try parameters.finish()
    }

    /// Appends the handle and the offset.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(offset)
    }
}

/// ATT_READ_BLOB_RSP (Core 5.4, Vol 3, Part F, 3.4.4.6).
public struct ReadBlobResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_BLOB_RSP: 0x0D.
    public static var opcode: ATTOpcode { .readBlobResponse }

    /// The value from the offset, or as much of it as fits.
    public var value: Span<UInt8>

    /// Creates a response, which refers to the memory of `value`. At most ATT_MTU - 1 octets fit.
    @inlinable
    @_lifetime(copy value)
    public init(value: Span<UInt8>) {
        self.value = value
    }

    /// Takes all octets as the part of the value, which may be empty. Never throws.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        value = parameters.readRemaining()
    }

    /// Appends the part of the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(value)
    }
}
