import BluetoothBase

/// Hardware Error (Core 5.4, Vol 4, Part E, 7.7.16): the controller has failed and needs a reset.
public struct HardwareError: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .hardwareError }
    /// A code of the manufacturer's.
    public var hardwareCode: UInt8

    public init(hardwareCode: UInt8) {
        self.hardwareCode = hardwareCode
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        hardwareCode = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: hardwareCode)
    }
}

/// Data Buffer Overflow (Core 5.4, Vol 4, Part E, 7.7.26): the host sent more data than the controller can hold.
public struct DataBufferOverflow: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .dataBufferOverflow }
    /// 0x00 synchronous, 0x01 ACL, 0x02 ISO.
    public var linkType: UInt8

    public init(linkType: UInt8) {
        self.linkType = linkType
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        linkType = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: linkType)
    }
}

/// Command Status (Core 5.4, Vol 4, Part E, 7.7.15).
public struct CommandStatus: HCIEventBody, Equatable, Sendable {
    public static var code: HCIEventCode { .commandStatus }
    /// Success says that the command is in progress. Another event reports its outcome.
    public var status: HCIStatus
    /// How many more commands the controller can take now.
    public var numHCICommandPackets: UInt8
    /// The command, or `none` if the event only reports how many commands the controller can take.
    public var opcode: HCIOpcode

    public init(status: HCIStatus, numHCICommandPackets: UInt8, opcode: HCIOpcode) {
        self.status = status
        self.numHCICommandPackets = numHCICommandPackets
        self.opcode = opcode
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, numHCICommandPackets, opcode) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, numHCICommandPackets, opcode)
    }
}

/// Command Complete (Core 5.4, Vol 4, Part E, 7.7.14). A view: it borrows the bytes it was decoded from.
public struct CommandComplete: HCIEventBody, ~Escapable {
    public static var code: HCIEventCode { .commandComplete }
    /// How many more commands the controller can take now.
    public var numHCICommandPackets: UInt8
    /// The command, or `none` if the event only reports how many commands the controller can take.
    public var opcode: HCIOpcode
    /// The status octet, for commands that return one, and the other return parameters, still encoded.
    public var returnParameters: Span<UInt8>

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

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: numHCICommandPackets, opcode)
        writer.append(returnParameters)
    }
}
