import BluetoothHCI

extension SupportedCommands {
    /// The commands that a virtual controller with this configuration supports. It answers all others with Unknown HCI
    /// Command.
    init(implementedBy configuration: ControllerConfiguration) {
        self.init()
        for opcode in Self.implemented where !configuration.unsupportedCommands.contains(opcode) {
            if opcode == .leEncrypt, configuration.aesEncrypt == nil { continue }
            if !configuration.resolvesAddresses, Self.privacy.contains(opcode) { continue }
            if !configuration.hasExtendedAdvertising, Self.extended.contains(opcode) { continue }
            if !configuration.advertisesPeriodically, Self.periodic.contains(opcode) { continue }
            if !configuration.hasHostFlowControl, Self.hostFlowControl.contains(opcode) { continue }
            if !configuration.features.contains(.powerControlRequest), Self.powerControl.contains(opcode) { continue }
            if !configuration.features.contains(.pathLossMonitoring), Self.pathLoss.contains(opcode) { continue }
            insert(opcode)
        }
    }

    private static let hostFlowControl: [HCIOpcode] = [
        .setControllerToHostFlowControl, .hostBufferSize, .hostNumberOfCompletedPackets,
    ]

    private static let powerControl: [HCIOpcode] = [
        .leEnhancedReadTransmitPowerLevel, .leReadRemoteTransmitPowerLevel, .leSetTransmitPowerReportingEnable,
    ]

    private static let pathLoss: [HCIOpcode] = [.leSetPathLossReportingParameters, .leSetPathLossReportingEnable]

    private static let privacy: [HCIOpcode] = [
        .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList, .leReadResolvingListSize,
        .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
    ]

    /// The legacy commands for advertising, scanning and connecting, which must not be mixed with the extended ones
    /// (Core 5.4, Vol 4, Part E, 3.1.1).
    static let legacy: [HCIOpcode] = [
        .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
    ]

    static let extended: [HCIOpcode] = [
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
        .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
    ]

    /// The commands for periodic advertising that also count as extended commands.
    private static let periodicAndExtended: [HCIOpcode] = [
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingParametersV2, .leSetPeriodicAdvertisingData,
        .leSetPeriodicAdvertisingEnable, .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel,
        .lePeriodicAdvertisingTerminateSync, .leAddDeviceToPeriodicAdvertiserList,
        .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize,
        .leExtendedCreateConnectionV2,
    ]

    static let periodic: [HCIOpcode] =
        periodicAndExtended + [
            .leSetPeriodicAdvertisingReceiveEnable, .lePeriodicAdvertisingSyncTransfer,
            .lePeriodicAdvertisingSetInfoTransfer, .leSetPeriodicAdvertisingSyncTransferParameters,
            .leSetDefaultPeriodicAdvertisingSyncTransferParameters, .leSetPeriodicAdvertisingSubeventData,
            .leSetPeriodicAdvertisingResponseData, .leSetPeriodicSyncSubevent,
        ]

    /// Whether a command must not be mixed with those in `legacy`.
    static func excludesLegacy(_ opcode: HCIOpcode) -> Bool {
        extended.contains(opcode) || periodicAndExtended.contains(opcode)
    }

    private static let implemented: [HCIOpcode] =
        extended + periodic + powerControl + pathLoss + [
            .disconnect, .readRemoteVersionInformation, .setEventMask, .reset, .readTransmitPowerLevel,
            .setControllerToHostFlowControl, .hostBufferSize, .hostNumberOfCompletedPackets, .setEventMaskPage2,
            .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
            .readBufferSize, .readBDADDR, .readRSSI, .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures,
            .leSetRandomAddress, .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower,
            .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters,
            .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel, .leReadFilterAcceptListSize,
            .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList,
            .leConnectionUpdate, .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leEncrypt,
            .leRand, .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply,
            .leReadSupportedStates, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength, .leReadSuggestedDefaultDataLength,
            .leWriteSuggestedDefaultDataLength, .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList,
            .leClearResolvingList, .leReadResolvingListSize, .leSetAddressResolutionEnable,
            .leSetResolvablePrivateAddressTimeout, .leReadMaximumDataLength, .leReadPHY, .leSetDefaultPHY, .leSetPHY,
            .leReadTransmitPower, .leSetPrivacyMode,
        ]
}
