extension HCIOpcode {
    // MARK: Link Control commands (7.1)

    /// Disconnect (7.1.6).
    public static let disconnect = HCIOpcode(.linkControl, 0x06)
    /// Read Remote Version Information (7.1.23).
    public static let readRemoteVersionInformation = HCIOpcode(.linkControl, 0x1D)

    // MARK: Controller & Baseband commands (7.3)

    /// Set Event Mask (7.3.1).
    public static let setEventMask = HCIOpcode(.controllerAndBaseband, 0x01)
    /// Reset (7.3.2).
    public static let reset = HCIOpcode(.controllerAndBaseband, 0x03)
    /// Read Transmit Power Level (7.3.35).
    public static let readTransmitPowerLevel = HCIOpcode(.controllerAndBaseband, 0x2D)
    /// Set Controller To Host Flow Control (7.3.38).
    public static let setControllerToHostFlowControl = HCIOpcode(.controllerAndBaseband, 0x31)
    /// Host Buffer Size (7.3.39).
    public static let hostBufferSize = HCIOpcode(.controllerAndBaseband, 0x33)
    /// Host Number Of Completed Packets (7.3.40).
    public static let hostNumberOfCompletedPackets = HCIOpcode(.controllerAndBaseband, 0x35)
    /// Set Event Mask Page 2 (7.3.69).
    public static let setEventMaskPage2 = HCIOpcode(.controllerAndBaseband, 0x63)
    /// Write LE Host Support (7.3.79).
    public static let writeLEHostSupport = HCIOpcode(.controllerAndBaseband, 0x6D)

    // MARK: Informational parameters (7.4)

    /// Read Local Version Information (7.4.1).
    public static let readLocalVersionInformation = HCIOpcode(.informational, 0x01)
    /// Read Local Supported Commands (7.4.2).
    public static let readLocalSupportedCommands = HCIOpcode(.informational, 0x02)
    /// Read Local Supported Features (7.4.3).
    public static let readLocalSupportedFeatures = HCIOpcode(.informational, 0x03)
    /// Read Buffer Size (7.4.5).
    public static let readBufferSize = HCIOpcode(.informational, 0x05)
    /// Read BD_ADDR (7.4.6).
    public static let readBDADDR = HCIOpcode(.informational, 0x09)

    // MARK: Status parameters (7.5)

    /// Read RSSI (7.5.4).
    public static let readRSSI = HCIOpcode(.status, 0x05)

    // MARK: LE Controller commands (7.8)

