/// The events a controller may send, page 1 (Core 5.4, Vol 4, Part E, 7.3.1). Command Complete, Command Status and
/// Number Of Completed Packets cannot be masked.
public struct EventMask: OptionSet, Hashable, Sendable {
    /// The Event_Mask parameter, in which a set bit enables an event.
    public var rawValue: UInt64

    /// Creates a mask from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Disconnection Complete (7.7.5).
    public static let disconnectionComplete = EventMask(rawValue: 1 << 4)
    /// Encryption Change [v1] (7.7.8).
    public static let encryptionChange = EventMask(rawValue: 1 << 7)
    /// Read Remote Version Information Complete (7.7.12).
    public static let readRemoteVersionInformationComplete = EventMask(rawValue: 1 << 11)
    /// Hardware Error (7.7.16).
    public static let hardwareError = EventMask(rawValue: 1 << 15)
    /// Data Buffer Overflow (7.7.26).
    public static let dataBufferOverflow = EventMask(rawValue: 1 << 25)
    /// Encryption Key Refresh Complete (7.7.39).
    public static let encryptionKeyRefreshComplete = EventMask(rawValue: 1 << 47)
    /// LE Meta (7.7.65): all LE events, among which `LEEventMask` selects.
    public static let leMeta = EventMask(rawValue: 1 << 61)
    /// The mask after a reset. It does not include `leMeta`.
    public static let `default` = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF)
}

/// The events a controller may send, page 2 (Core 5.4, Vol 4, Part E, 7.3.69).
public struct EventMaskPage2: OptionSet, Hashable, Sendable {
    /// The Event_Mask_Page_2 parameter, in which a set bit enables an event.
    public var rawValue: UInt64

    /// Creates a mask from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Authenticated Payload Timeout Expired (7.7.75).
    public static let authenticatedPayloadTimeoutExpired = EventMaskPage2(rawValue: 1 << 23)
    /// Encryption Change [v2] (7.7.8).
    public static let encryptionChangeV2 = EventMaskPage2(rawValue: 1 << 25)
}

/// The LE Meta subevents a controller may send (Core 5.4, Vol 4, Part E, 7.8.1).
public struct LEEventMask: OptionSet, Hashable, Sendable {
    /// The LE_Event_Mask parameter, in which a set bit enables an LE Meta event.
    public var rawValue: UInt64

    /// Creates a mask from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// LE Connection Complete (7.7.65.1).
    public static let connectionComplete = LEEventMask(rawValue: 1 << 0)
    /// LE Advertising Report (7.7.65.2).
    public static let advertisingReport = LEEventMask(rawValue: 1 << 1)
    /// LE Connection Update Complete (7.7.65.3).
    public static let connectionUpdateComplete = LEEventMask(rawValue: 1 << 2)
    /// LE Read Remote Features Complete (7.7.65.4).
    public static let readRemoteFeaturesComplete = LEEventMask(rawValue: 1 << 3)
    /// LE Long Term Key Request (7.7.65.5).
    public static let longTermKeyRequest = LEEventMask(rawValue: 1 << 4)
    /// LE Remote Connection Parameter Request (7.7.65.6).
    public static let remoteConnectionParameterRequest = LEEventMask(rawValue: 1 << 5)
    /// LE Data Length Change (7.7.65.7).
    public static let dataLengthChange = LEEventMask(rawValue: 1 << 6)
    /// LE Enhanced Connection Complete [v1] (7.7.65.10).
    public static let enhancedConnectionComplete = LEEventMask(rawValue: 1 << 9)
    /// LE Directed Advertising Report (7.7.65.11).
    public static let directedAdvertisingReport = LEEventMask(rawValue: 1 << 10)
    /// LE PHY Update Complete (7.7.65.12).
    public static let phyUpdateComplete = LEEventMask(rawValue: 1 << 11)
    /// LE Extended Advertising Report (7.7.65.13).
    public static let extendedAdvertisingReport = LEEventMask(rawValue: 1 << 12)
    /// LE Scan Timeout (7.7.65.17).
    public static let scanTimeout = LEEventMask(rawValue: 1 << 16)
    /// LE Advertising Set Terminated (7.7.65.18).
    public static let advertisingSetTerminated = LEEventMask(rawValue: 1 << 17)
    /// LE Scan Request Received (7.7.65.19).
    public static let scanRequestReceived = LEEventMask(rawValue: 1 << 18)
    /// LE Channel Selection Algorithm (7.7.65.20).
    public static let channelSelectionAlgorithm = LEEventMask(rawValue: 1 << 19)
    /// LE Periodic Advertising Sync Established [v1] (7.7.65.14).
    public static let periodicAdvertisingSyncEstablished = LEEventMask(rawValue: 1 << 13)
    /// LE Periodic Advertising Report [v1] (7.7.65.15).
    public static let periodicAdvertisingReport = LEEventMask(rawValue: 1 << 14)
    /// LE Periodic Advertising Sync Lost (7.7.65.16).
    public static let periodicAdvertisingSyncLost = LEEventMask(rawValue: 1 << 15)
    /// LE Periodic Advertising Sync Transfer Received [v1] (7.7.65.24).
    public static let periodicAdvertisingSyncTransferReceived = LEEventMask(rawValue: 1 << 23)
    /// LE Path Loss Threshold (7.7.65.32).
    public static let pathLossThreshold = LEEventMask(rawValue: 1 << 31)
    /// LE Transmit Power Reporting (7.7.65.33).
    public static let transmitPowerReporting = LEEventMask(rawValue: 1 << 32)
    /// LE Periodic Advertising Sync Established [v2] (7.7.65.14).
    public static let periodicAdvertisingSyncEstablishedV2 = LEEventMask(rawValue: 1 << 35)
    /// LE Periodic Advertising Report [v2] (7.7.65.15).
    public static let periodicAdvertisingReportV2 = LEEventMask(rawValue: 1 << 36)
    /// LE Periodic Advertising Sync Transfer Received [v2] (7.7.65.24).
    public static let periodicAdvertisingSyncTransferReceivedV2 = LEEventMask(rawValue: 1 << 37)
    /// LE Periodic Advertising Subevent Data Request (7.7.65.36).
    public static let periodicAdvertisingSubeventDataRequest = LEEventMask(rawValue: 1 << 38)
    /// LE Periodic Advertising Response Report (7.7.65.37).
    public static let periodicAdvertisingResponseReport = LEEventMask(rawValue: 1 << 39)
    /// The mask after a reset: the first five events.
    public static let `default` = LEEventMask(rawValue: 0x1F)
}

extension EventMask: HCIParameter {}
extension EventMaskPage2: HCIParameter {}
extension LEEventMask: HCIParameter {}
