import BluetoothLE
import CoreBluetooth
import Foundation

/// A service of a `VirtualPeripheral`.
public struct VirtualService {
    /// The UUID of the service.
    public var uuid: CBUUID
    /// False for a service that is only included by others.
    public var isPrimary: Bool
    /// The other services of the peripheral that this one includes.
    public var includedServices: [CBUUID]
    /// The characteristics, in the order in which the peripheral publishes them.
    public var characteristics: [VirtualCharacteristic]

    /// Creates a service.
    public init(
        _ uuid: some CBUUIDConvertible, isPrimary: Bool = true, includedServices: [any CBUUIDConvertible] = [],
        characteristics: [VirtualCharacteristic] = []
    ) {
        self.uuid = uuid.cbuuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices.map(\.cbuuid)
        self.characteristics = characteristics
    }

    /// The definition, whose included services have no handles yet.
    var definition: GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: uuid.bluetooth, isPrimary: isPrimary, includes: includedServices.map { _ in 0 },
            characteristics: characteristics.map(\.definition))
    }
}

/// The protection that a link needs for an operation. A central without it pairs first.
public enum VirtualSecurity: Sendable {
    /// None.
    case none
    /// The link is encrypted.
    case encrypted
    /// The link is encrypted, with a key from a pairing in which the user compared or entered numbers.
    case authenticated

    var requirement: GATTPermissions.Requirement {
        switch self {
        case .none: .open
        case .encrypted: .encrypted
        case .authenticated: .authenticated
        }
    }
}

/// A characteristic of a `VirtualPeripheral`.
public struct VirtualCharacteristic {
    /// The UUID of the characteristic.
    public var uuid: CBUUID
    /// The operations that centrals may use. `.notifyEncryptionRequired` and `.indicateEncryptionRequired` mean
    /// `.notify` and `.indicate`, with `subscribeSecurity` at least `.encrypted`.
    public var properties: CBCharacteristicProperties
    /// The initial value, which writes and `simulateValueUpdate` change. If nil, the peripheral's delegate answers.
    public var value: Data?
    /// The descriptors, besides the Client Characteristic Configuration, which is added if the properties need it.
    public var descriptors: [VirtualDescriptor]
    /// The protection that reading needs.
    public var readSecurity: VirtualSecurity
    /// The protection that writing needs.
    public var writeSecurity: VirtualSecurity
    /// The protection that a subscription needs.
    public var subscribeSecurity: VirtualSecurity

    /// Creates a characteristic. Without a value, the peripheral's delegate answers reads and decides about writes.
    ///
    /// - Parameters:
    ///   - userDescription: the text of a User Description descriptor, which precedes `descriptors`.
    ///   - security: the protection that all operations need.
    public init(
        _ uuid: some CBUUIDConvertible, _ properties: CBCharacteristicProperties, value: Data? = nil,
        userDescription: String? = nil, descriptors: [VirtualDescriptor] = [], security: VirtualSecurity = .none
    ) {
        self.uuid = uuid.cbuuid
        self.properties = properties
        self.value = value
        self.descriptors = (userDescription.map { [.userDescription($0)] } ?? []) + descriptors
        readSecurity = security
        writeSecurity = security
        subscribeSecurity = security
    }

    var definition: GATTCharacteristicDefinition {
        var octet = GATTCharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: properties.rawValue))
        var subscription = subscribeSecurity.requirement
        for (protected, plain) in [
            (CBCharacteristicProperties.notifyEncryptionRequired, GATTCharacteristicProperties.notify),
            (.indicateEncryptionRequired, .indicate),
        ] where properties.contains(protected) {
            octet.insert(plain)
            subscription = max(subscription, .encrypted)
        }
        var permissions = GATTPermissions(openFor: octet)
        if permissions.read == .open { permissions.read = readSecurity.requirement }
        if permissions.write != .notAllowed { permissions.write = max(permissions.write, writeSecurity.requirement) }
        return GATTCharacteristicDefinition(
            uuid: uuid.bluetooth, properties: octet, permissions: permissions, subscription: subscription,
            value: value.map { .variableLength([UInt8]($0)) } ?? .dynamic, descriptors: descriptors.map(\.definition))
    }
}

/// A descriptor of a characteristic of a `VirtualPeripheral`.
public struct VirtualDescriptor {
    /// The UUID of the descriptor.
    public var uuid: CBUUID
    /// The initial value. If nil, the peripheral's delegate answers.
    public var value: Data?
    /// Whether centrals may write it.
    public var isWritable: Bool
    /// The protection that reading and writing need.
    public var security: VirtualSecurity

    /// Creates a descriptor of any kind.
    public init(
        _ uuid: some CBUUIDConvertible, value: Data? = nil, isWritable: Bool = false, security: VirtualSecurity = .none
    ) {
        self.uuid = uuid.cbuuid
        self.value = value
        self.isWritable = isWritable
        self.security = security
    }

    /// A Characteristic User Description.
    public static func userDescription(_ text: String, isWritable: Bool = false) -> VirtualDescriptor {
        VirtualDescriptor(CBUUIDCharacteristicUserDescriptionString, value: Data(text.utf8), isWritable: isWritable)
    }

    /// A Characteristic Presentation Format: its seven octets (Core 5.4, Vol 3, Part G, 3.3.3.5).
    public static func presentationFormat(_ octets: Data) -> VirtualDescriptor {
        VirtualDescriptor(CBUUIDCharacteristicFormatString, value: octets)
    }

    /// A Characteristic Aggregate Format: the handles of presentation formats, two octets each.
    public static func aggregateFormat(_ octets: Data) -> VirtualDescriptor {
        VirtualDescriptor(CBUUIDCharacteristicAggregateFormatString, value: octets)
    }

    /// The Characteristic Extended Properties: 1 for reliable writes, 2 for a writable description, 3 for both. The
    /// characteristic needs the property `.extendedProperties`.
    public static func extendedProperties(_ bits: UInt16) -> VirtualDescriptor {
        VirtualDescriptor(
            CBUUIDCharacteristicExtendedPropertiesString,
            value: Data([UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]))
    }

    var definition: GATTDescriptorDefinition {
        GATTDescriptorDefinition(
            uuid: uuid.bluetooth,
            permissions: GATTPermissions(
                read: security.requirement, write: isWritable ? security.requirement : .notAllowed),
            value: value.map { .variableLength([UInt8]($0)) } ?? .dynamic)
    }
}