    /// LE Set Event Mask (7.8.1).
    public static let leSetEventMask = HCIOpcode(.leController, 0x01)
    /// LE Read Buffer Size [v1] (7.8.2).
    public static let leReadBufferSize = HCIOpcode(.leController, 0x02)
    /// LE Read Local Supported Features (7.8.3).
    public static let leReadLocalSupportedFeatures = HCIOpcode(.leController, 0x03)
    /// LE Set Random Address (7.8.4).
    public static let leSetRandomAddress = HCIOpcode(.leController, 0x05)
    /// LE Set Advertising Parameters (7.8.5).
    public static let leSetAdvertisingParameters = HCIOpcode(.leController, 0x06)
    /// LE Read Advertising Physical Channel Tx Power (7.8.6).
    public static let leReadAdvertisingPhysicalChannelTxPower = HCIOpcode(.leController, 0x07)
    /// LE Set Advertising Data (7.8.7).
    public static let leSetAdvertisingData = HCIOpcode(.leController, 0x08)
    /// LE Set Scan Response Data (7.8.8).
    public static let leSetScanResponseData = HCIOpcode(.leController, 0x09)
    /// LE Set Advertising Enable (7.8.9).
    public static let leSetAdvertisingEnable = HCIOpcode(.leController, 0x0A)
    /// LE Set Scan Parameters (7.8.10).
    public static let leSetScanParameters = HCIOpcode(.leController, 0x0B)
    /// LE Set Scan Enable (7.8.11).
    public static let leSetScanEnable = HCIOpcode(.leController, 0x0C)
    /// LE Create Connection (7.8.12).
    public static let leCreateConnection = HCIOpcode(.leController, 0x0D)
    /// LE Create Connection Cancel (7.8.13).
    public static let leCreateConnectionCancel = HCIOpcode(.leController, 0x0E)
    /// LE Read Filter Accept List Size (7.8.14).
    public static let leReadFilterAcceptListSize = HCIOpcode(.leController, 0x0F)
    /// LE Clear Filter Accept List (7.8.15).
    public static let leClearFilterAcceptList = HCIOpcode(.leController, 0x10)
    /// LE Add Device To Filter Accept List (7.8.16).
    public static let leAddDeviceToFilterAcceptList = HCIOpcode(.leController, 0x11)
    /// LE Remove Device From Filter Accept List (7.8.17).
    public static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(.leController, 0x12)
    /// LE Connection Update (7.8.18).
    public static let leConnectionUpdate = HCIOpcode(.leController, 0x13)
    /// LE Set Host Channel Classification (7.8.19).
    public static let leSetHostChannelClassification = HCIOpcode(.leController, 0x14)
    /// LE Read Channel Map (7.8.20).
    public static let leReadChannelMap = HCIOpcode(.leController, 0x15)
    /// LE Read Remote Features (7.8.21).
    public static let leReadRemoteFeatures = HCIOpcode(.leController, 0x16)
    /// LE Encrypt (7.8.22).
    public static let leEncrypt = HCIOpcode(.leController, 0x17)
    /// LE Rand (7.8.23).
    public static let leRand = HCIOpcode(.leController, 0x18)
    /// LE Enable Encryption (7.8.24).
    public static let leEnableEncryption = HCIOpcode(.leController, 0x19)
    /// LE Long Term Key Request Reply (7.8.25).
    public static let leLongTermKeyRequestReply = HCIOpcode(.leController, 0x1A)
    /// LE Long Term Key Request Negative Reply (7.8.26).
    public static let leLongTermKeyRequestNegativeReply = HCIOpcode(.leController, 0x1B)
    /// LE Read Supported States (7.8.27).
    public static let leReadSupportedStates = HCIOpcode(.leController, 0x1C)
    /// LE Remote Connection Parameter Request Reply (7.8.31).
    public static let leRemoteConnectionParameterRequestReply = HCIOpcode(.leController, 0x20)
    /// LE Remote Connection Parameter Request Negative Reply (7.8.32).
    public static let leRemoteConnectionParameterRequestNegativeReply = HCIOpcode(.leController, 0x21)
    /// LE Set Data Length (7.8.33).
    public static let leSetDataLength = HCIOpcode(.leController, 0x22)
    /// LE Read Suggested Default Data Length (7.8.34).
    public static let leReadSuggestedDefaultDataLength = HCIOpcode(.leController, 0x23)
    /// LE Write Suggested Default Data Length (7.8.35).
    public static let leWriteSuggestedDefaultDataLength = HCIOpcode(.leController, 0x24)
    /// LE Add Device To Resolving List (7.8.38).
    public static let leAddDeviceToResolvingList = HCIOpcode(.leController, 0x27)
    /// LE Remove Device From Resolving List (7.8.39).
    public static let leRemoveDeviceFromResolvingList = HCIOpcode(.leController, 0x28)
    /// LE Clear Resolving List (7.8.40).
    public static let leClearResolvingList = HCIOpcode(.leController, 0x29)
    /// LE Read Resolving List Size (7.8.41).
    public static let leReadResolvingListSize = HCIOpcode(.leController, 0x2A)
    /// LE Set Address Resolution Enable (7.8.44).
    public static let leSetAddressResolutionEnable = HCIOpcode(.leController, 0x2D)
    /// LE Set Resolvable Private Address Timeout (7.8.45).
    public static let leSetResolvablePrivateAddressTimeout = HCIOpcode(.leController, 0x2E)
    /// LE Read Maximum Data Length (7.8.46).
    public static let leReadMaximumDataLength = HCIOpcode(.leController, 0x2F)
    /// LE Read PHY (7.8.47).
    public static let leReadPHY = HCIOpcode(.leController, 0x30)
    /// LE Set Default PHY (7.8.48).
    public static let leSetDefaultPHY = HCIOpcode(.leController, 0x31)
    /// LE Set PHY (7.8.49).
    public static let leSetPHY = HCIOpcode(.leController, 0x32)
    /// LE Set Advertising Set Random Address (7.8.52).
    public static let leSetAdvertisingSetRandomAddress = HCIOpcode(.leController, 0x35)
    /// LE Set Extended Advertising Parameters [v1] (7.8.53).
    public static let leSetExtendedAdvertisingParameters = HCIOpcode(.leController, 0x36)
    /// LE Set Extended Advertising Data (7.8.54).
    public static let leSetExtendedAdvertisingData = HCIOpcode(.leController, 0x37)
    /// LE Set Extended Scan Response Data (7.8.55).
    public static let leSetExtendedScanResponseData = HCIOpcode(.leController, 0x38)
    /// LE Set Extended Advertising Enable (7.8.56).
    public static let leSetExtendedAdvertisingEnable = HCIOpcode(.leController, 0x39)
    /// LE Read Maximum Advertising Data Length (7.8.57).
    public static let leReadMaximumAdvertisingDataLength = HCIOpcode(.leController, 0x3A)
    /// LE Read Number Of Supported Advertising Sets (7.8.58).
    public static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(.leController, 0x3B)
    /// LE Remove Advertising Set (7.8.59).
    public static let leRemoveAdvertisingSet = HCIOpcode(.leController, 0x3C)
    /// LE Clear Advertising Sets (7.8.60).
    public static let leClearAdvertisingSets = HCIOpcode(.leController, 0x3D)
    /// LE Set Extended Scan Parameters (7.8.64).
    public static let leSetExtendedScanParameters = HCIOpcode(.leController, 0x41)
    /// LE Set Extended Scan Enable (7.8.65).
    public static let leSetExtendedScanEnable = HCIOpcode(.leController, 0x42)
    /// LE Extended Create Connection [v1] (7.8.66).
    public static let leExtendedCreateConnection = HCIOpcode(.leController, 0x43)
    /// LE Read Transmit Power (7.8.74).
    public static let leReadTransmitPower = HCIOpcode(.leController, 0x4B)
    /// LE Set Privacy Mode (7.8.77).
    public static let leSetPrivacyMode = HCIOpcode(.leController, 0x4E)
    /// LE Read Buffer Size [v2] (7.8.2).
    public static let leReadBufferSizeV2 = HCIOpcode(.leController, 0x60)
    /// LE Set Host Feature [v1] (7.8.115).
    public static let leSetHostFeature = HCIOpcode(.leController, 0x74)
}

