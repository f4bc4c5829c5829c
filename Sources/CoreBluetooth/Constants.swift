// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The values are Apple's: some applications use them as literals.

// MARK: - Errors

/// The domain of errors of the stack and of links: see `CBError`.
public let CBErrorDomain = "CBErrorDomain"
/// The domain of ATT error responses: see `CBATTError`.
public let CBATTErrorDomain = "CBATTErrorDomain"

// MARK: - Advertisements

/// The name: a `String`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// The transmit power level: an `NSNumber`, in dBm.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// The services: `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Service data: `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Manufacturer specific data; the first two octets are the company identifier, low octet first: `Data`.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Services in Apple's overflow area: never present.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// Whether the advertiser accepts connections: an `NSNumber`. Always present.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// The solicited services: `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

// MARK: - Central managers

/// Whether the system alerts the user if Bluetooth is off. Accepted, without effect.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// The name under which the manager keeps its state from run to run: a `String`.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Accepted, without effect.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"

/// Whether each advertising event is reported: an `NSNumber`, false by default.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// Also reports advertisers that solicit one of these services: `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

/// Accepted, without effect: there are no alerts here.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// Accepted, without effect: there are no alerts here.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
/// Accepted, without effect: there are no alerts here.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// How long to wait before connecting: an `NSNumber`, in seconds.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionDelay"
/// Accepted, without effect: there is no classic transport here.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
/// Accepted, without effect: this system has no notifications to show.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"
/// Whether to reconnect after a lost connection: an `NSNumber`.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"

/// The peripherals that were connected or connecting: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// The services that were scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// The options of the scan: `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"

// MARK: - Peripheral managers

/// Whether the system alerts the user if Bluetooth is off. Accepted, without effect.
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlertPeripheral"
/// The name under which the manager keeps its state from run to run: a `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifierPeripheral"
/// The services that were published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
/// The advertised data: `[String: Any]`.
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
/// The characteristic that holds the PSM of a server's L2CAP channel: two octets, low octet first.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"

/// The PSM of an L2CAP channel.
public typealias CBL2CAPPSM = UInt16
