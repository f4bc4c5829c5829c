import BluetoothBase

/// LE Periodic Advertising Sync Transfer (Core 5.4, Vol 4, Part E, 7.8.89): tells a peer of periodic advertising that this
/// device receives.
public struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    public static let opcode = HCIOpcode.lePeriodicAdvertisingSyncTransfer
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// What the peer is told with it; its meaning is up to the applications.
    public var serviceData: UInt16
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle

    public init(connectionHandle: ConnectionHandle, serviceData: UInt16 = 0, syncHandle: SyncHandle) {
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.syncHandle = syncHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, serviceData, syncHandle) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, serviceData, syncHandle)
    }
}

/// LE Periodic Advertising Set Info Transfer (Core 5.4, Vol 4, Part E, 7.8.90): tells a peer of periodic advertising of this
/// device.
public struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    public static let opcode = HCIOpcode.lePeriodicAdvertisingSetInfoTransfer
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// What the peer is told with it; its meaning is up to the applications.
    public var serviceData: UInt16
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    public init(connectionHandle: ConnectionHandle, serviceData: UInt16 = 0, advertisingHandle: AdvertisingHandle) {
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.advertisingHandle = advertisingHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, serviceData, advertisingHandle) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, serviceData, advertisingHandle)
    }
}

/// LE Set Periodic Advertising Sync Transfer Parameters (Core 5.4, Vol 4, Part E, 7.8.91): what becomes of periodic advertising
/// of which a peer tells.
public struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
    public typealias ReturnParameters = ConnectionHandleReturnParameters
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingSyncTransferParameters
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// What the controller does.
    public var mode: PeriodicSyncTransferMode
    /// How many events in a row need not be received, 0 to 499.
    public var skip: UInt16
    /// After how long without a packet it counts as lost, 100 ms to 163.84 s.
    public var timeout: SupervisionTimeout
    /// Which constant tone extensions keep the controller from synchronizing; 0 for none.
    public var cteType: UInt8

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, mode, skip, timeout, cteType) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, mode, skip, timeout, cteType)
    }
}

/// LE Set Default Periodic Advertising Sync Transfer Parameters (Core 5.4, Vol 4, Part E, 7.8.92): the same for all later
/// connections.
public struct LESetDefaultPeriodicAdvertisingSyncTransferParameters: HCICommand {
    public static let opcode = HCIOpcode.leSetDefaultPeriodicAdvertisingSyncTransferParameters
    /// What the controller does.
    public var mode: PeriodicSyncTransferMode
    /// How many events in a row need not be received, 0 to 499.
    public var skip: UInt16
    /// After how long without a packet it counts as lost, 100 ms to 163.84 s.
    public var timeout: SupervisionTimeout
    /// Which constant tone extensions keep the controller from synchronizing; 0 for none.
    public var cteType: UInt8

    public init(mode: PeriodicSyncTransferMode, skip: UInt16 = 0, timeout: SupervisionTimeout, cteType: UInt8 = 0) {
        self.mode = mode
        self.skip = skip
        self.timeout = timeout
        self.cteType = cteType
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (mode, skip, timeout, cteType) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: mode, skip, timeout, cteType)
    }
}
