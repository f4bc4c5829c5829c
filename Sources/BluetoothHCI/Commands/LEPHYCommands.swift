import BluetoothBase

/// LE Read PHY (Core 5.4, Vol 4, Part E, 7.8.47).
public struct LEReadPHY: HCIConnectionCommand {
    public static let opcode = HCIOpcode.leReadPHY
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The PHY used for sending.
        public var transmit: LEPHY
        /// The PHY used for receiving.
        public var receive: LEPHY

        public init(connectionHandle: ConnectionHandle, transmit: LEPHY, receive: LEPHY) {
            self.connectionHandle = connectionHandle
            self.transmit = transmit
            self.receive = receive
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, transmit, receive) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, transmit, receive)
        }
    }
}

/// LE Set Default PHY (Core 5.4, Vol 4, Part E, 7.8.48): the preferred PHYs of new connections.
public struct LESetDefaultPHY: HCICommand {
    public static let opcode = HCIOpcode.leSetDefaultPHY
    /// The directions for which the host has no preference; `transmit` or `receive` is then ignored.
    public var withoutPreference: PHYPreference
    /// The PHYs preferred for sending.
    public var transmit: LEPHYs
    /// The PHYs preferred for receiving.
    public var receive: LEPHYs

    public init(withoutPreference: PHYPreference = [], transmit: LEPHYs, receive: LEPHYs) {
        self.withoutPreference = withoutPreference
        self.transmit = transmit
        self.receive = receive
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (withoutPreference, transmit, receive) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: withoutPreference, transmit, receive)
    }
}

/// LE Set PHY (Core 5.4, Vol 4, Part E, 7.8.49): LE PHY Update Complete follows.
public struct LESetPHY: HCICommand {
    public static let opcode = HCIOpcode.leSetPHY
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The directions for which the host has no preference; `transmit` or `receive` is then ignored.
    public var withoutPreference: PHYPreference
    /// The PHYs preferred for sending.
    public var transmit: LEPHYs
    /// The PHYs preferred for receiving.
    public var receive: LEPHYs
    /// The coding preferred on LE Coded.
    public var options: LEPHYOptions

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, withoutPreference, transmit, receive, options) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, withoutPreference, transmit, receive, options)
    }
}

/// The directions in which a host leaves the PHY to the controller (Core 5.4, Vol 4, Part E, 7.8.48).
public struct PHYPreference: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No preference for sending.
    public static let transmit = PHYPreference(rawValue: 1 << 0)
    /// No preference for receiving.
    public static let receive = PHYPreference(rawValue: 1 << 1)
}

extension PHYPreference: HCIParameter {}
