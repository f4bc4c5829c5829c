import BluetoothBase

/// LE Periodic Advertising Sync Established [v1] (Core 5.4, Vol 4, Part E, 7.7.65.14).
public struct LEPeriodicAdvertisingSyncEstablished: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x0E.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncEstablished }
    /// Whether the operation succeeded.
    public var status: HCIStatus
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The PHY on which the periodic advertising is sent.
    public var phy: LEPHY
    /// The periodic advertising interval, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// The accuracy of the advertiser's clock.
    public var clockAccuracy: ClockAccuracy

    /// Creates the event, by default with success.
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

    /// Decodes 15 octets of parameters. Throws if octets are missing or, on success, if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, syncHandle, advertisingSID) = try parameters.read()
        advertiserAddress = try parameters.readPeerAddress(status)
        (phy, interval, clockAccuracy) = try parameters.read()
    }

    /// Appends the 15 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, syncHandle, advertisingSID, advertiserAddress, phy, interval)
        writer.append(parameters: clockAccuracy)
    }
}

/// LE Periodic Advertising Sync Established [v2] (Core 5.4, Vol 4, Part E, 7.7.65.14).
public struct LEPeriodicAdvertisingSyncEstablishedV2: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x24.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncEstablishedV2 }
    /// Whether the operation succeeded.
    public var status: HCIStatus
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The PHY on which the periodic advertising is sent.
    public var phy: LEPHY
    /// The periodic advertising interval, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// The accuracy of the advertiser's clock.
    public var clockAccuracy: ClockAccuracy
    /// The number of subevents in a periodic advertising event; 0 without responses.
    public var subeventCount: UInt8
    /// The time between the starts of two subevents, in units of 1.25 ms.
    public var subeventInterval: UInt8
    /// The time between the start of a subevent and its first response slot, in units of 1.25 ms.
    public var responseSlotDelay: UInt8
    /// The time between two response slots, in units of 0.125 ms.
    public var responseSlotSpacing: UInt8

    /// Creates the event, by default with success. Pass 0 for all subevent and slot fields without responses.
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

    /// Decodes 19 octets of parameters. Throws if octets are missing or, on success, if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, syncHandle, advertisingSID) = try parameters.read()
        advertiserAddress = try parameters.readPeerAddress(status)
        (phy, interval, clockAccuracy, subeventCount, subeventInterval, responseSlotDelay) = try parameters.read()
        responseSlotSpacing = try parameters.read()
    }

    /// Appends the 19 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, syncHandle, advertisingSID, advertiserAddress, phy, interval)
        writer.append(
            parameters: clockAccuracy, subeventCount, subeventInterval, responseSlotDelay, responseSlotSpacing)
    }
}

/// LE Periodic Advertising Sync Lost (Core 5.4, Vol 4, Part E, 7.7.65.16).
public struct LEPeriodicAdvertisingSyncLost: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x10.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncLost }
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle

    /// Creates the event for a train that the controller no longer receives.
    public init(syncHandle: SyncHandle) {
        self.syncHandle = syncHandle
    }

    /// Decodes the sync handle, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        syncHandle = try parameters.read()
    }

    /// Appends the sync handle, two octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: syncHandle)
    }
}

/// LE Periodic Advertising Sync Transfer Received [v1] (Core 5.4, Vol 4, Part E, 7.7.65.24).
public struct LEPeriodicAdvertisingSyncTransferReceived: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x18.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncTransferReceived }
    /// Whether the operation succeeded.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The service data that the peer sent with the transfer.
    public var serviceData: UInt16
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The PHY on which the periodic advertising is sent.
    public var phy: LEPHY
    /// The periodic advertising interval, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// The accuracy of the advertiser's clock.
    public var clockAccuracy: ClockAccuracy

    /// Creates the event, by default with success.
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

    /// Decodes 19 octets of parameters. Throws if octets are missing or, on success, if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, serviceData, syncHandle, advertisingSID) = try parameters.read()
        advertiserAddress = try parameters.readPeerAddress(status)
        (phy, interval, clockAccuracy) = try parameters.read()
    }

    /// Appends the 19 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, serviceData, syncHandle, advertisingSID, advertiserAddress)
        writer.append(parameters: phy, interval, clockAccuracy)
    }
}

/// LE Periodic Advertising Sync Transfer Received [v2] (Core 5.4, Vol 4, Part E, 7.7.65.24).
public struct LEPeriodicAdvertisingSyncTransferReceivedV2: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x26.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSyncTransferReceivedV2 }
    /// Whether the operation succeeded.
    public var status: HCIStatus
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The service data that the peer sent with the transfer.
    public var serviceData: UInt16
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The Advertising SID of the set, 0x00 to 0x0F.
    public var advertisingSID: UInt8
    /// The advertiser's address.
    public var advertiserAddress: DeviceAddress
    /// The PHY on which the periodic advertising is sent.
    public var phy: LEPHY
    /// The periodic advertising interval, in units of 1.25 ms.
    public var interval: ConnectionInterval
    /// The accuracy of the advertiser's clock.
    public var clockAccuracy: ClockAccuracy
    /// The number of subevents in a periodic advertising event; 0 without responses.
    public var subeventCount: UInt8
    /// The time between the starts of two subevents, in units of 1.25 ms.
    public var subeventInterval: UInt8
    /// The time between the start of a subevent and its first response slot, in units of 1.25 ms.
    public var responseSlotDelay: UInt8
    /// The time between two response slots, in units of 0.125 ms.
    public var responseSlotSpacing: UInt8

    /// Creates the event, by default with success. Pass 0 for all subevent and slot fields without responses.
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

    /// Decodes 23 octets of parameters. Throws if octets are missing or, on success, if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (status, connectionHandle, serviceData, syncHandle, advertisingSID) = try parameters.read()
        advertiserAddress = try parameters.readPeerAddress(status)
        (phy, interval, clockAccuracy, subeventCount, subeventInterval, responseSlotDelay) = try parameters.read()
        responseSlotSpacing = try parameters.read()
    }

    /// Appends the 23 octets of parameters.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: status, connectionHandle, serviceData, syncHandle, advertisingSID, advertiserAddress)
        writer.append(parameters: phy, interval, clockAccuracy, subeventCount, subeventInterval, responseSlotDelay)
        writer.append(parameters: responseSlotSpacing)
    }
}

/// LE Periodic Advertising Subevent Data Request (Core 5.4, Vol 4, Part E, 7.7.65.36).
public struct LEPeriodicAdvertisingSubeventDataRequest: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x27.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingSubeventDataRequest }
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The first subevent for which the controller requests data.
    public var subeventStart: UInt8
    /// The number of subevents for which the controller requests data.
    public var subeventDataCount: UInt8

    /// Creates the request for the data of consecutive subevents, starting with `subeventStart`.
    public init(advertisingHandle: AdvertisingHandle, subeventStart: UInt8, subeventDataCount: UInt8) {
        self.advertisingHandle = advertisingHandle
        self.subeventStart = subeventStart
        self.subeventDataCount = subeventDataCount
    }

    /// Decodes the advertising handle, the first subevent and the number of subevents, three octets. Throws if octets
    /// are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, subeventStart, subeventDataCount) = try parameters.read()
    }

    /// Appends the advertising handle, the first subevent and the number of subevents, three octets.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, subeventStart, subeventDataCount)
    }
}
