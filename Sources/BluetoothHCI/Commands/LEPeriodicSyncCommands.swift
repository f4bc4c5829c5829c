import BluetoothBase

/// LE Periodic Advertising Create Sync (Core 5.4, Vol 4, Part E, 7.8.67): LE Periodic Advertising Sync Established
/// follows. The controller has to scan meanwhile.
public struct LEPeriodicAdvertisingCreateSync: HCICommand {
    public static let opcode = HCIOpcode.lePeriodicAdvertisingCreateSync
    /// How to synchronize.
    public var options: PeriodicSyncOptions
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// How many events in a row need not be received, 0 to 499.
    public var skip: UInt16
    /// After how long without a packet it counts as lost, 100 ms to 163.84 s.
    public var timeout: SupervisionTimeout
    /// Which constant tone extensions keep the controller from synchronizing; 0 for none.
    public var cteType: UInt8

    public init(
        options: PeriodicSyncOptions = [], advertisingSID: UInt8, advertiserAddress: DeviceAddress, skip: UInt16 = 0,
        timeout: SupervisionTimeout, cteType: UInt8 = 0
    ) {
        self.options = options
        self.advertisingSID = advertisingSID
        self.advertiserAddress = advertiserAddress
        self.skip = skip
        self.timeout = timeout
        self.cteType = cteType
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (options, advertisingSID, advertiserAddress, skip, timeout, cteType) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: options, advertisingSID, advertiserAddress, skip, timeout, cteType)
    }
}

/// LE Periodic Advertising Create Sync Cancel (Core 5.4, Vol 4, Part E, 7.8.68).
public struct LEPeriodicAdvertisingCreateSyncCancel: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.lePeriodicAdvertisingCreateSyncCancel
    public init() {}
}

/// LE Periodic Advertising Terminate Sync (Core 5.4, Vol 4, Part E, 7.8.69).
public struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    public static let opcode = HCIOpcode.lePeriodicAdvertisingTerminateSync
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle

    public init(syncHandle: SyncHandle) {
        self.syncHandle = syncHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        syncHandle = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle)
    }
}

/// LE Add Device To Periodic Advertiser List (Core 5.4, Vol 4, Part E, 7.8.70).
public struct LEAddDeviceToPeriodicAdvertiserList: HCICommand {
    public static let opcode = HCIOpcode.leAddDeviceToPeriodicAdvertiserList
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8

    public init(advertiserAddress: DeviceAddress, advertisingSID: UInt8) {
        self.advertiserAddress = advertiserAddress
        self.advertisingSID = advertisingSID
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertiserAddress, advertisingSID) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertiserAddress, advertisingSID)
    }
}

/// LE Remove Device From Periodic Advertiser List (Core 5.4, Vol 4, Part E, 7.8.71).
public struct LERemoveDeviceFromPeriodicAdvertiserList: HCICommand {
    public static let opcode = HCIOpcode.leRemoveDeviceFromPeriodicAdvertiserList
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8

    public init(advertiserAddress: DeviceAddress, advertisingSID: UInt8) {
        self.advertiserAddress = advertiserAddress
        self.advertisingSID = advertisingSID
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertiserAddress, advertisingSID) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertiserAddress, advertisingSID)
    }
}

/// LE Clear Periodic Advertiser List (Core 5.4, Vol 4, Part E, 7.8.72).
public struct LEClearPeriodicAdvertiserList: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leClearPeriodicAdvertiserList
    public init() {}
}

/// LE Read Periodic Advertiser List Size (Core 5.4, Vol 4, Part E, 7.8.73).
public struct LEReadPeriodicAdvertiserListSize: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadPeriodicAdvertiserListSize
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// How many entries the list can hold, 1 or more.
        public var size: UInt8

        public init(size: UInt8) { self.size = size }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) { size = try parameters.read() }

        public func encode(into writer: inout ByteWriter) { writer.append(parameters: size) }
    }
}

/// LE Set Periodic Advertising Receive Enable (Core 5.4, Vol 4, Part E, 7.8.88).
public struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingReceiveEnable
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle
    /// Which reports the controller sends.
    public var reporting: PeriodicReporting

    public init(syncHandle: SyncHandle, reporting: PeriodicReporting) {
        self.syncHandle = syncHandle
        self.reporting = reporting
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (syncHandle, reporting) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle, reporting)
    }
}

/// LE Set Periodic Sync Subevent (Core 5.4, Vol 4, Part E, 7.8.127): which subevents to receive.
public struct LESetPeriodicSyncSubevent: HCICommand {
    public typealias ReturnParameters = SyncHandleReturnParameters
    public static let opcode = HCIOpcode.leSetPeriodicSyncSubevent
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle
    /// What responses have besides their data.
    public var properties: PeriodicAdvertisingProperties
    /// 1 to 128 subevents, each 0x00 to 0x7F.
    public var subevents: [UInt8]

    public init(syncHandle: SyncHandle, properties: PeriodicAdvertisingProperties = [], subevents: [UInt8]) {
        self.syncHandle = syncHandle
        self.properties = properties
        self.subevents = subevents
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (syncHandle, properties) = try parameters.read()
        subevents = try parameters.readCounted(upTo: 128)
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle, properties)
        writer.append(counted: subevents, upTo: 128)
    }
}

/// LE Set Periodic Advertising Response Data (Core 5.4, Vol 4, Part E, 7.8.126).
public struct LESetPeriodicAdvertisingResponseData: HCICommand {
    public typealias ReturnParameters = SyncHandleReturnParameters
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingResponseData
    /// The longest data.
    public static let maximumLength = 251
    /// The periodic advertising that is answered.
    public var syncHandle: SyncHandle
    /// The event counter of what is answered.
    public var requestEvent: UInt16
    /// The subevent of what is answered.
    public var requestSubevent: UInt8
    /// The subevent in which the answer is sent.
    public var responseSubevent: UInt8
    /// The slot in which it is sent.
    public var responseSlot: UInt8
    /// Up to 251 octets; anything beyond is not sent.
    public var data: [UInt8]

    public init(
        syncHandle: SyncHandle, requestEvent: UInt16, requestSubevent: UInt8, responseSubevent: UInt8,
        responseSlot: UInt8, data: [UInt8]
    ) {
        self.syncHandle = syncHandle
        self.requestEvent = requestEvent
        self.requestSubevent = requestSubevent
        self.responseSubevent = responseSubevent
        self.responseSlot = responseSlot
        self.data = data
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (syncHandle, requestEvent, requestSubevent, responseSubevent, responseSlot) = try parameters.read()
        data = try parameters.readCounted(upTo: Self.maximumLength)
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle, requestEvent, requestSubevent, responseSubevent, responseSlot)
        writer.append(counted: data, upTo: Self.maximumLength)
    }
}

/// A status octet and the periodic advertising the command was about.
public struct SyncHandleReturnParameters: HCIReturnParameters {
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle

    public init(syncHandle: SyncHandle) { self.syncHandle = syncHandle }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) { syncHandle = try parameters.read() }

    public func encode(into writer: inout ByteWriter) { writer.append(parameters: syncHandle) }
}
