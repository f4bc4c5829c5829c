import BluetoothBase

/// ATT_PREPARE_WRITE_REQ (Core 5.4, Vol 3, Part F, 3.4.6.1): queues a part of a value.
public struct PrepareWriteRequest: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .prepareWriteRequest }

    public var handle: AttributeHandle
    /// The index in the attribute's value where the part goes.
    public var offset: UInt16
    /// The part of the value.
    public var value: Span<UInt8>

    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: Span<UInt8>) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        offset = try parameters.readUInt16()
        value = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(offset)
        writer.append(value)
    }
}

/// ATT_PREPARE_WRITE_RSP (Core 5.4, Vol 3, Part F, 3.4.6.2): echoes the request, so that a reliable write can compare
/// it.
public struct PrepareWriteResponse: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .prepareWriteResponse }

    public var handle: AttributeHandle
    /// The index in the attribute's value where the part goes.
    public var offset: UInt16
    /// The part of the value.
    public var value: Span<UInt8>

    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, offset: UInt16, value: Span<UInt8>) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        offset = try parameters.readUInt16()
        value = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(offset)
        writer.append(value)
    }
}

/// ATT_EXECUTE_WRITE_REQ (Core 5.4, Vol 3, Part F, 3.4.6.3): writes or discards the queued parts.
public struct ExecuteWriteRequest: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .executeWriteRequest }

    public enum Flags: UInt8, Sendable {
        /// Discard all prepared writes.
        case cancel = 0x00
        /// Write all of them now.
        case write = 0x01
    }

    public var flags: Flags

    @inlinable
    public init(_ flags: Flags) {
        self.flags = flags
    }

    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        guard let flags = Flags(rawValue: try parameters.readUInt8()) else {
            throw DecodingFailure(.invalidValue, at: parameters.offset &- 1)
        }
        try parameters.finish()
        self.flags = flags
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(flags.rawValue)
    }
}

/// ATT_EXECUTE_WRITE_RSP (Core 5.4, Vol 3, Part F, 3.4.6.4).
public struct ExecuteWriteResponse: ATTParameterlessPDU {
    public static var opcode: ATTOpcode { .executeWriteResponse }

    @inlinable
    public init() {}
}