/// Commands for periodic advertising and power control.
extension HCIOpcode {
    /// LE Set Periodic Advertising Parameters [v1] (7.8.61).
    public static let leSetPeriodicAdvertisingParameters = HCIOpcode(.leController, 0x3E)
    /// LE Set Periodic Advertising Data (7.8.62).
    public static let leSetPeriodicAdvertisingData = HCIOpcode(.leController, 0x3F)
    /// LE Set Periodic Advertising Enable (7.8.63).
    public static let leSetPeriodicAdvertisingEnable = HCIOpcode(.leController, 0x40)
    /// LE Periodic Advertising Create Sync (7.8.67).
    public static let lePeriodicAdvertisingCreateSync = HCIOpcode(.leController, 0x44)
    /// LE Periodic Advertising Create Sync Cancel (7.8.68).
    public static let lePeriodicAdvertisingCreateSyncCancel = HCIOpcode(.leController, 0x45)
    /// LE Periodic Advertising Terminate Sync (7.8.69).
    public static let lePeriodicAdvertisingTerminateSync = HCIOpcode(.leController, 0x46)
    /// LE Add Device To Periodic Advertiser List (7.8.70).
    public static let leAddDeviceToPeriodicAdvertiserList = HCIOpcode(.leController, 0x47)
    /// LE Remove Device From Periodic Advertiser List (7.8.71).
    public static let leRemoveDeviceFromPeriodicAdvertiserList = HCIOpcode(.leController, 0x48)
    /// LE Clear Periodic Advertiser List (7.8.72).
    public static let leClearPeriodicAdvertiserList = HCIOpcode(.leController, 0x49)
    /// LE Read Periodic Advertiser List Size (7.8.73).
    public static let leReadPeriodicAdvertiserListSize = HCIOpcode(.leController, 0x4A)
    /// LE Set Periodic Advertising Receive Enable (7.8.88).
    public static let leSetPeriodicAdvertisingReceiveEnable = HCIOpcode(.leController, 0x59)
    /// LE Periodic Advertising Sync Transfer (7.8.89).
    public static let lePeriodicAdvertisingSyncTransfer = HCIOpcode(.leController, 0x5A)
    /// LE Periodic Advertising Set Info Transfer (7.8.90).
    public static let lePeriodicAdvertisingSetInfoTransfer = HCIOpcode(.leController, 0x5B)
    /// LE Set Periodic Advertising Sync Transfer Parameters (7.8.91).
    public static let leSetPeriodicAdvertisingSyncTransferParameters = HCIOpcode(.leController, 0x5C)
    /// LE Set Default Periodic Advertising Sync Transfer Parameters (7.8.92).
    public static let leSetDefaultPeriodicAdvertisingSyncTransferParameters = HCIOpcode(.leController, 0x5D)
    /// LE Enhanced Read Transmit Power Level (7.8.117).
    public static let leEnhancedReadTransmitPowerLevel = HCIOpcode(.leController, 0x76)
    /// LE Read Remote Transmit Power Level (7.8.118).
    public static let leReadRemoteTransmitPowerLevel = HCIOpcode(.leController, 0x77)
    /// LE Set Path Loss Reporting Parameters (7.8.119).
    public static let leSetPathLossReportingParameters = HCIOpcode(.leController, 0x78)
    /// LE Set Path Loss Reporting Enable (7.8.120).
    public static let leSetPathLossReportingEnable = HCIOpcode(.leController, 0x79)
    /// LE Set Transmit Power Reporting Enable (7.8.121).
    public static let leSetTransmitPowerReportingEnable = HCIOpcode(.leController, 0x7A)
    /// LE Set Periodic Advertising Subevent Data (7.8.125).
    public static let leSetPeriodicAdvertisingSubeventData = HCIOpcode(.leController, 0x82)
    /// LE Set Periodic Advertising Response Data (7.8.126).
    public static let leSetPeriodicAdvertisingResponseData = HCIOpcode(.leController, 0x83)
    /// LE Set Periodic Sync Subevent (7.8.127).
    public static let leSetPeriodicSyncSubevent = HCIOpcode(.leController, 0x84)
    /// LE Extended Create Connection [v2] (7.8.66).
    public static let leExtendedCreateConnectionV2 = HCIOpcode(.leController, 0x85)
    /// LE Set Periodic Advertising Parameters [v2] (7.8.61).
    public static let leSetPeriodicAdvertisingParametersV2 = HCIOpcode(.leController, 0x86)
}
