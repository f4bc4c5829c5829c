import BluetoothBase

/// Hardware Error (Core 5.4, Vol 4, Part E, 7.7.16): the controller has failed and needs a reset.
public struct HardwareError: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x10.
    public static var code: HCIEventCode { .hardwareError }
    /// A code that the manufacturer defines.
    public var hardwareCode: UInt8

    /// Creates the event with a code that the manufacturer defines.
    public init(hardwareCode: UInt8) {
        self.hardwareCode = hardwareCode
    }

    /// Decodes the code, one octet. Throws if the octet is missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        hardwareCode = try parameters.read()
    }

    /// Appends the code, one octet.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: hardwareCode)
    }
}

/// Data Buffer Overflow (Core 5.4, Vol 4, Part E, 7.7.26): the host has sent more data than the controller can buffer.
public struct DataBufferOverflow: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x1A.
    public static var code: HCIEventCode { .dataBufferOverflow }
    /// The kind of data: 0x00 for synchronous, 0x01 for ACL, 0x02 for ISO.
    public var linkType: UInt8

    /// Creates the event for a kind of data: 0x00 for synchronous, 0x01 for ACL, 0x02 for ISO.
    public init(linkType: UInt8) {
        self.linkType = linkType
    }

    /// Decodes the kind of data, one octet. Throws if the octet is missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        linkType = try parameters.read()
    }

    /// Appends the kind of data, one octet.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: linkType)
    }
}

/// Command Status (Core 5.4, Vol 4, Part E, 7.7.15).
public struct CommandStatus: HCIEventBody, Equatable, Sendable {
    /// The event code, 0x0F.
    public static var code: HCIEventCode { .commandStatus }
    /// Success means that the command is in progress. Another event reports its outcome.
    public var status: HCIStatus
    /// The number of further commands the controller can accept now.
    public var numHCICommandPackets: UInt8
    /// The command, or `none` if the event only reports the number of commands the controller can accept.
    public var opcode: HCIOpcode

    /// Creates the event that answers the command with this opcode.
    public init(status: HCIStatus, numHCICommandPackets: UInt8, opcode: HCIOpcode) {
        self.status = status
        self.numHCICommandPackets = numHCICommandPackets
        self.opcode = opcode
    }

    /// Decodes the status, the number of commands and the opcode, four octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, numHCICommandPackets, opcode) = try parameters.read()
    }

    /// Appends the status, the number of commands and the opcode, four octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, numHCICommandPackets, opcode)
    }
}

/// Command Complete (Core 5.4, Vol 4, Part E, 7.7.14). A view: it borrows the bytes it was decoded from.
public struct CommandComplete: HCIEventBody, ~Escapable {
    /// The event code, 0x0E.
    public static var code: HCIEventCode { .commandComplete }
    /// The number of further commands the controller can accept now.
    public var numHCICommandPackets: UInt8
    /// The command, or `none` if the event only reports the number of commands the controller can accept.
    public var opcode: HCIOpcode
    /// The encoded return parameters, including the status octet for commands that return one.
    public var returnParameters: Span<UInt8>

    /// Creates the event that answers the command with this opcode. By default, the controller can accept one more
    /// command.
    @_lifetime(copy returnParameters)
    public init(numHCICommandPackets: UInt8 = 1, opcode: HCIOpcode, returnParameters: Span<UInt8>) {
        self.numHCICommandPackets = numHCICommandPackets
        self.opcode = opcode
        self.returnParameters = returnParameters
    }

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        (numHCICommandPackets, opcode) = try reader.read()
        returnParameters = reader.readRemaining()
    }

    /// Appends the number of commands, the opcode and the return parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: numHCICommandPackets, opcode)
        writer.append(returnParameters)
    }
}
