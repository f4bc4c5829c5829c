import BluetoothBase

/// A PDU of the Attribute Protocol: a view of the bytes it was decoded from, or of the values it is made of
/// (Core 5.4, Vol 3, Part F, 3.3.1).
public protocol ATTPDU: ~Escapable {
    static var opcode: ATTOpcode { get }

    /// Appends what follows the opcode.
    func encodeParameters(into writer: inout ByteWriter)
}

extension ATTPDU where Self: ~Escapable {
    /// Appends the whole PDU, opcode first.
    @inlinable
    public func encode(into writer: inout ByteWriter) {
        writer.append(Self.opcode.rawValue)
        encodeParameters(into: &writer)
    }
}
