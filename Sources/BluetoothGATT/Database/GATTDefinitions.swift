import BluetoothATT
import BluetoothBase

/// The definition of a service, to add to a database (Core 5.4, Vol 3, Part G, 3.1).
public struct GATTServiceDefinition: Equatable, Sendable {
    public var uuid: BluetoothUUID
    /// False for a secondary service, which is only found through a service that includes it.
    public var isPrimary: Bool
    /// The handles of the declarations of services this one includes; they are in the database already.
    public var includes: [AttributeHandle]
    public var characteristics: [GATTCharacteristicDefinition]

    public init(
        uuid: BluetoothUUID, isPrimary: Bool = true, includes: [AttributeHandle] = [],
        characteristics: [GATTCharacteristicDefinition] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }
}

/// The definition of a characteristic (Core 5.4, Vol 3, Part G, 3.3).
public struct GATTCharacteristicDefinition: Equatable, Sendable {
    public var uuid: BluetoothUUID
    public var properties: GATTCharacteristicProperties
    /// The value of the Characteristic Extended Properties descriptor, which is added if this is not empty.
    public var extendedProperties: GATTExtendedProperties
    public var permissions: GATTPermissions
    /// The link security needed to subscribe and to be notified.
    public var subscription: GATTPermissions.Requirement
    public var value: GATTAttributeValue
    /// Descriptors beside the Client Characteristic Configuration and the Extended Properties, which are added
    /// automatically.
    public var descriptors: [GATTDescriptorDefinition]

    /// - Parameters:
    ///   - permissions: By default any link may do what `properties` offer.
    ///   - subscription: By default any link that may read may subscribe; if the value cannot be read, any link.
    public init(
        uuid: BluetoothUUID, properties: GATTCharacteristicProperties,
        extendedProperties: GATTExtendedProperties = [], permissions: GATTPermissions? = nil,
        subscription: GATTPermissions.Requirement? = nil, value: GATTAttributeValue = .dynamic,
        descriptors: [GATTDescriptorDefinition] = []
    ) {
        let permissions = permissions ?? GATTPermissions(openFor: properties)
        self.uuid = uuid
        self.properties = properties
        self.extendedProperties = extendedProperties
        self.permissions = permissions
        self.subscription = subscription ?? max(permissions.read, .open)
        self.value = value
        self.descriptors = descriptors
    }
}

/// The definition of a descriptor (Core 5.4, Vol 3, Part G, 3.3.3).
public struct GATTDescriptorDefinition: Equatable, Sendable {
    public var uuid: BluetoothUUID
    public var permissions: GATTPermissions
    public var value: GATTAttributeValue

    public init(uuid: BluetoothUUID, permissions: GATTPermissions = .readOnly, value: GATTAttributeValue) {
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
    }

    /// A Characteristic User Description that cannot be written (Vol 3, Part G, 3.3.3.2).
    public static func userDescription(_ text: String) -> Self {
        .init(uuid: .characteristicUserDescription, value: .constant([UInt8](text.utf8)))
    }
}

/// The bits of the Characteristic Extended Properties descriptor (Core 5.4, Vol 3, Part G, 3.3.3.1).
public struct GATTExtendedProperties: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Queued writes to several values may be executed together.
    @inlinable public static var reliableWrite: Self { .init(rawValue: 0x0001) }
    /// The Characteristic User Description may be written.
    @inlinable public static var writableAuxiliaries: Self { .init(rawValue: 0x0002) }
}
