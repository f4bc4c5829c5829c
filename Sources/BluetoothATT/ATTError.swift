import BluetoothBase

/// A request that the server refused, as reported by an ATT_ERROR_RSP (Core 5.4, Vol 3, Part F, 3.4.1.1).
public struct ATTError: Error, Hashable, Sendable {
    /// The opcode of the refused request. It is an octet, because a server also echoes unknown opcodes.
    public var requestOpcode: UInt8
    /// The attribute that caused the refusal, or 0x0000 if no attribute did.
    public var handle: AttributeHandle
    /// Why the request was refused.
    public var code: ATTErrorCode

    /// Creates an error from the fields of an ATT_ERROR_RSP. Any opcode and any handle are accepted.
    @inlinable
    public init(requestOpcode: UInt8, handle: AttributeHandle, code: ATTErrorCode) {
        self.requestOpcode = requestOpcode
        self.handle = handle
        self.code = code
    }

    /// Creates an error for a request with a known opcode.
    @inlinable
    public init(_ code: ATTErrorCode, for request: ATTOpcode, at handle: AttributeHandle) {
        self.init(requestOpcode: request.rawValue, handle: handle, code: code)
    }
}

extension ATTError: CustomStringConvertible {
    /// For example, `ATT_READ_REQ handle 0x0003: Read Not Permitted (0x02)`.
    public var description: String { "\(ATTOpcode.name(of: requestOpcode)) handle \(handle): \(code)" }
}
