/// The commands that this package supports, with their names, their bits in the response to Read Local Supported
/// Commands (Core 5.4, Vol 4, Part E, 6.27) and their types.
public enum HCICommandCatalog {
    /// A command in the catalog.
    public struct Entry: Sendable {
        /// The name in the specification, for example `LE Set Scan Enable`.
        public let name: String
        /// The octet and bit that indicate whether a controller supports the command. Nil if the specification assigns
        /// none, because every controller supports the command.
        public let supportBit: (octet: Int, bit: Int)?
        /// The command's type.
        public let command: any HCICommand.Type

        init(_ name: String, _ supportBit: (Int, Int)?, _ command: any HCICommand.Type) {
            self.name = name
            self.supportBit = supportBit
            self.command = command
        }
    }

    /// Returns the entry for `opcode`, or nil for a command without a type in this package.
    public static func entry(for opcode: HCIOpcode) -> Entry? { entries[opcode] }

    /// Every opcode in the catalog, in ascending order.
    public static var opcodes: [HCIOpcode] { entries.keys.sorted { $0.rawValue < $1.rawValue } }

    private static let entries: [HCIOpcode: Entry] = [
        .disconnect: Entry("Disconnect", (0, 5), Disconnect.self),
        .readRemoteVersionInformation: Entry(
            "Read Remote Version Information", (2, 7),
            ReadRemoteVersionInformation.self),
        .setEventMask: Entry("Set Event Mask", (5, 6), SetEventMask.self),
        .reset: Entry("Reset", (5, 7), Reset.self),
        .readTransmitPowerLevel: Entry("Read Transmit Power Level", (10, 2), ReadTransmitPowerLevel.self),
        .setControllerToHostFlowControl: Entry(
            "Set Controller To Host Flow Control", (10, 5),
            SetControllerToHostFlowControl.self),
        .hostBufferSize: Entry("Host Buffer Size", (10, 6), HostBufferSize.self),
        .hostNumberOfCompletedPackets: Entry(
            "Host Number Of Completed Packets", (10, 7),
            HostNumberOfCompletedPackets.self),
        .setEventMaskPage2: Entry("Set Event Mask Page 2", (22, 2), SetEventMaskPage2.self),
        .writeLEHostSupport: Entry("Write LE Host Support", (24, 6), WriteLEHostSupport.self),
        .readLocalVersionInformation: Entry(
            "Read Local Version Information", (14, 3),
            ReadLocalVersionInformation.self),
        .readLocalSupportedCommands: Entry("Read Local Supported Commands", nil, ReadLocalSupportedCommands.self),
        .readLocalSupportedFeatures: Entry("Read Local Supported Features", (14, 5), ReadLocalSupportedFeatures.self),
        .readBufferSize: Entry("Read Buffer Size", (14, 7), ReadBufferSize.self),
        .readBDADDR: Entry("Read BD_ADDR", (15, 1), ReadBDADDR.self),
        .readRSSI: Entry("Read RSSI", (15, 5), ReadRSSI.self),
        .leSetEventMask: Entry("LE Set Event Mask", (25, 0), LESetEventMask.self),
        .leReadBufferSize: Entry("LE Read Buffer Size", (25, 1), LEReadBufferSize.self),
        .leReadLocalSupportedFeatures: Entry(
            "LE Read Local Supported Features", (25, 2),
            LEReadLocalSupportedFeatures.self),
        .leSetRandomAddress: Entry("LE Set Random Address", (25, 4), LESetRandomAddress.self),
        .leSetAdvertisingParameters: Entry("LE Set Advertising Parameters", (25, 5), LESetAdvertisingParameters.self),
        .leReadAdvertisingPhysicalChannelTxPower: Entry(
            "LE Read Advertising Physical Channel Tx Power", (25, 6),
            LEReadAdvertisingPhysicalChannelTxPower.self),
        .leSetAdvertisingData: Entry("LE Set Advertising Data", (25, 7), LESetAdvertisingData.self),
        .leSetScanResponseData: Entry("LE Set Scan Response Data", (26, 0), LESetScanResponseData.self),
        .leSetAdvertisingEnable: Entry("LE Set Advertising Enable", (26, 1), LESetAdvertisingEnable.self),
        .leSetScanParameters: Entry("LE Set Scan Parameters", (26, 2), LESetScanParameters.self),
        .leSetScanEnable: Entry("LE Set Scan Enable", (26, 3), LESetScanEnable.self),
        .leCreateConnection: Entry("LE Create Connection", (26, 4), LECreateConnection.self),
        .leCreateConnectionCancel: Entry("LE Create Connection Cancel", (26, 5), LECreateConnectionCancel.self),
        .leReadFilterAcceptListSize: Entry("LE Read Filter Accept List Size", (26, 6), LEReadFilterAcceptListSize.self),
        .leClearFilterAcceptList: Entry("LE Clear Filter Accept List", (26, 7), LEClearFilterAcceptList.self),
        .leAddDeviceToFilterAcceptList: Entry(
            "LE Add Device To Filter Accept List", (27, 0),
            LEAddDeviceToFilterAcceptList.self),
        .leRemoveDeviceFromFilterAcceptList: Entry(
            "LE Remove Device From Filter Accept List", (27, 1),
            LERemoveDeviceFromFilterAcceptList.self),
        .leConnectionUpdate: Entry("LE Connection Update", (27, 2), LEConnectionUpdate.self),
        .leSetHostChannelClassification: Entry(
            "LE Set Host Channel Classification", (27, 3),
            LESetHostChannelClassification.self),
        .leReadChannelMap: Entry("LE Read Channel Map", (27, 4), LEReadChannelMap.self),
        .leReadRemoteFeatures: Entry("LE Read Remote Features", (27, 5), LEReadRemoteFeatures.self),
        .leEncrypt: Entry("LE Encrypt", (27, 6), LEEncrypt.self),
        .leRand: Entry("LE Rand", (27, 7), LERand.self),
        .leEnableEncryption: Entry("LE Enable Encryption", (28, 0), LEEnableEncryption.self),
        .leLongTermKeyRequestReply: Entry("LE Long Term Key Request Reply", (28, 1), LELongTermKeyRequestReply.self),
        .leLongTermKeyRequestNegativeReply: Entry(
            "LE Long Term Key Request Negative Reply", (28, 2),
            LELongTermKeyRequestNegativeReply.self),
        .leReadSupportedStates: Entry("LE Read Supported States", (28, 3), LEReadSupportedStates.self),
        .leRemoteConnectionParameterRequestReply: Entry(
            "LE Remote Connection Parameter Request Reply", (33, 4),
            LERemoteConnectionParameterRequestReply.self),
        .leRemoteConnectionParameterRequestNegativeReply: Entry(
            "LE Remote Connection Parameter Request Negative Reply", (33, 5),
            LERemoteConnectionParameterRequestNegativeReply.self),
        .leSetDataLength: Entry("LE Set Data Length", (33, 6), LESetDataLength.self),
        .leReadSuggestedDefaultDataLength: Entry(
            "LE Read Suggested Default Data Length", (33, 7),
            LEReadSuggestedDefaultDataLength.self),
        .leWriteSuggestedDefaultDataLength: Entry(
            "LE Write Suggested Default Data Length", (34, 0),
            LEWriteSuggestedDefaultDataLength.self),
        .leAddDeviceToResolvingList: Entry("LE Add Device To Resolving List", (34, 3), LEAddDeviceToResolvingList.self),
        .leRemoveDeviceFromResolvingList: Entry(
            "LE Remove Device From Resolving List", (34, 4),
            LERemoveDeviceFromResolvingList.self),
        .leClearResolvingList: Entry("LE Clear Resolving List", (34, 5), LEClearResolvingList.self),
        .leReadResolvingListSize: Entry("LE Read Resolving List Size", (34, 6), LEReadResolvingListSize.self),
        .leSetAddressResolutionEnable: Entry(
            "LE Set Address Resolution Enable", (35, 1),
            LESetAddressResolutionEnable.self),
        .leSetResolvablePrivateAddressTimeout: Entry(
            "LE Set Resolvable Private Address Timeout", (35, 2),
            LESetResolvablePrivateAddressTimeout.self),
        .leReadMaximumDataLength: Entry("LE Read Maximum Data Length", (35, 3), LEReadMaximumDataLength.self),
        .leReadPHY: Entry("LE Read PHY", (35, 4), LEReadPHY.self),
        .leSetDefaultPHY: Entry("LE Set Default PHY", (35, 5), LESetDefaultPHY.self),
        .leSetPHY: Entry("LE Set PHY", (35, 6), LESetPHY.self),
        .leSetAdvertisingSetRandomAddress: Entry(
            "LE Set Advertising Set Random Address", (36, 1),
            LESetAdvertisingSetRandomAddress.self),
        .leSetExtendedAdvertisingParameters: Entry(
            "LE Set Extended Advertising Parameters", (36, 2),
            LESetExtendedAdvertisingParameters.self),
        .leSetExtendedAdvertisingData: Entry(
            "LE Set Extended Advertising Data", (36, 3),
            LESetExtendedAdvertisingData.self),
        .leSetExtendedScanResponseData: Entry(
            "LE Set Extended Scan Response Data", (36, 4),
            LESetExtendedScanResponseData.self),
        .leSetExtendedAdvertisingEnable: Entry(
            "LE Set Extended Advertising Enable", (36, 5),
            LESetExtendedAdvertisingEnable.self),
        .leReadMaximumAdvertisingDataLength: Entry(
            "LE Read Maximum Advertising Data Length", (36, 6),
            LEReadMaximumAdvertisingDataLength.self),
        .leReadNumberOfSupportedAdvertisingSets: Entry(
            "LE Read Number Of Supported Advertising Sets", (36, 7),
            LEReadNumberOfSupportedAdvertisingSets.self),
        .leRemoveAdvertisingSet: Entry("LE Remove Advertising Set", (37, 0), LERemoveAdvertisingSet.self),
        .leClearAdvertisingSets: Entry("LE Clear Advertising Sets", (37, 1), LEClearAdvertisingSets.self),
        .leSetExtendedScanParameters: Entry(
            "LE Set Extended Scan Parameters", (37, 5),
            LESetExtendedScanParameters.self),
        .leSetExtendedScanEnable: Entry("LE Set Extended Scan Enable", (37, 6), LESetExtendedScanEnable.self),
        .leExtendedCreateConnection: Entry("LE Extended Create Connection", (37, 7), LEExtendedCreateConnection.self),
        .leReadTransmitPower: Entry("LE Read Transmit Power", (38, 7), LEReadTransmitPower.self),
        .leSetPrivacyMode: Entry("LE Set Privacy Mode", (39, 2), LESetPrivacyMode.self),
        .leReadBufferSizeV2: Entry("LE Read Buffer Size [v2]", (41, 5), LEReadBufferSizeV2.self),
        .leSetHostFeature: Entry("LE Set Host Feature", (44, 1), LESetHostFeature.self),
        .leSetPeriodicAdvertisingParameters: Entry(
            "LE Set Periodic Advertising Parameters", (37, 2), LESetPeriodicAdvertisingParameters.self),
        .leSetPeriodicAdvertisingData: Entry(
            "LE Set Periodic Advertising Data", (37, 3), LESetPeriodicAdvertisingData.self),
        .leSetPeriodicAdvertisingEnable: Entry(
            "LE Set Periodic Advertising Enable", (37, 4), LESetPeriodicAdvertisingEnable.self),
        .lePeriodicAdvertisingCreateSync: Entry(
            "LE Periodic Advertising Create Sync", (38, 0), LEPeriodicAdvertisingCreateSync.self),
        .lePeriodicAdvertisingCreateSyncCancel: Entry(
            "LE Periodic Advertising Create Sync Cancel", (38, 1), LEPeriodicAdvertisingCreateSyncCancel.self),
        .lePeriodicAdvertisingTerminateSync: Entry(
            "LE Periodic Advertising Terminate Sync", (38, 2), LEPeriodicAdvertisingTerminateSync.self),
        .leAddDeviceToPeriodicAdvertiserList: Entry(
            "LE Add Device To Periodic Advertiser List", (38, 3), LEAddDeviceToPeriodicAdvertiserList.self),
        .leRemoveDeviceFromPeriodicAdvertiserList: Entry(
            "LE Remove Device From Periodic Advertiser List", (38, 4), LERemoveDeviceFromPeriodicAdvertiserList.self),
        .leClearPeriodicAdvertiserList: Entry(
            "LE Clear Periodic Advertiser List", (38, 5), LEClearPeriodicAdvertiserList.self),
        .leReadPeriodicAdvertiserListSize: Entry(
            "LE Read Periodic Advertiser List Size", (38, 6), LEReadPeriodicAdvertiserListSize.self),
        .leSetPeriodicAdvertisingReceiveEnable: Entry(
            "LE Set Periodic Advertising Receive Enable", (40, 5), LESetPeriodicAdvertisingReceiveEnable.self),
        .lePeriodicAdvertisingSyncTransfer: Entry(
            "LE Periodic Advertising Sync Transfer", (40, 6), LEPeriodicAdvertisingSyncTransfer.self),
        .lePeriodicAdvertisingSetInfoTransfer: Entry(
            "LE Periodic Advertising Set Info Transfer", (40, 7), LEPeriodicAdvertisingSetInfoTransfer.self),
        .leSetPeriodicAdvertisingSyncTransferParameters: Entry(
            "LE Set Periodic Advertising Sync Transfer Parameters", (41, 0),
            LESetPeriodicAdvertisingSyncTransferParameters.self),
        .leSetDefaultPeriodicAdvertisingSyncTransferParameters: Entry(
            "LE Set Default Periodic Advertising Sync Transfer Parameters", (41, 1),
            LESetDefaultPeriodicAdvertisingSyncTransferParameters.self),
        .leEnhancedReadTransmitPowerLevel: Entry(
            "LE Enhanced Read Transmit Power Level", (44, 3), LEEnhancedReadTransmitPowerLevel.self),
        .leReadRemoteTransmitPowerLevel: Entry(
            "LE Read Remote Transmit Power Level", (44, 4), LEReadRemoteTransmitPowerLevel.self),
        .leSetPathLossReportingParameters: Entry(
            "LE Set Path Loss Reporting Parameters", (44, 5), LESetPathLossReportingParameters.self),
        .leSetPathLossReportingEnable: Entry(
            "LE Set Path Loss Reporting Enable", (44, 6), LESetPathLossReportingEnable.self),
        .leSetTransmitPowerReportingEnable: Entry(
            "LE Set Transmit Power Reporting Enable", (44, 7), LESetTransmitPowerReportingEnable.self),
        .leSetPeriodicAdvertisingSubeventData: Entry(
            "LE Set Periodic Advertising Subevent Data", (46, 5), LESetPeriodicAdvertisingSubeventData.self),
        .leSetPeriodicAdvertisingResponseData: Entry(
            "LE Set Periodic Advertising Response Data", (46, 6), LESetPeriodicAdvertisingResponseData.self),
        .leSetPeriodicSyncSubevent: Entry("LE Set Periodic Sync Subevent", (46, 7), LESetPeriodicSyncSubevent.self),
        .leExtendedCreateConnectionV2: Entry(
            "LE Extended Create Connection [v2]", (47, 0), LEExtendedCreateConnectionV2.self),
        .leSetPeriodicAdvertisingParametersV2: Entry(
            "LE Set Periodic Advertising Parameters [v2]", (47, 1), LESetPeriodicAdvertisingParametersV2.self),
    ]
}
