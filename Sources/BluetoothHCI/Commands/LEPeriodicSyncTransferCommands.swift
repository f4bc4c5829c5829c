import BluetoothBase

/// LE Periodic Advertising Sync Transfer (Core 5.4, Vol 4, Part E, 7.8.89): sends a peer the synchronization
/// information of periodic advertising that this device receives.
public struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x005A.
    public static let opcode = HCIOpcode.lePeriodicAdvertisingSyncTransfer
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// A value to send to the peer with the transfer. The applications define its meaning.
    public var serviceData: UInt16
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle

    /// Creates the command that transfers this train to the peer of a connection.
    public init(connectionHandle: ConnectionHandle, serviceData: UInt16 = 0, syncHandle: SyncHandle) {
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.syncHandle = syncHandle
    }

    /// Decodes the connection handle, the service data and the sync handle, six octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, serviceData, syncHandle) = try parameters.read()
    }

    /// Appends the connection handle, the service data and the sync handle, six octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, serviceData, syncHandle)
    }
}

/// LE Periodic Advertising Set Info Transfer (Core 5.4, Vol 4, Part E, 7.8.90): sends a peer the synchronization
/// information of this device's own periodic advertising.
public struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x005B.
    public static let opcode = HCIOpcode.lePeriodicAdvertisingSetInfoTransfer
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// A value to send to the peer with the transfer. The applications define its meaning.
    public var serviceData: UInt16
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    /// Creates the command that transfers this advertising set to the peer of a connection.
    public init(connectionHandle: ConnectionHandle, serviceData: UInt16 = 0, advertisingHandle: AdvertisingHandle) {
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.advertisingHandle = advertisingHandle
    }

    /// Decodes the connection handle, the service data and the advertising handle, five octets. Throws if octets are
    /// missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, serviceData, advertisingHandle) = try parameters.read()
    }

    /// Appends the connection handle, the service data and the advertising handle, five octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, serviceData, advertisingHandle)
    }
}

/// LE Set Periodic Advertising Sync Transfer Parameters (Core 5.4, Vol 4, Part E, 7.8.91): defines how the controller
/// handles synchronization information from a peer.
public struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// The controller returns the connection handle.
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x005C.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingSyncTransferParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// How the controller handles the synchronization information.
    public var mode: PeriodicSyncTransferMode
    /// The number of periodic advertising events that the controller may skip after a successful receive, 0 to 499.
    public var skip: UInt16
    /// The time without a received packet after which synchronization is lost, 100 ms to 163.84 s.
    public var timeout: SupervisionTimeout
    /// The types of Constant Tone Extension with which the controller does not synchronize; 0 for none.
    public var cteType: UInt8

    /// Creates the command for one connection. By default, the controller skips no events and accepts every Constant
    /// Tone Extension.
    public init(
        connectionHandle: ConnectionHandle, mode: PeriodicSyncTransferMode, skip: UInt16 = 0,
        timeout: SupervisionTimeout, cteType: UInt8 = 0
    ) {
        self.connectionHandle = connectionHandle
        self.mode = mode
        self.skip = skip
        self.timeout = timeout
        self.cteType = cteType
    }

    /// Decodes eight octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, mode, skip, timeout, cteType) = try parameters.read()
    }

    /// Appends the eight octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, mode, skip, timeout, cteType)
    }
}

/// LE Set Default Periodic Advertising Sync Transfer Parameters (Core 5.4, Vol 4, Part E, 7.8.92): sets these
/// parameters for all subsequent connections.
public struct LESetDefaultPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x005D.
    public static let opcode = HCIOpcode.leSetDefaultPeriodicAdvertisingSyncTransferParameters
    /// How the controller handles the synchronization information.
    public var mode: PeriodicSyncTransferMode
    /// The number of periodic advertising events that the controller may skip after a successful receive, 0 to 499.
    public var skip: UInt16
    /// The time without a received packet after which synchronization is lost, 100 ms to 163.84 s.
    public var timeout: SupervisionTimeout
    /// The types of Constant Tone Extension with which the controller does not synchronize; 0 for none.
    public var cteType: UInt8

    /// Creates the command. By default, the controller skips no events and accepts every Constant Tone Extension.
    public init(mode: PeriodicSyncTransferMode, skip: UInt16 = 0, timeout: SupervisionTimeout, cteType: UInt8 = 0) {
        self.mode = mode
        self.skip = skip
        self.timeout = timeout
        self.cteType = cteType
    }

    /// Decodes six octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (mode, skip, timeout, cteType) = try parameters.read()
    }

    /// Appends the six octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: mode, skip, timeout, cteType)
    }
}
