import BluetoothBase

/// LE Create Connection (Core 5.4, Vol 4, Part E, 7.8.12). LE Connection Complete follows, even if the command is
/// cancelled.
public struct LECreateConnection: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x000D.
    public static let opcode = HCIOpcode.leCreateConnection
    /// The time from the start of one scan window to the start of the next, 0x0004 (2.5 ms) to 0x4000 (10.24 s).
    public var scanInterval: LESlots
    /// The time to listen in each interval, 0x0004 (2.5 ms) to 0x4000 (10.24 s); at most the scan interval.
    public var scanWindow: LESlots
    /// Whether to connect to `peerAddress` or to any device on the Filter Accept List.
    public var filterPolicy: InitiatorFilterPolicy
    /// The device to connect to; ignored if `filterPolicy` is `acceptList`.
    public var peerAddress: DeviceAddress
    /// The type of this device's address to use for the connection.
    public var ownAddressType: OwnAddressType
    /// The parameters of the new connection.
    public var connectionParameters: LEConnectionParameters

    /// Creates the command. By default, it connects to `peerAddress`, and this device uses its public address.
    public init(
        scanInterval: LESlots,
        scanWindow: LESlots,
        filterPolicy: InitiatorFilterPolicy = .peerAddress,
        peerAddress: DeviceAddress,
        ownAddressType: OwnAddressType = .public,
        connectionParameters: LEConnectionParameters
    ) {
        self.scanInterval = scanInterval
        self.scanWindow = scanWindow
        self.filterPolicy = filterPolicy
        self.peerAddress = peerAddress
        self.ownAddressType = ownAddressType
        self.connectionParameters = connectionParameters
    }

    /// Decodes 25 octets of parameters. Throws if octets are missing, or if the filter policy, the peer address type or
    /// the own address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (scanInterval, scanWindow, filterPolicy, peerAddress, ownAddressType, connectionParameters) =
            try parameters.read()
    }

    /// Appends the 25 octets of parameters. The interval and the window are clamped to 16 bits.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: scanInterval, scanWindow, filterPolicy, peerAddress, ownAddressType, connectionParameters)
    }
}

/// LE Create Connection Cancel (Core 5.4, Vol 4, Part E, 7.8.13).
public struct LECreateConnectionCancel: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x000E.
    public static let opcode = HCIOpcode.leCreateConnectionCancel

    /// Creates the command, which has no parameters.
    public init() {}
}

/// LE Connection Update (Core 5.4, Vol 4, Part E, 7.8.18).
public struct LEConnectionUpdate: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0013.
    public static let opcode = HCIOpcode.leConnectionUpdate
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The new parameters.
    public var connectionParameters: LEConnectionParameters

    /// Creates the command that requests new parameters for a connection.
    public init(connectionHandle: ConnectionHandle, connectionParameters: LEConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.connectionParameters = connectionParameters
    }

    /// Decodes the connection handle and the connection parameters, 14 octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, connectionParameters) = try parameters.read()
    }

    /// Appends the connection handle and the connection parameters, 14 octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, connectionParameters)
    }
}

/// LE Read Channel Map (Core 5.4, Vol 4, Part E, 7.8.20).
public struct LEReadChannelMap: HCIConnectionCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0015.
    public static let opcode = HCIOpcode.leReadChannelMap
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the command for this connection.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The data channels in use.
        public var channelMap: LEChannelMap

        /// Creates the return parameters from the data channels in use.
        public init(connectionHandle: ConnectionHandle, channelMap: LEChannelMap) {
            self.connectionHandle = connectionHandle
            self.channelMap = channelMap
        }

        /// Decodes the connection handle and the channel map, seven octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, channelMap) = try parameters.read()
        }

        /// Appends the connection handle and the channel map, seven octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, channelMap)
        }
    }
}

/// LE Read Remote Features (Core 5.4, Vol 4, Part E, 7.8.21). LE Read Remote Features Complete follows.
public struct LEReadRemoteFeatures: HCIConnectionCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0016.
    public static let opcode = HCIOpcode.leReadRemoteFeatures
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the command for this connection.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }
}

/// LE Remote Connection Parameter Request Reply (Core 5.4, Vol 4, Part E, 7.8.31).
public struct LERemoteConnectionParameterRequestReply: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0020.
    public static let opcode = HCIOpcode.leRemoteConnectionParameterRequestReply
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The parameters to accept.
    public var connectionParameters: LEConnectionParameters

    /// Creates the reply that accepts the request of the peer, within these parameters.
    public init(connectionHandle: ConnectionHandle, connectionParameters: LEConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.connectionParameters = connectionParameters
    }

    /// Decodes the connection handle and the connection parameters, 14 octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, connectionParameters) = try parameters.read()
    }

    /// Appends the connection handle and the connection parameters, 14 octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, connectionParameters)
    }
}

/// LE Remote Connection Parameter Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.32).
public struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0021.
    public static let opcode = HCIOpcode.leRemoteConnectionParameterRequestNegativeReply
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The reason for the rejection, which is sent to the peer.
    public var reason: HCIStatus

    /// Creates the reply that rejects the request of the peer, by default with the reason Unacceptable Connection
    /// Parameters.
    public init(connectionHandle: ConnectionHandle, reason: HCIStatus = .unacceptableConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    /// Decodes the connection handle and the reason, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, reason) = try parameters.read()
    }

    /// Appends the connection handle and the reason, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, reason)
    }
}
