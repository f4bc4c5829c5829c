import BluetoothBase

/// LE Periodic Advertising Sync Established [v1] (Core 5.4, Vol 4, Part E, 7.7.65.14).
public struct LEPeriodicAdvertisingSyncEstablished: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncEstablished }
    /// Whether it was successful.
    public var status: HCIStatus
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// The PHY it is sent on.
    public var phy: LEPHY
    /// From one event to the next, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// How exact the advertiser's clock is.
    public var clockAccuracy: ClockAccuracy

    public init(
        status: HCIStatus = .success, syncHandle: SyncHandle, advertisingSID: UInt8, advertiserAddress: DeviceAddress,
        phy: LEPHY, interval: ConnectionInterval, clockAccuracy: ClockAccuracy
    ) {
        self.status = status
        self.syncHandle = syncHandle
        self.advertisingSID = advertisingSID
        self.advertiserAddress = advertiserAddress
        self.phy = phy
        self.interval = interval
        self.clockAccuracy = clockAccuracy
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, syncHandle, advertisingSID, advertiserAddress, phy, interval) = try parameters.read()
        clockAccuracy = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, syncHandle, advertisingSID, advertiserAddress, phy, interval)
        writer.append(parameters: clockAccuracy)
    }
}

/// LE Periodic Advertising Sync Established [v2] (Core 5.4, Vol 4, Part E, 7.7.65.14).
public struct LEPeriodicAdvertisingSyncEstablishedV2: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncEstablishedV2 }
    /// Whether it was successful.
    public var status: HCIStatus
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// The PHY it is sent on.
    public var phy: LEPHY
    /// From one event to the next, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// How exact the advertiser's clock is.
    public var clockAccuracy: ClockAccuracy
    /// How many subevents an event has; 0 without responses.
    public var subeventCount: UInt8
    /// From one subevent to the next, in units of 1.25 ms.
    public var subeventInterval: UInt8
    /// From a subevent to its first response slot, in units of 1.25 ms.
    public var responseSlotDelay: UInt8
    /// From one response slot to the next, in units of 0.125 ms.
    public var responseSlotSpacing: UInt8

    public init(
        status: HCIStatus = .success, syncHandle: SyncHandle, advertisingSID: UInt8, advertiserAddress: DeviceAddress,
        phy: LEPHY, interval: ConnectionInterval, clockAccuracy: ClockAccuracy, subeventCount: UInt8,
        subeventInterval: UInt8, responseSlotDelay: UInt8, responseSlotSpacing: UInt8
    ) {
        self.status = status
        self.syncHandle = syncHandle
        self.advertisingSID = advertisingSID
        self.advertiserAddress = advertiserAddress
        self.phy = phy
        self.interval = interval
        self.clockAccuracy = clockAccuracy
        self.subeventCount = subeventCount
        self.subeventInterval = subeventInterval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, syncHandle, advertisingSID, advertiserAddress, phy, interval) = try parameters.read()
        (clockAccuracy, subeventCount, subeventInterval, responseSlotDelay, responseSlotSpacing) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, syncHandle, advertisingSID, advertiserAddress, phy, interval)
        writer.append(
            parameters: clockAccuracy, subeventCount, subeventInterval, responseSlotDelay, responseSlotSpacing)
    }
}

/// LE Periodic Advertising Sync Lost (Core 5.4, Vol 4, Part E, 7.7.65.16).
public struct LEPeriodicAdvertisingSyncLost: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncLost }
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle

    public init(syncHandle: SyncHandle) {
        self.syncHandle = syncHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        syncHandle = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle)
    }
}

