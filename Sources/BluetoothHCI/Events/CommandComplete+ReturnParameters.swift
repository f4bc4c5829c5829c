import BluetoothBase

extension CommandComplete {
    /// The status octet; nil if the event contains no return parameters.
    public var status: HCIStatus? {
        returnParameters.isEmpty ? nil : HCIStatus(rawValue: returnParameters[0])
    }

    /// Decodes the return parameters of `command`, after the status octet. A controller may omit them when it reports a
    /// failure, so check `status` first.
    public func decodeReturnParameters<Command: HCICommand>(
        of command: Command.Type
    ) throws(DecodingFailure) -> Command.ReturnParameters {
        guard opcode == Command.opcode else { throw DecodingFailure(.unknownCode(opcode.rawValue), at: 1) }
        var reader = ByteReader(returnParameters)
        _ = try reader.readUInt8()
        return try Command.ReturnParameters(decoding: &reader)
    }

    /// Decodes the return parameters after the status octet as a value of their own type. Returns nil for an opcode
    /// that is not in the catalog.
    public func decodeKnownReturnParameters() throws(DecodingFailure) -> (any HCIReturnParameters)? {
        guard let entry = HCICommandCatalog.entry(for: opcode) else { return nil }
        return try decodeAny(entry.command)
    }

    private func decodeAny<Command: HCICommand>(
        _ command: Command.Type
    ) throws(DecodingFailure) -> any HCIReturnParameters {
        try decodeReturnParameters(of: command)
    }
}

extension HCICommand {
    /// Appends a Command Complete event for this command, as a controller sends it, starting with the H4 indicator.
    ///
    /// - Parameter returnParameters: the return parameters after the status octet; nil omits them, as after a failure.
    public static func encodeCompletion(
        status: HCIStatus = .success, returning returnParameters: ReturnParameters?, numHCICommandPackets: UInt8 = 1,
        into writer: inout ByteWriter
    ) {
        writer.append(HCIPacketType.event.rawValue)
        writer.append(HCIEventCode.commandComplete.rawValue)
        let lengthOffset = writer.count
        writer.append(UInt8(0))
        writer.append(parameters: numHCICommandPackets, opcode, status)
        returnParameters?.encode(into: &writer)
        writer.overwrite(UInt8(truncatingIfNeeded: writer.count - lengthOffset - 1), at: lengthOffset)
    }
}
