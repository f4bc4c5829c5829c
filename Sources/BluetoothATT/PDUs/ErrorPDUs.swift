import BluetoothBase

/// ATT_ERROR_RSP (Core 5.4, Vol 3, Part F, 3.4.1.1): the server refuses a request.
public struct ErrorResponse: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_ERROR_RSP: 0x01.
    public static var opcode: ATTOpcode { .errorResponse }

    /// The refused request, the attribute that caused the refusal, and the reason.
    public var error: ATTError

    /// Creates a response that reports `error` to the client.
    @inlinable
    public init(_ error: ATTError) {
        self.error = error
    }

    /// Decodes the request's opcode, the handle and the error code. Throws unless there are exactly four octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        let requestOpcode = try parameters.readUInt8()
        let handle = try parameters.readHandle()
        let code = ATTErrorCode(rawValue: try parameters.readUInt8())
        try parameters.finish()
        error = ATTError(requestOpcode: requestOpcode, handle: handle, code: code)
    }

    /// Appends the request's opcode, the handle and the error code: four octets.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(error.requestOpcode)
        writer.append(error.handle)
        writer.append(error.code.rawValue)
    }
}