/// LE Periodic Advertising Sync Transfer Received [v1] (Core 5.4, Vol 4, Part E, 7.7.65.24).
public struct LEPeriodicAdvertisingSyncTransferReceived: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncTransferReceived }
    /// Whether it was successful.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// What the peer has told with it.
    public var serviceData: UInt16
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// The PHY it is sent on.
    public var phy: LEPHY
    /// From one event to the next, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// How exact the advertiser's clock is.
    public var clockAccuracy: ClockAccuracy

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, serviceData: UInt16, syncHandle: SyncHandle,
        advertisingSID: UInt8, advertiserAddress: DeviceAddress, phy: LEPHY, interval: ConnectionInterval,
        clockAccuracy: ClockAccuracy
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.syncHandle = syncHandle
        self.advertisingSID = advertisingSID
        self.advertiserAddress = advertiserAddress
        self.phy = phy
        self.interval = interval
        self.clockAccuracy = clockAccuracy
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, serviceData, syncHandle, advertisingSID, advertiserAddress) = try parameters.read()
        (phy, interval, clockAccuracy) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, serviceData, syncHandle, advertisingSID, advertiserAddress)
        writer.append(parameters: phy, interval, clockAccuracy)
    }
}

/// LE Periodic Advertising Sync Transfer Received [v2] (Core 5.4, Vol 4, Part E, 7.7.65.24).
public struct LEPeriodicAdvertisingSyncTransferReceivedV2: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncTransferReceivedV2 }
    /// Whether it was successful.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// What the peer has told with it.
    public var serviceData: UInt16
    /// The periodic advertising that is received.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser.
    public var advertiserAddress: DeviceAddress
    /// The PHY it is sent on.
    public var phy: LEPHY
    /// From one event to the next, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// How exact the advertiser's clock is.
    public var clockAccuracy: ClockAccuracy
    /// How many subevents an event has; 0 without responses.
    public var subeventCount: UInt8
    /// From one subevent to the next, in units of 1.25 ms.
    public var subeventInterval: UInt8
    /// From a subevent to its first response slot, in units of 1.25 ms.
    public var responseSlotDelay: UInt8
    /// From one response slot to the next, in units of 0.125 ms.
    public var responseSlotSpacing: UInt8

    public init(
        status: HCIStatus = .success, connectionHandle: ConnectionHandle, serviceData: UInt16, syncHandle: SyncHandle,
        advertisingSID: UInt8, advertiserAddress: DeviceAddress, phy: LEPHY, interval: ConnectionInterval,
        clockAccuracy: ClockAccuracy, subeventCount: UInt8, subeventInterval: UInt8, responseSlotDelay: UInt8,
        responseSlotSpacing: UInt8
    ) {
        self.status = status
        self.connectionHandle = connectionHandle
        self.serviceData = serviceData
        self.syncHandle = syncHandle
        self.advertisingSID = advertisingSID
        self.advertiserAddress = advertiserAddress
        self.phy = phy
        self.interval = interval
        self.clockAccuracy = clockAccuracy
        self.subeventCount = subeventCount
        self.subeventInterval = subeventInterval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, serviceData, syncHandle, advertisingSID, advertiserAddress) = try parameters.read()
        (phy, interval, clockAccuracy, subeventCount, subeventInterval, responseSlotDelay) = try parameters.read()
        responseSlotSpacing = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, serviceData, syncHandle, advertisingSID, advertiserAddress)
        writer.append(parameters: phy, interval, clockAccuracy, subeventCount, subeventInterval, responseSlotDelay)
        writer.append(parameters: responseSlotSpacing)
    }
}

/// LE Periodic Advertising Subevent Data Request (Core 5.4, Vol 4, Part E, 7.7.65.36).
public struct LEPeriodicAdvertisingSubeventDataRequest: LEEventBody, Equatable, Sendable {
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSubeventDataRequest }
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The first subevent whose data is wanted.
    public var subeventStart: UInt8
    /// How many subevents' data is wanted.
    public var subeventDataCount: UInt8

    public init(advertisingHandle: AdvertisingHandle, subeventStart: UInt8, subeventDataCount: UInt8) {
        self.advertisingHandle = advertisingHandle
        self.subeventStart = subeventStart
        self.subeventDataCount = subeventDataCount
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, subeventStart, subeventDataCount) = try parameters.read()
    }

    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, subeventStart, subeventDataCount)
    }
}
