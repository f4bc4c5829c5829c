import BluetoothBase

/// ATT_WRITE_REQ (Core 5.4, Vol 3, Part F, 3.4.5.1).
public struct WriteRequest: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .writeRequest }

    public var handle: AttributeHandle
    public var value: Span<UInt8>

    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, value: Span<UInt8>) {
        self.handle = handle
        self.value = value
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        value = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }
}

/// ATT_WRITE_RSP (Core 5.4, Vol 3, Part F, 3.4.5.2).
public struct WriteResponse: ATTParameterlessPDU {
    public static var opcode: ATTOpcode { .writeResponse }

    @inlinable
    public init() {}
}

/// ATT_WRITE_CMD (Core 5.4, Vol 3, Part F, 3.4.5.3): writes without a response.
public struct WriteCommand: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .writeCommand }

    public var handle: AttributeHandle
    public var value: Span<UInt8>

    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, value: Span<UInt8>) {
        self.handle = handle
        self.value = value
    }

    @inlinable @inline(__always)
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        value = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }
}

/// ATT_SIGNED_WRITE_CMD (Core 5.4, Vol 3, Part F, 3.4.5.4): writes without a response, signed for a link that is not
/// encrypted.
public struct SignedWriteCommand: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .signedWriteCommand }

    /// The octets of an authentication signature: a counter of 4 and a MAC of 8 (Vol 3, Part H, 2.4.5).
    @inlinable public static var signatureLength: Int { 12 }

    public var handle: AttributeHandle
    public var value: Span<UInt8>
    /// The authentication signature, over everything before it, opcode included.
    public var authenticationSignature: Span<UInt8>

    /// Only a signature of `signatureLength` octets makes a valid PDU.
    @inlinable
    @_lifetime(copy value, copy authenticationSignature)
    public init(handle: AttributeHandle, value: Span<UInt8>, authenticationSignature: Span<UInt8>) {
        self.handle = handle
        self.value = value
        self.authenticationSignature = authenticationSignature
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        let valueLength = parameters.remaining &- Self.signatureLength
        guard valueLength >= 0 else {
            throw DecodingFailure(.truncated(missing: 0 &- valueLength), at: parameters.bytes.count)
        }
        value = try parameters.readBytes(valueLength)
        authenticationSignature = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
        writer.append(authenticationSignature)
    }
}
