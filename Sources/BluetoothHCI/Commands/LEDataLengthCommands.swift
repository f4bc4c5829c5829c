import BluetoothBase

/// LE Set Data Length (Core 5.4, Vol 4, Part E, 7.8.33): suggests the maximum length of PDUs sent on a connection.
public struct LESetDataLength: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0022.
    public static let opcode = HCIOpcode.leSetDataLength
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The suggested maximum length of PDUs sent on this connection.
    public var transmit: LEDataLength

    /// Creates the command with the PDU length to use on a connection.
    public init(connectionHandle: ConnectionHandle, transmit: LEDataLength) {
        self.connectionHandle = connectionHandle
        self.transmit = transmit
    }

    /// Decodes the connection handle and the transmit length, six octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, transmit) = try parameters.read()
    }

    /// Appends the connection handle and the transmit length, six octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, transmit)
    }
}

/// LE Read Suggested Default Data Length (Core 5.4, Vol 4, Part E, 7.8.34).
public struct LEReadSuggestedDefaultDataLength: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0023.
    public static let opcode = HCIOpcode.leReadSuggestedDefaultDataLength

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The suggested maximum length of PDUs sent on new connections.
        public var transmit: LEDataLength

        /// Creates the return parameters from the suggested PDU length.
        public init(transmit: LEDataLength) {
            self.transmit = transmit
        }

        /// Decodes the transmit length, four octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            transmit = try parameters.read()
        }

        /// Appends the transmit length, four octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: transmit)
        }
    }
}

/// LE Write Suggested Default Data Length (Core 5.4, Vol 4, Part E, 7.8.35): suggests the maximum length of PDUs sent
/// on new connections.
public struct LEWriteSuggestedDefaultDataLength: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0024.
    public static let opcode = HCIOpcode.leWriteSuggestedDefaultDataLength
    /// The suggested maximum length of PDUs sent on new connections.
    public var transmit: LEDataLength

    /// Creates the command with the PDU length to use on new connections.
    public init(transmit: LEDataLength) {
        self.transmit = transmit
    }

    /// Decodes the transmit length, four octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        transmit = try parameters.read()
    }

    /// Appends the transmit length, four octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: transmit)
    }
}

/// LE Read Maximum Data Length (Core 5.4, Vol 4, Part E, 7.8.46).
public struct LEReadMaximumDataLength: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x002F.
    public static let opcode = HCIOpcode.leReadMaximumDataLength

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The maximum length of PDUs that the controller can send.
        public var transmit: LEDataLength
        /// The maximum length of PDUs that the controller can receive.
        public var receive: LEDataLength

        /// Creates the return parameters from the maximum PDU lengths in both directions.
        public init(transmit: LEDataLength, receive: LEDataLength) {
            self.transmit = transmit
            self.receive = receive
        }

        /// Decodes the transmit length and the receive length, eight octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (transmit, receive) = try parameters.read()
        }

        /// Appends the transmit length and the receive length, eight octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: transmit, receive)
        }
    }
}
