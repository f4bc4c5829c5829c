import BluetoothBase

/// LE Periodic Advertising Create Sync (Core 5.4, Vol 4, Part E, 7.8.67). LE Periodic Advertising Sync Established
/// follows. The controller must be scanning in the meantime.
public struct LEPeriodicAdvertisingCreateSync: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0044.
    public static let opcode = HCIOpcode.lePeriodicAdvertisingCreateSync
    /// The synchronization options.
    public var options: PeriodicSyncOptions
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The number of periodic advertising events that the controller may skip after a successful receive, 0 to 499.
    public var skip: UInt16
    /// The time without a received packet after which synchronization is lost, 100 ms to 163.84 s.
    public var timeout: SupervisionTimeout
    /// The types of Constant Tone Extension with which the controller does not synchronize; 0 for none.
    public var cteType: UInt8

    /// Creates the command. By default, it synchronizes to the specified advertiser, enables reports and skips no
    /// events.
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

    /// Decodes 14 octets of parameters. Throws if octets are missing, or if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (options, advertisingSID, advertiserAddress, skip, timeout, cteType) = try parameters.read()
    }

    /// Appends the 14 octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: options, advertisingSID, advertiserAddress, skip, timeout, cteType)
    }
}

/// LE Periodic Advertising Create Sync Cancel (Core 5.4, Vol 4, Part E, 7.8.68).
public struct LEPeriodicAdvertisingCreateSyncCancel: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0045.
    public static let opcode = HCIOpcode.lePeriodicAdvertisingCreateSyncCancel

    /// Creates the command, which has no parameters.
    public init() {}
}

/// LE Periodic Advertising Terminate Sync (Core 5.4, Vol 4, Part E, 7.8.69).
public struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0046.
    public static let opcode = HCIOpcode.lePeriodicAdvertisingTerminateSync
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle

    /// Creates the command that ends the synchronization to this train.
    public init(syncHandle: SyncHandle) {
        self.syncHandle = syncHandle
    }

    /// Decodes the sync handle, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        syncHandle = try parameters.read()
    }

    /// Appends the sync handle, two octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle)
    }
}

/// LE Add Device To Periodic Advertiser List (Core 5.4, Vol 4, Part E, 7.8.70).
public struct LEAddDeviceToPeriodicAdvertiserList: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0047.
    public static let opcode = HCIOpcode.leAddDeviceToPeriodicAdvertiserList
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8

    /// Creates the command that adds this advertising set of a device to the list.
    public init(advertiserAddress: DeviceAddress, advertisingSID: UInt8) {
        self.advertiserAddress = advertiserAddress
        self.advertisingSID = advertisingSID
    }

    /// Decodes the advertiser's address and the SID, eight octets. Throws if octets are missing, or if the address type
    /// is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertiserAddress, advertisingSID) = try parameters.read()
    }

    /// Appends the advertiser's address and the SID, eight octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertiserAddress, advertisingSID)
    }
}

/// LE Remove Device From Periodic Advertiser List (Core 5.4, Vol 4, Part E, 7.8.71).
public struct LERemoveDeviceFromPeriodicAdvertiserList: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0048.
    public static let opcode = HCIOpcode.leRemoveDeviceFromPeriodicAdvertiserList
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8

    /// Creates the command that removes this advertising set of a device from the list.
    public init(advertiserAddress: DeviceAddress, advertisingSID: UInt8) {
        self.advertiserAddress = advertiserAddress
        self.advertisingSID = advertisingSID
    }

    /// Decodes the advertiser's address and the SID, eight octets. Throws if octets are missing, or if the address type
    /// is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertiserAddress, advertisingSID) = try parameters.read()
    }

    /// Appends the advertiser's address and the SID, eight octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertiserAddress, advertisingSID)
    }
}

/// LE Clear Periodic Advertiser List (Core 5.4, Vol 4, Part E, 7.8.72).
public struct LEClearPeriodicAdvertiserList: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0049.
    public static let opcode = HCIOpcode.leClearPeriodicAdvertiserList

    /// Creates the command, which has no parameters.
    public init() {}
}

