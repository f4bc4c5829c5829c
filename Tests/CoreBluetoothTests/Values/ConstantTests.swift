import CoreBluetooth
import Testing

@Suite("Constants")
struct ConstantTests {
    @Test(
        "Constants have the text that applications spell out",
        arguments: [
            (CBErrorDomain, "CBErrorDomain"),
            (CBATTErrorDomain, "CBATTErrorDomain"),
            (CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName"),
            (CBAdvertisementDataTxPowerLevelKey, "kCBAdvDataTxPowerLevel"),
            (CBAdvertisementDataServiceUUIDsKey, "kCBAdvDataServiceUUIDs"),
            (CBAdvertisementDataServiceDataKey, "kCBAdvDataServiceData"),
            (CBAdvertisementDataManufacturerDataKey, "kCBAdvDataManufacturerData"),
            (CBAdvertisementDataOverflowServiceUUIDsKey, "kCBAdvDataHashedServiceUUIDs"),
            (CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable"),
            (CBAdvertisementDataSolicitedServiceUUIDsKey, "kCBAdvDataSolicitedServiceUUIDs"),
            (CBCentralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
            (CBCentralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
            (CBCentralManagerScanOptionAllowDuplicatesKey, "kCBScanOptionAllowDuplicates"),
            (CBCentralManagerScanOptionSolicitedServiceUUIDsKey, "kCBScanOptionSolicitedServiceUUIDs"),
            (CBConnectPeripheralOptionNotifyOnConnectionKey, "kCBConnectOptionNotifyOnConnection"),
            (CBConnectPeripheralOptionNotifyOnDisconnectionKey, "kCBConnectOptionNotifyOnDisconnection"),
            (CBConnectPeripheralOptionNotifyOnNotificationKey, "kCBConnectOptionNotifyOnNotification"),
            (CBConnectPeripheralOptionEnableTransportBridgingKey, "kCBConnectOptionEnableTransportBridging"),
            (CBConnectPeripheralOptionRequiresANCS, "kCBConnectOptionRequiresANCS"),
            (CBConnectPeripheralOptionEnableAutoReconnect, "kCBConnectOptionEnableAutoReconnect"),
            (CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"),
            (CBCentralManagerRestoredStateScanServicesKey, "kCBRestoredScanServices"),
            (CBCentralManagerRestoredStateScanOptionsKey, "kCBRestoredScanOptions"),
            (CBPeripheralManagerRestoredStateServicesKey, "kCBRestoredServices"),
            (CBUUIDCharacteristicExtendedPropertiesString, "2900"),
            (CBUUIDCharacteristicUserDescriptionString, "2901"),
            (CBUUIDClientCharacteristicConfigurationString, "2902"),
            (CBUUIDServerCharacteristicConfigurationString, "2903"),
            (CBUUIDCharacteristicFormatString, "2904"),
            (CBUUIDCharacteristicAggregateFormatString, "2905"),
            (CBUUIDCharacteristicValidRangeString, "2906"),
            (CBUUIDCharacteristicObservationScheduleString, "2910"),
            (CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A"),
        ])
    func text(constant: String, text: String) {
        #expect(constant == text)
    }

    @Test("Keys whose text is unknown differ from all other keys of their dictionary")
    func unknownTexts() {
        let groups = [
            [
                CBCentralManagerOptionShowPowerAlertKey, CBCentralManagerOptionRestoreIdentifierKey,
                CBCentralManagerOptionDeviceAccessForMedia,
            ],
            [CBPeripheralManagerOptionShowPowerAlertKey, CBPeripheralManagerOptionRestoreIdentifierKey],
            [
                CBConnectPeripheralOptionStartDelayKey, CBConnectPeripheralOptionNotifyOnConnectionKey,
                CBConnectPeripheralOptionNotifyOnDisconnectionKey, CBConnectPeripheralOptionNotifyOnNotificationKey,
                CBConnectPeripheralOptionEnableTransportBridgingKey, CBConnectPeripheralOptionRequiresANCS,
                CBConnectPeripheralOptionEnableAutoReconnect,
            ],
            [CBPeripheralManagerRestoredStateServicesKey, CBPeripheralManagerRestoredStateAdvertisementDataKey],
            [
                CBConnectionEventMatchingOption.serviceUUIDs.rawValue,
                CBConnectionEventMatchingOption.peripheralUUIDs.rawValue,
            ],
        ]
        for group in groups { #expect(Set(group).count == group.count) }
    }
}
