import BluetoothBase

/// ATT_HANDLE_VALUE_NTF (Core 5.4, Vol 3, Part F, 3.4.7.1).
public struct HandleValueNotification: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .handleValueNotification }

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
