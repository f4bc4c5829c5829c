import BluetoothBase

/// LE Set Data Length (Core 5.4, Vol 4, Part E, 7.8.33): the longest PDUs to send on one connection.
public struct LESetDataLength: HCICommand {
    public static let opcode = HCIOpcode.leSetDataLength
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The longest PDUs to send on this connection: a suggestion to the controller.
    public var transmit: LEDataLength

    public init(connectionHandle: ConnectionHandle, transmit: LEDataLength) {
        self.connectionHandle = connectionHandle
        self.transmit = transmit
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, transmit) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, transmit)
    }
}

/// LE Read Suggested Default Data Length (Core 5.4, Vol 4, Part E, 7.8.34).
public struct LEReadSuggestedDefaultDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadSuggestedDefaultDataLength
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The suggested length of PDUs sent on new connections.
        public var transmit: LEDataLength

        public init(transmit: LEDataLength) {
            self.transmit = transmit
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            transmit = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: transmit)
        }
    }
}

/// LE Write Suggested Default Data Length (Core 5.4, Vol 4, Part E, 7.8.35): the longest PDUs to send on new
/// connections.
public struct LEWriteSuggestedDefaultDataLength: HCICommand {
    public static let opcode = HCIOpcode.leWriteSuggestedDefaultDataLength
    /// The longest PDUs to send on new connections: a suggestion to the controller.
    public var transmit: LEDataLength

    public init(transmit: LEDataLength) {
        self.transmit = transmit
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        transmit = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: transmit)
    }
}

/// LE Read Maximum Data Length (Core 5.4, Vol 4, Part E, 7.8.46).
public struct LEReadMaximumDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadMaximumDataLength
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The longest PDUs the controller can send.
        public var transmit: LEDataLength
        /// The longest PDUs the controller can receive.
        public var receive: LEDataLength

        public init(transmit: LEDataLength, receive: LEDataLength) {
            self.transmit = transmit
            self.receive = receive
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (transmit, receive) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: transmit, receive)
        }
    }
}
