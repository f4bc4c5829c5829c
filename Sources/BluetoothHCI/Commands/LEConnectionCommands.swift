import BluetoothBase

/// LE Create Connection (Core 5.4, Vol 4, Part E, 7.8.12): LE Connection Complete follows, also after a cancel.
public struct LECreateConnection: HCICommand {
    public static let opcode = HCIOpcode.leCreateConnection
    /// From the start of one scan window to the start of the next, 0x0004 (2.5 ms) to 0x4000 (10.24 s).
    public var scanInterval: LESlots
    /// How long to listen in each interval, 0x0004 (2.5 ms) to 0x4000 (10.24 s); at most the interval.
    public var scanWindow: LESlots
    /// Which device to connect to.
    public var filterPolicy: InitiatorFilterPolicy
    /// The device to connect to; ignored if `filterPolicy` is `acceptList`.
    public var peerAddress: DeviceAddress
    /// The address to connect with.
    public var ownAddressType: OwnAddressType
    /// The parameters of the new connection.
    public var connectionParameters: LEConnectionParameters

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (scanInterval, scanWindow, filterPolicy, peerAddress, ownAddressType, connectionParameters) =
            try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: scanInterval, scanWindow, filterPolicy, peerAddress, ownAddressType, connectionParameters)
    }
}

/// LE Create Connection Cancel (Core 5.4, Vol 4, Part E, 7.8.13).
public struct LECreateConnectionCancel: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leCreateConnectionCancel
    public init() {}
}

/// LE Connection Update (Core 5.4, Vol 4, Part E, 7.8.18).
public struct LEConnectionUpdate: HCICommand {
    public static let opcode = HCIOpcode.leConnectionUpdate
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The parameters to change to.
    public var connectionParameters: LEConnectionParameters

    public init(connectionHandle: ConnectionHandle, connectionParameters: LEConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.connectionParameters = connectionParameters
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, connectionParameters) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, connectionParameters)
    }
}

/// LE Read Channel Map (Core 5.4, Vol 4, Part E, 7.8.20).
public struct LEReadChannelMap: HCIConnectionCommand {
    public static let opcode = HCIOpcode.leReadChannelMap
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The data channels in use.
        public var channelMap: LEChannelMap

        public init(connectionHandle: ConnectionHandle, channelMap: LEChannelMap) {
            self.connectionHandle = connectionHandle
            self.channelMap = channelMap
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, channelMap) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, channelMap)
        }
    }
}

/// LE Read Remote Features (Core 5.4, Vol 4, Part E, 7.8.21): LE Read Remote Features Complete follows.
public struct LEReadRemoteFeatures: HCIConnectionCommand {
    public static let opcode = HCIOpcode.leReadRemoteFeatures
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }
}

/// LE Remote Connection Parameter Request Reply (Core 5.4, Vol 4, Part E, 7.8.31).
public struct LERemoteConnectionParameterRequestReply: HCICommand {
    public static let opcode = HCIOpcode.leRemoteConnectionParameterRequestReply
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The parameters to accept.
    public var connectionParameters: LEConnectionParameters

    public init(connectionHandle: ConnectionHandle, connectionParameters: LEConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.connectionParameters = connectionParameters
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, connectionParameters) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, connectionParameters)
    }
}

/// LE Remote Connection Parameter Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.32).
public struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    public static let opcode = HCIOpcode.leRemoteConnectionParameterRequestNegativeReply
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Why the request is rejected; the peer receives it.
    public var reason: HCIStatus

    public init(connectionHandle: ConnectionHandle, reason: HCIStatus = .unacceptableConnectionParameters) {
        self.connectionHandle = connectionHandle
        self.reason = reason
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, reason) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, reason)
    }
}
