import BluetoothBase

// The UUIDs the Generic Attribute and Generic Access Profiles are built from (Core 5.4, Vol 3, Part G, 3.8 and 7; Part
// C, 12; Assigned Numbers, 3). Computed: using one costs no lazy initialisation.

/// Attribute types of declarations.
extension BluetoothUUID {
    @inlinable public static var primaryService: BluetoothUUID { .init(0x2800) }
    @inlinable public static var secondaryService: BluetoothUUID { .init(0x2801) }
    @inlinable public static var include: BluetoothUUID { .init(0x2802) }
    @inlinable public static var characteristic: BluetoothUUID { .init(0x2803) }
}

/// Attribute types of descriptors.
extension BluetoothUUID {
    @inlinable public static var characteristicExtendedProperties: BluetoothUUID { .init(0x2900) }
    @inlinable public static var characteristicUserDescription: BluetoothUUID { .init(0x2901) }
    @inlinable public static var clientCharacteristicConfiguration: BluetoothUUID { .init(0x2902) }
    @inlinable public static var serverCharacteristicConfiguration: BluetoothUUID { .init(0x2903) }
    @inlinable public static var characteristicPresentationFormat: BluetoothUUID { .init(0x2904) }
    @inlinable public static var characteristicAggregateFormat: BluetoothUUID { .init(0x2905) }
}

/// Services every device has, and their characteristics.
extension BluetoothUUID {
    /// The Generic Access Profile service.
    @inlinable public static var genericAccess: BluetoothUUID { .init(0x1800) }
    /// The Generic Attribute Profile service.
    @inlinable public static var genericAttribute: BluetoothUUID { .init(0x1801) }
    @inlinable public static var deviceName: BluetoothUUID { .init(0x2A00) }
    @inlinable public static var appearance: BluetoothUUID { .init(0x2A01) }
    @inlinable public static var peripheralPreferredConnectionParameters: BluetoothUUID { .init(0x2A04) }
    @inlinable public static var serviceChanged: BluetoothUUID { .init(0x2A05) }
    @inlinable public static var centralAddressResolution: BluetoothUUID { .init(0x2AA6) }
    @inlinable public static var resolvablePrivateAddressOnly: BluetoothUUID { .init(0x2AC9) }
    @inlinable public static var clientSupportedFeatures: BluetoothUUID { .init(0x2B29) }
    @inlinable public static var encryptedDataKeyMaterial: BluetoothUUID { .init(0x2B88) }
    @inlinable public static var leGATTSecurityLevels: BluetoothUUID { .init(0x2BF5) }
    @inlinable public static var databaseHash: BluetoothUUID { .init(0x2B2A) }
    @inlinable public static var serverSupportedFeatures: BluetoothUUID { .init(0x2B3A) }
}