/// LE Read Periodic Advertiser List Size (Core 5.4, Vol 4, Part E, 7.8.73).
public struct LEReadPeriodicAdvertiserListSize: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x004A.
    public static let opcode = HCIOpcode.leReadPeriodicAdvertiserListSize

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The number of entries the list can hold, 1 or more.
        public var size: UInt8

        /// Creates the return parameters from the number of entries that the list can hold.
        public init(size: UInt8) { self.size = size }

        /// Decodes the size, one octet. Throws if the octet is missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) { size = try parameters.read() }

        /// Appends the size, one octet.
        public func encode(into writer: inout ByteWriter) { writer.append(parameters: size) }
    }
}

/// LE Set Periodic Advertising Receive Enable (Core 5.4, Vol 4, Part E, 7.8.88).
public struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0059.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingReceiveEnable
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The reports that the controller sends.
    public var reporting: PeriodicReporting

    /// Creates the command for this train. Without `.enabled`, it stops the reports.
    public init(syncHandle: SyncHandle, reporting: PeriodicReporting) {
        self.syncHandle = syncHandle
        self.reporting = reporting
    }

    /// Decodes the sync handle and the reporting bits, three octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (syncHandle, reporting) = try parameters.read()
    }

    /// Appends the sync handle and the reporting bits, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle, reporting)
    }
}

/// LE Set Periodic Sync Subevent (Core 5.4, Vol 4, Part E, 7.8.127): selects the subevents to receive.
public struct LESetPeriodicSyncSubevent: HCICommand {
    /// The controller returns the sync handle.
    public typealias ReturnParameters = SyncHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x0084.
    public static let opcode = HCIOpcode.leSetPeriodicSyncSubevent
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The optional fields of the response PDUs.
    public var properties: PeriodicAdvertisingProperties
    /// 1 to 128 subevents, each 0x00 to 0x7F.
    public var subevents: [UInt8]

    /// Creates the command for this train. Only the first 128 subevents are sent.
    public init(syncHandle: SyncHandle, properties: PeriodicAdvertisingProperties = [], subevents: [UInt8]) {
        self.syncHandle = syncHandle
        self.properties = properties
        self.subevents = subevents
    }

    /// Decodes the sync handle, the properties, the number of subevents and the subevents. Throws if octets are
    /// missing, or if the number of subevents exceeds 128.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (syncHandle, properties) = try parameters.read()
        subevents = try parameters.readCounted(upTo: 128)
    }

    /// Appends the sync handle, the properties, the number of subevents, at most 128, and the subevents.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle, properties)
        writer.append(counted: subevents, upTo: 128)
    }
}

/// LE Set Periodic Advertising Response Data (Core 5.4, Vol 4, Part E, 7.8.126).
public struct LESetPeriodicAdvertisingResponseData: HCICommand {
    /// The controller returns the sync handle.
    public typealias ReturnParameters = SyncHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x0083.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingResponseData
    /// The maximum number of data octets.
    public static let maximumLength = 251
    /// The periodic advertising train to respond to.
    public var syncHandle: SyncHandle
    /// The event counter of the packet to respond to.
    public var requestEvent: UInt16
    /// The subevent of the packet to respond to.
    public var requestSubevent: UInt8
    /// The subevent in which the response is sent.
    public var responseSubevent: UInt8
    /// The response slot in which the response is sent.
    public var responseSlot: UInt8
    /// The data, up to 251 octets. Further octets are not sent.
    public var data: [UInt8]

    /// Creates the command with the response to the packet that `requestEvent` and `requestSubevent` identify.
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

    /// Decodes seven octets, the length and the data. Throws if octets are missing, or if the length exceeds 251.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (syncHandle, requestEvent, requestSubevent, responseSubevent, responseSlot) = try parameters.read()
        data = try parameters.readCounted(upTo: Self.maximumLength)
    }

    /// Appends seven octets, the length and the data.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle, requestEvent, requestSubevent, responseSubevent, responseSlot)
        writer.append(counted: data, upTo: Self.maximumLength)
    }
}

/// Return parameters that consist of a status octet and a sync handle.
public struct SyncHandleReturnParameters: HCIReturnParameters {
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle

    /// Creates the return parameters for this periodic advertising train.
    public init(syncHandle: SyncHandle) { self.syncHandle = syncHandle }

    /// Decodes the sync handle, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) { syncHandle = try parameters.read() }

    /// Appends the sync handle, two octets.
    public func encode(into writer: inout ByteWriter) { writer.append(parameters: syncHandle) }
}
