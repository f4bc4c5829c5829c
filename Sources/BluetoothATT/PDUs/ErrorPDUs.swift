import BluetoothBase

/// ATT_ERROR_RSP (Core 5.4, Vol 3, Part F, 3.4.1.1): the server refuses a request.
public struct ErrorResponse: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .errorResponse }

    /// Which request is refused, at which attribute, and why.
    public var error: ATTError

    @inlinable
    public init(_ error: ATTError) {
        self.error = error
    }

    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        let requestOpcode = try parameters.readUInt8()
        let handle = try parameters.readHandle()
        let code = ATTErrorCode(rawValue: try parameters.readUInt8())
        try parameters.finish()
        error = ATTError(requestOpcode: requestOpcode, handle: handle, code: code)
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(error.requestOpcode)
        writer.append(error.handle)
        writer.append(error.code.rawValue)
    }
}
