import BluetoothATT
import BluetoothBase

/// The definition of a service, to add to a database (Core 5.4, Vol 3, Part G, 3.1).
///
/// Attributes get the handles that follow each other, in the order of the definition. Wherever a definition names a
/// handle, the attribute gets that one, and those behind it follow. Handles may be left out, but must ascend.
public struct GATTServiceDefinition: Equatable, Sendable {
    public var uuid: BluetoothUUID
    /// False for a secondary service, which is only of use if another one includes it.
    public var isPrimary: Bool
    /// The handles of the declarations of services this one includes: they are in the database already, or are added by
    /// the same call.
    public var includes: [AttributeHandle]
    public var characteristics: [GATTCharacteristicDefinition]
    /// The handle of the service declaration; nil for one that is free.
    public var handle: AttributeHandle?
    /// The last handle of the service, where it reserves some behind its last attribute; nil for that attribute's.
    public var endHandle: AttributeHandle?
    /// The handles of the include declarations, in the order of `includes`; nil, or none, for the next one.
    public var includeHandles: [AttributeHandle?]

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
    public var uuid: BluetoothUUID
    public var properties: GATTCharacteristicProperties
    /// The value of the Characteristic Extended Properties descriptor, which is added if this is not empty.
    public var extendedProperties: GATTExtendedProperties
    public var permissions: GATTPermissions
    /// The link security needed to subscribe and to be notified.
    public var subscription: GATTPermissions.Requirement
    public var value: GATTAttributeValue
    /// The descriptors. Client Characteristic Configuration and Extended Properties are added in front of them if the
    /// properties ask for them and they are not among these. A Client Characteristic Configuration here has its place and
    /// its permissions, and each client a value of its own, whatever `value` says.
    public var descriptors: [GATTDescriptorDefinition]
    /// Whether the two descriptors are added. Without a Client Characteristic Configuration nobody can subscribe, so that
    /// every client may be notified whose link has the security that `subscription` asks for.
    public var addsDescriptors: Bool
    /// The handle of the characteristic declaration; nil for the next one.
    public var handle: AttributeHandle?
    /// The handle of the value; nil for the next one.
    public var valueHandle: AttributeHandle?

    /// - Parameters:
    ///   - permissions: By default any link may do what `properties` offer.
    ///   - subscription: By default any link that may read may subscribe; if the value cannot be read, any link.
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
    public var uuid: BluetoothUUID
    public var permissions: GATTPermissions
    public var value: GATTAttributeValue
    /// The handle of the descriptor; nil for the next one.
    public var handle: AttributeHandle?

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
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Queued writes to several values may be executed together.
    @inlinable public static var reliableWrite: Self { .init(rawValue: 0x0001) }
    /// The Characteristic User Description may be written.
    @inlinable public static var writableAuxiliaries: Self { .init(rawValue: 0x0002) }
}
