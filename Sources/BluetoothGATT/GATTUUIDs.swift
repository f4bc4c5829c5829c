import BluetoothBase

// The UUIDs that the Generic Attribute and Generic Access Profiles are built from (Core 5.4, Vol 3, Part G, 3.8 and 7;
// Part C, 12; Assigned Numbers, 3). They are computed properties, so using one costs no lazy initialization.

/// Attribute types of declarations.
extension BluetoothUUID {
    /// Primary Service, 0x2800 (Core 5.4, Vol 3, Part G, 3.1).
    @inlinable public static var primaryService: BluetoothUUID { .init(0x2800) }
    /// Secondary Service, 0x2801 (Vol 3, Part G, 3.1).
    @inlinable public static var secondaryService: BluetoothUUID { .init(0x2801) }
    /// Include, 0x2802 (Vol 3, Part G, 3.2).
    @inlinable public static var include: BluetoothUUID { .init(0x2802) }
    /// Characteristic, 0x2803 (Vol 3, Part G, 3.3.1).
    @inlinable public static var characteristic: BluetoothUUID { .init(0x2803) }
}

/// Attribute types of descriptors.
extension BluetoothUUID {
    /// Characteristic Extended Properties, 0x2900 (Core 5.4, Vol 3, Part G, 3.3.3.1).
    @inlinable public static var characteristicExtendedProperties: BluetoothUUID { .init(0x2900) }
    /// Characteristic User Description, 0x2901: a text in UTF-8 (Vol 3, Part G, 3.3.3.2).
    @inlinable public static var characteristicUserDescription: BluetoothUUID { .init(0x2901) }
    /// Client Characteristic Configuration, 0x2902: the subscription of one client (Vol 3, Part G, 3.3.3.3).
    @inlinable public static var clientCharacteristicConfiguration: BluetoothUUID { .init(0x2902) }
    /// Server Characteristic Configuration, 0x2903: whether the value is broadcast (Vol 3, Part G, 3.3.3.4).
    @inlinable public static var serverCharacteristicConfiguration: BluetoothUUID { .init(0x2903) }
    /// Characteristic Presentation Format, 0x2904: type, exponent and unit (Vol 3, Part G, 3.3.3.5).
    @inlinable public static var characteristicPresentationFormat: BluetoothUUID { .init(0x2904) }
    /// Characteristic Aggregate Format, 0x2905: the formats of a value's parts (Vol 3, Part G, 3.3.3.6).
    @inlinable public static var characteristicAggregateFormat: BluetoothUUID { .init(0x2905) }
}

/// The services that every device has, and their characteristics.
extension BluetoothUUID {
    /// The Generic Access service, 0x1800 (Core 5.4, Vol 3, Part C, 12).
    @inlinable public static var genericAccess: BluetoothUUID { .init(0x1800) }
    /// The Generic Attribute service, 0x1801 (Vol 3, Part G, 7).
    @inlinable public static var genericAttribute: BluetoothUUID { .init(0x1801) }
    /// Device Name, 0x2A00: a text of up to 248 octets in UTF-8 (Core 5.4, Vol 3, Part C, 12.1).
    @inlinable public static var deviceName: BluetoothUUID { .init(0x2A00) }
    /// Appearance, 0x2A01: the category of the device (Vol 3, Part C, 12.2).
    @inlinable public static var appearance: BluetoothUUID { .init(0x2A01) }
    /// Peripheral Preferred Connection Parameters, 0x2A04 (Vol 3, Part C, 12.3).
    @inlinable public static var peripheralPreferredConnectionParameters: BluetoothUUID { .init(0x2A04) }
    /// Service Changed, 0x2A05: the range of handles that has changed (Vol 3, Part G, 7.1).
    @inlinable public static var serviceChanged: BluetoothUUID { .init(0x2A05) }
    /// Central Address Resolution, 0x2AA6: whether the device resolves private addresses as a central (Vol 3, Part C,
    /// 12.4).
    @inlinable public static var centralAddressResolution: BluetoothUUID { .init(0x2AA6) }
    /// Resolvable Private Address Only, 0x2AC9: the device uses only such addresses once bonded (Vol 3, Part C, 12.5).
    @inlinable public static var resolvablePrivateAddressOnly: BluetoothUUID { .init(0x2AC9) }
    /// Client Supported Features, 0x2B29: each client writes the features that it supports (Vol 3, Part G, 7.2).
    @inlinable public static var clientSupportedFeatures: BluetoothUUID { .init(0x2B29) }
    /// Encrypted Data Key Material, 0x2B88: the key for encrypted advertising data (Vol 3, Part C, 12.6).
    @inlinable public static var encryptedDataKeyMaterial: BluetoothUUID { .init(0x2B88) }
    /// LE GATT Security Levels, 0x2BF5: the security modes that give access to the whole server (Vol 3, Part C, 12.7).
    @inlinable public static var leGATTSecurityLevels: BluetoothUUID { .init(0x2BF5) }
    /// Database Hash, 0x2B2A: changes whenever the definition of the database changes (Vol 3, Part G, 7.3).
    @inlinable public static var databaseHash: BluetoothUUID { .init(0x2B2A) }
    /// Server Supported Features, 0x2B3A (Vol 3, Part G, 7.4).
    @inlinable public static var serverSupportedFeatures: BluetoothUUID { .init(0x2B3A) }
}
