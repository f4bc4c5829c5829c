import BluetoothHCI

extension SupportedCommands {
    /// The commands a virtual controller of this configuration supports. It answers all others with Unknown HCI
    /// Command.
    init(implementedBy configuration: ControllerConfiguration) {
        self.init()
        for opcode in Self.implemented where !configuration.unsupportedCommands.contains(opcode) {
            if opcode == .leEncrypt, configuration.aesEncrypt == nil { continue }
            if !configuration.resolvesAddresses, Self.privacy.contains(opcode) { continue }
            if !configuration.hasExtendedAdvertising, Self.extended.contains(opcode) { continue }
            if !configuration.hasHostFlowControl, Self.hostFlowControl.contains(opcode) { continue }
            insert(opcode)
        }
    }

    private static let hostFlowControl: [HCIOpcode] = [
        .setControllerToHostFlowControl, .hostBufferSize, .hostNumberOfCompletedPackets,
    ]

    private static let privacy: [HCIOpcode] = [
        .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList, .leReadResolvingListSize,
        .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
    ]

    /// Those for advertising, scanning and connecting that exclude each other (Core 5.4, Vol 4, Part E, 3.1.1).
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

    private static let implemented: [HCIOpcode] =
        extended + [
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
