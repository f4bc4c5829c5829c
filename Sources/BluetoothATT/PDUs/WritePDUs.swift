import BluetoothBase

/// ATT_WRITE_REQ (Core 5.4, Vol 3, Part F, 3.4.5.1).
public struct WriteRequest: ATTPDU, ~Escapable {
    /// The opcode of ATT_WRITE_REQ: 0x12.
    public static var opcode: ATTOpcode { .writeRequest }

    /// The handle of the attribute to write.
    public var handle: AttributeHandle
    /// The value to write, at most ATT_MTU - 3 octets. It may be empty.
    public var value: Span<UInt8>

    /// Creates a request, which refers to the memory of `value`.
    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, value: Span<UInt8>) {
        self.handle = handle
        self.value = value
    }

    /// Decodes the handle; the rest is the value. Throws if there are fewer than two octets.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        value = parameters.readRemaining()
    }

    /// Appends the handle and the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }
}

/// ATT_WRITE_RSP (Core 5.4, Vol 3, Part F, 3.4.5.2).
public struct WriteResponse: ATTParameterlessPDU {
    /// The opcode of ATT_WRITE_RSP: 0x13.
    public static var opcode: ATTOpcode { .writeResponse }

    /// Creates a response, which has no parameters.
    @inlinable
    public init() {}
}

/// ATT_WRITE_CMD (Core 5.4, Vol 3, Part F, 3.4.5.3): writes without a response.
public struct WriteCommand: ATTPDU, ~Escapable {
    /// The opcode of ATT_WRITE_CMD: 0x52.
    public static var opcode: ATTOpcode { .writeCommand }

    /// The handle of the attribute to write.
    public var handle: AttributeHandle
    /// The value to write, at most ATT_MTU - 3 octets. It may be empty.
    public var value: Span<UInt8>

    /// Creates a command, which refers to the memory of `value`.
    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, value: Span<UInt8>) {
        self.handle = handle
        self.value = value
    }

    /// Decodes the handle; the rest is the value. Throws if there are fewer than two octets.
    @inlinable @inline(__always)
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        value = parameters.readRemaining()
    }

    /// Appends the handle and the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }
}

/// ATT_SIGNED_WRITE_CMD (Core 5.4, Vol 3, Part F, 3.4.5.4): writes without a response, signed for a link that is not
/// encrypted.
public struct SignedWriteCommand: ATTPDU, ~Escapable {
    /// The opcode of ATT_SIGNED_WRITE_CMD: 0xD2.
    public static var opcode: ATTOpcode { .signedWriteCommand }

    /// The length of an authentication signature, in octets: a counter of 4 and a MAC of 8 (Vol 3, Part H, 2.4.5).
    @inlinable public static var signatureLength: Int { 12 }

    /// The handle of the attribute to write.
    public var handle: AttributeHandle
    /// The value to write, at most ATT_MTU - 15 octets. It may be empty.
    public var value: Span<UInt8>
    /// The authentication signature, over everything before it, including the opcode.
    public var authenticationSignature: Span<UInt8>

    /// The PDU is valid only with a signature of `signatureLength` octets.
    @inlinable
    @_lifetime(copy value, copy authenticationSignature)
    public init(handle: AttributeHandle, value: Span<UInt8>, authenticationSignature: Span<UInt8>) {
        self.handle = handle
        self.value = value
        self.authenticationSignature = authenticationSignature
    }

    /// Decodes the handle, the value and the 12 octets of the signature. Throws if there are fewer than 14 octets. The
    /// signature is not verified.
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

    /// Appends the handle, the value and the signature.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
        writer.append(authenticationSignature)
    }
}
