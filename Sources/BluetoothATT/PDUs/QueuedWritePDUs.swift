import BluetoothBase

/// ATT_PREPARE_WRITE_REQ (Core 5.4, Vol 3, Part F, 3.4.6.1): queues a part of a value.
public struct PrepareWriteRequest: ATTPDU, ~Escapable {
    /// The opcode of ATT_PREPARE_WRITE_REQ: 0x16.
    public static var opcode: ATTOpcode { .prepareWriteRequest }

    /// The handle of the attribute to write.
    public var handle: AttributeHandle
    /// The offset of the part in the attribute's value.
    public var offset: UInt16
    /// The part of the value.
    public var value: Span<UInt8>

    /// Creates a request to queue `value`, and refers to its memory.
    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: Span<UInt8>) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    /// Decodes the handle and the offset; the rest is the part of the value. Throws if fewer than four octets are left.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        offset = try parameters.readUInt16()
        value = parameters.readRemaining()
    }

    /// Appends the handle, the offset and the part of the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(offset)
        writer.append(value)
    }
}

/// ATT_PREPARE_WRITE_RSP (Core 5.4, Vol 3, Part F, 3.4.6.2): echoes the request, so that a reliable write can verify
/// it.
public struct PrepareWriteResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_PREPARE_WRITE_RSP: 0x17.
    public static var opcode: ATTOpcode { .prepareWriteResponse }

    /// The handle of the attribute to write.
    public var handle: AttributeHandle
    /// The offset of the part in the attribute's value.
    public var offset: UInt16
    /// The part of the value.
    public var value: Span<UInt8>

    /// Creates a response that echoes the fields of a request, and refers to the memory of `value`.
    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: Span<UInt8>) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    /// Decodes the handle and the offset; the rest is the part of the value. Throws if fewer than four octets are left.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        offset = try parameters.readUInt16()
        value = parameters.readRemaining()
    }

    /// Appends the handle, the offset and the part of the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(offset)
        writer.append(value)
    }
}

/// ATT_EXECUTE_WRITE_REQ (Core 5.4, Vol 3, Part F, 3.4.6.3): writes or discards the queued parts.
public struct ExecuteWriteRequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_EXECUTE_WRITE_REQ: 0x18.
    public static var opcode: ATTOpcode { .executeWriteRequest }

    /// The Flags octet: whether the server writes or discards the queue.
    public enum Flags: UInt8, Sendable {
        /// Discard all prepared writes.
        case cancel = 0x00
        /// Write all of them now.
        case write = 0x01
    }

    /// Whether the server writes or discards the queue.
    public var flags: Flags

    /// Creates a request to write or to discard all prepared writes of the client.
    @inlinable
    public init(_ flags: Flags) {
        self.flags = flags
    }

    /// Decodes the Flags octet. Throws if it is neither 0x00 nor 0x01, or if other octets follow.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        guard let flags = Flags(rawValue: try parameters.readUInt8()) else {
            throw DecodingFailure(.invalidValue, at: parameters.offset &- 1)
        }
        try parameters.finish()
        self.flags = flags
    }

    /// Appends the Flags octet.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(flags.rawValue)
    }
}

/// ATT_EXECUTE_WRITE_RSP (Core 5.4, Vol 3, Part F, 3.4.6.4).
public struct ExecuteWriteResponse: ATTParameterlessPDU {
    /// The opcode of ATT_EXECUTE_WRITE_RSP: 0x19.
    public static var opcode: ATTOpcode { .executeWriteResponse }

    /// Creates a response, which has no parameters.
    @inlinable
    public init() {}
}
