import BluetoothBase

/// A command packet as received by a controller (Core 5.4, Vol 4, Part E, 5.4.1). A view: it borrows the bytes it was
/// decoded from.
public struct HCICommandPacket: ~Escapable {
    /// The command's opcode.
    public var opcode: HCIOpcode
    /// The encoded parameters, up to 255 octets.
    public var parameters: Span<UInt8>

    /// Decodes a command packet, without its H4 indicator: opcode, length and parameters.
    @_lifetime(copy packet)
    public init(decoding packet: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(packet)
        opcode = HCIOpcode(rawValue: try reader.readUInt16())
        let length = Int(try reader.readUInt8())
        guard length == reader.remaining else { throw DecodingFailure(.invalidLength, at: 2) }
        parameters = reader.readRemaining()
    }

    /// Appends the complete packet, starting with its H4 indicator.
    public func encodePacket(into writer: inout ByteWriter) {
        writer.append(HCIPacketType.command.rawValue)
        writer.append(opcode.rawValue)
        writer.append(UInt8(truncatingIfNeeded: parameters.count))
        writer.append(parameters)
    }

    /// Decodes the parameters of a command.
    ///
    /// - Throws: if the parameters are too short, too long, or contain a value that the specification does not allow;
    ///   `unknownCode` if the packet contains another command.
    public func decode<Command: HCICommand>(
        as command: Command.Type = Command.self
    ) throws(DecodingFailure) -> Command {
        guard opcode == Command.opcode else { throw DecodingFailure(.unknownCode(opcode.rawValue), at: 0) }
        var reader = ByteReader(parameters)
        let decoded = try Command(decoding: &reader)
        try reader.finish()
        return decoded
    }

    /// Decodes the command into the type for its opcode. Returns nil for an opcode that is not in the catalog.
    public func decodeKnown() throws(DecodingFailure) -> (any HCICommand)? {
        guard let entry = HCICommandCatalog.entry(for: opcode) else { return nil }
        return try decodeAny(entry.command)
    }

    private func decodeAny<Command: HCICommand>(_ command: Command.Type) throws(DecodingFailure) -> any HCICommand {
        try decode(as: command)
    }
}
