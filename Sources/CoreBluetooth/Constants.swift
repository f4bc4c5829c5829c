// The names are not ours to choose.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The values are those that applications find elsewhere, since some have them as literals.

// MARK: - Errors

/// The domain of errors of the stack and of links: see `CBError`.
public let CBErrorDomain = "CBErrorDomain"
/// The domain of errors that a peer's server answers with: see `CBATTError`.
public let CBATTErrorDomain = "CBATTErrorDomain"

// MARK: - Advertisements

/// The name: a `String`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// The power of transmission: an `NSNumber`, in dBm.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// The services: `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Data of services: `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Data of a manufacturer, whose identifier is the first two octets, the low one first: `Data`.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Services in a place of Apple's own: never there.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// Whether the advertiser accepts connections: an `NSNumber`. Always there.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// The services that the advertiser looks for: `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

// MARK: - Central managers

/// Whether the system alerts its user where Bluetooth is off. Accepted; there is nobody to alert.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// Under which name the manager remembers what it does from run to run: a `String`.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Accepted, without effect.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"

/// Whether each advertising event is reported: an `NSNumber`, false by default.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// Advertisers that look for one of these services are reported, too: `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

/// Accepted, without effect: there is nobody to alert.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// Accepted, without effect: there is nobody to alert.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
/// Accepted, without effect: there is nobody to alert.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// How long to wait before connecting: an `NSNumber`, in seconds.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionDelay"
/// Accepted, without effect: there is no classic transport here.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
/// Accepted, without effect: this system has no notifications to show.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"
/// Whether a connection that was lost is made again: an `NSNumber`.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"

/// The peripherals that were connected, or to be connected: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// The services that were scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// The options of the scan: `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"

// MARK: - Peripheral managers

/// Whether the system alerts its user where Bluetooth is off. Accepted; there is nobody to alert.
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlertPeripheral"
/// Under which name the manager remembers what it does from run to run: a `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifierPeripheral"
/// The services that were published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
/// What was advertised: `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisement"

// MARK: - Well-known UUIDs

/// Characteristic Extended Properties; its value is an `NSNumber`.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
/// Characteristic User Description; its value is a `String`.
public let CBUUIDCharacteristicUserDescriptionString = "2901"
/// Client Characteristic Configuration; its value is an `NSNumber`.
public let CBUUIDClientCharacteristicConfigurationString = "2902"
/// Server Characteristic Configuration; its value is an `NSNumber`.
public let CBUUIDServerCharacteristicConfigurationString = "2903"
/// Characteristic Presentation Format; its value is `Data`.
public let CBUUIDCharacteristicFormatString = "2904"
/// Characteristic Aggregate Format; its value is `Data`.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
/// Valid Range; its value is `Data`.
public let CBUUIDCharacteristicValidRangeString = "2906"
/// Observation Schedule; its value is `Data`.
public let CBUUIDCharacteristicObservationScheduleString = "2910"
/// The characteristic in which a server tells the PSM of its L2CAP channel: two octets, the low one first.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"

/// The number by which an L2CAP channel is asked for.
public typealias CBL2CAPPSM = UInt16
