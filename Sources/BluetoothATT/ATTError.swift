import BluetoothBase

/// A request that the server refused, as reported by an ATT_ERROR_RSP (Core 5.4, Vol 3, Part F, 3.4.1.1).
public struct ATTError: Error, Hashable, Sendable {
    /// The opcode of the request that is refused. An octet, because a server echoes opcodes it does not know.
    public var requestOpcode: UInt8
    /// The attribute that caused the refusal, 0x0000 where no attribute did.
    public var handle: AttributeHandle
    /// Why the request is refused.
    public var code: ATTErrorCode

    @inlinable
    public init(requestOpcode: UInt8, handle: AttributeHandle, code: ATTErrorCode) {
        self.requestOpcode = requestOpcode
        self.handle = handle
        self.code = code
    }

    /// Creates the refusal of a request whose opcode is known.
    @inlinable
    public init(_ code: ATTErrorCode, for request: ATTOpcode, at handle: AttributeHandle) {
        self.init(requestOpcode: request.rawValue, handle: handle, code: code)
    }
}

extension ATTError: CustomStringConvertible {
    /// For instance `ATT_READ_REQ handle 0x0003: Read Not Permitted (0x02)`.
    public var description: String { "\(ATTOpcode.name(of: requestOpcode)) handle \(handle): \(code)" }
}
