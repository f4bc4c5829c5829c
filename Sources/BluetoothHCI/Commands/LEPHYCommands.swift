import BluetoothBase

/// LE Read PHY (Core 5.4, Vol 4, Part E, 7.8.47).
public struct LEReadPHY: HCIConnectionCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0030.
    public static let opcode = HCIOpcode.leReadPHY
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the command for this connection.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The transmitter PHY.
        public var transmit: LEPHY
        /// The receiver PHY.
        public var receive: LEPHY

        /// Creates the return parameters from the PHYs in use.
        public init(connectionHandle: ConnectionHandle, transmit: LEPHY, receive: LEPHY) {
            self.connectionHandle = connectionHandle
            self.transmit = transmit
            self.receive = receive
        }

        /// Decodes the connection handle, the transmitter PHY and the receiver PHY, four octets. Throws if octets are
        /// missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, transmit, receive) = try parameters.read()
        }

        /// Appends the connection handle, the transmitter PHY and the receiver PHY, four octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, transmit, receive)
        }
    }
}

/// LE Set Default PHY (Core 5.4, Vol 4, Part E, 7.8.48): sets the preferred PHYs of new connections.
public struct LESetDefaultPHY: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0031.
    public static let opcode = HCIOpcode.leSetDefaultPHY
    /// The directions for which the host has no preference. For those, `transmit` or `receive` is ignored.
    public var withoutPreference: PHYPreference
    /// The preferred transmitter PHYs.
    public var transmit: LEPHYs
    /// The preferred receiver PHYs.
    public var receive: LEPHYs

    /// Creates the command. By default, the host has a preference for both directions.
    public init(withoutPreference: PHYPreference = [], transmit: LEPHYs, receive: LEPHYs) {
        self.withoutPreference = withoutPreference
        self.transmit = transmit
        self.receive = receive
    }

    /// Decodes the directions without a preference, the transmitter PHYs and the receiver PHYs, three octets. Throws if
    /// octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (withoutPreference, transmit, receive) = try parameters.read()
    }

    /// Appends the directions without a preference, the transmitter PHYs and the receiver PHYs, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: withoutPreference, transmit, receive)
    }
}

/// LE Set PHY (Core 5.4, Vol 4, Part E, 7.8.49). LE PHY Update Complete follows.
public struct LESetPHY: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0032.
    public static let opcode = HCIOpcode.leSetPHY
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The directions for which the host has no preference. For those, `transmit` or `receive` is ignored.
    public var withoutPreference: PHYPreference
    /// The preferred transmitter PHYs.
    public var transmit: LEPHYs
    /// The preferred receiver PHYs.
    public var receive: LEPHYs
    /// The preferred coding on LE Coded.
    public var options: LEPHYOptions

    /// Creates the command. By default, the host has a preference for both directions, but no preferred coding.
    public init(
        connectionHandle: ConnectionHandle,
        withoutPreference: PHYPreference = [],
        transmit: LEPHYs,
        receive: LEPHYs,
        options: LEPHYOptions = .noPreference
    ) {
        self.connectionHandle = connectionHandle
        self.withoutPreference = withoutPreference
        self.transmit = transmit
        self.receive = receive
        self.options = options
    }

    /// Decodes seven octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, withoutPreference, transmit, receive, options) = try parameters.read()
    }

    /// Appends the seven octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, withoutPreference, transmit, receive, options)
    }
}

/// The directions for which a host has no preferred PHY (Core 5.4, Vol 4, Part E, 7.8.48).
public struct PHYPreference: OptionSet, Hashable, Sendable {
    /// The All_PHYs parameter. Bits 2 to 7 are reserved.
    public var rawValue: UInt8

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No preference for sending.
    public static let transmit = PHYPreference(rawValue: 1 << 0)
    /// No preference for receiving.
    public static let receive = PHYPreference(rawValue: 1 << 1)
}

extension PHYPreference: HCIParameter {}
