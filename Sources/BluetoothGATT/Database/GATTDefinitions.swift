import BluetoothATT
import BluetoothBase

/// The definition of a service, to add to a database (Core 5.4, Vol 3, Part G, 3.1).
///
/// Attributes get consecutive handles, in the order of the definition. If the definition names a handle for an
/// attribute, the attribute gets that handle, and the attributes after it continue from there. Handles may be skipped,
/// but must ascend.
public struct GATTServiceDefinition: Equatable, Sendable {
    /// The UUID of the service.
    public var uuid: BluetoothUUID
    /// False for a secondary service, which is only useful if another service includes it.
    public var isPrimary: Bool
    /// The declaration handles of the services that this one includes. They must be in the database already, or be
    /// added by the same call.
    public var includes: [AttributeHandle]
    /// The characteristics, in the order of their handles.
    public var characteristics: [GATTCharacteristicDefinition]
    /// The handle of the service declaration; nil for any free one.
    public var handle: AttributeHandle?
    /// The last handle of the service, if the service reserves handles after its last attribute; nil to end there.
    public var endHandle: AttributeHandle?
    /// The handles of the include declarations, in the order of `includes`. A nil or missing entry takes the next
    /// handle.
    public var includeHandles: [AttributeHandle?]

    /// Creates the definition of a service. By default it is primary, empty, and placed at any free handles.
    public init(
        uuid: BluetoothUUID, isPrimary: Bool = true, includes: [AttributeHandle] = [],
        characteristics: [GATTCharacteristicDefinition] = [], handle: AttributeHandle? = nil,
        endHandle: AttributeHandle? = nil, includeHandles: [AttributeHandle?] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
        self.handle = handle
        self.endHandle = endHandle
        self.includeHandles = includeHandles
    }
}

/// The definition of a characteristic (Core 5.4, Vol 3, Part G, 3.3).
public struct GATTCharacteristicDefinition: Equatable, Sendable {
    /// The UUID of the characteristic.
    public var uuid: BluetoothUUID
    /// The properties in the declaration. `permissions` determines which reads and writes succeed.
    public var properties: GATTCharacteristicProperties
    /// The value of the Characteristic Extended Properties descriptor, which is added if this is not empty.
    public var extendedProperties: GATTExtendedProperties
    /// The link security required to read and write the value.
    public var permissions: GATTPermissions
    /// The link security required to subscribe and to be notified.
    public var subscription: GATTPermissions.Requirement
    /// The source of the value: fixed octets, the database or the application.
    public var value: GATTAttributeValue
    /// The descriptors. Client Characteristic Configuration and Extended Properties are added before them if the
    /// properties require them and the list does not contain them. A Client Characteristic Configuration in this list
    /// sets its position and its permissions. Each client has its own value of it, regardless of `value`.
    public var descriptors: [GATTDescriptorDefinition]
    /// Whether the two descriptors are added. Without a Client Characteristic Configuration no client can subscribe, so
    /// every client whose link has the security required by `subscription` may be notified.
    public var addsDescriptors: Bool
    /// The handle of the characteristic declaration; nil for the next one.
    public var handle: AttributeHandle?
    /// The handle of the value; nil for the next one.
    public var valueHandle: AttributeHandle?

    /// Creates the definition of a characteristic.
    ///
    /// - Parameters:
    ///   - permissions: By default, any link may do what `properties` allow.
    ///   - subscription: By default, any link that may read may subscribe. If the value cannot be read, any link may.
    public init(
        uuid: BluetoothUUID, properties: GATTCharacteristicProperties,
        extendedProperties: GATTExtendedProperties = [], permissions: GATTPermissions? = nil,
        subscription: GATTPermissions.Requirement? = nil, value: GATTAttributeValue = .dynamic,
        descriptors: [GATTDescriptorDefinition] = [], addsDescriptors: Bool = true, handle: AttributeHandle? = nil,
        valueHandle: AttributeHandle? = nil
    ) {
        let permissions = permissions ?? GATTPermissions(openFor: properties)
        self.uuid = uuid
        self.properties = properties
        self.extendedProperties = extendedProperties
        self.permissions = permissions
        self.subscription = subscription ?? max(permissions.read, .open)
        self.value = value
        self.descriptors = descriptors
        self.addsDescriptors = addsDescriptors
        self.handle = handle
        self.valueHandle = valueHandle
    }
}

/// The definition of a descriptor (Core 5.4, Vol 3, Part G, 3.3.3).
public struct GATTDescriptorDefinition: Equatable, Sendable {
    /// The type of the descriptor.
    public var uuid: BluetoothUUID
    /// The link security required to read and write the descriptor.
    public var permissions: GATTPermissions
    /// The source of the value: fixed octets, the database or the application.
    public var value: GATTAttributeValue
    /// The handle of the descriptor; nil for the next one.
    public var handle: AttributeHandle?

    /// Creates the definition of a descriptor. By default any link may read it and no link may write it.
    public init(
        uuid: BluetoothUUID, permissions: GATTPermissions = .readOnly, value: GATTAttributeValue,
        handle: AttributeHandle? = nil
    ) {
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
        self.handle = handle
    }

    /// A Characteristic User Description that cannot be written (Vol 3, Part G, 3.3.3.2).
    public static func userDescription(_ text: String) -> Self {
        .init(uuid: .characteristicUserDescription, value: .constant([UInt8](text.utf8)))
    }
}

/// The bits of the Characteristic Extended Properties descriptor (Core 5.4, Vol 3, Part G, 3.3.3.1).
public struct GATTExtendedProperties: OptionSet, Hashable, Sendable {
    /// The Extended Properties bit field of the descriptor.
    public var rawValue: UInt16

    /// Creates the properties from the descriptor's bit field.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Queued writes to several values may be executed together.
    @inlinable public static var reliableWrite: Self { .init(rawValue: 0x0001) }
    /// The Characteristic User Description may be written.
    @inlinable public static var writableAuxiliaries: Self { .init(rawValue: 0x0002) }
}
