import BluetoothBase
import BluetoothGATT
import Foundation

/// A service to publish: a snapshot of the application's objects when it is added.
struct ServiceDefinition {
    let service: CBMutableService
    let characteristics: [CBMutableCharacteristic]
    /// Without the included services, which are known by their handles.
    let definition: GATTServiceDefinition
    let included: [ObjectIdentifier]

    /// - Throws: `.uuidNotAllowed` for one of the stack's own services, `.invalidParameters` for a descriptor that the
    ///   stack adds itself.
    init(_ service: CBMutableService) throws(CBError) {
        let uuid = service.uuid.bluetoothUUID
        guard uuid != .genericAccess, uuid != .genericAttribute else { throw CBError(.uuidNotAllowed) }
        var definitions: [GATTCharacteristicDefinition] = []
        characteristics = (service.members ?? []).compactMap { $0 as? CBMutableCharacteristic }
        for characteristic in characteristics {
            definitions.append(try GATTCharacteristicDefinition(characteristic))
        }
        definition = GATTServiceDefinition(
            uuid: uuid, isPrimary: service.isPrimary, characteristics: definitions)
        included = (service.included ?? []).map { ObjectIdentifier($0) }
        self.service = service
    }
}

extension GATTCharacteristicDefinition {
    fileprivate init(_ characteristic: CBMutableCharacteristic) throws(CBError) {
        let (properties, granted) = (characteristic.properties, characteristic.permissions)
        let isSubscribable = !properties.isDisjoint(with: .notifying) || !properties.isDisjoint(with: .indicating)
        var offered = GATTCharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: properties.rawValue))
        // The properties that require encryption imply the standard ones.
        if !properties.isDisjoint(with: .notifying) { offered.insert(.notify) }
        if !properties.isDisjoint(with: .indicating) { offered.insert(.indicate) }
        offered.remove(.extendedProperties)
        let needsEncryption = !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
        var descriptors: [GATTDescriptorDefinition] = []
        for descriptor in characteristic.parts ?? [] { descriptors.append(try GATTDescriptorDefinition(descriptor)) }
        var permissions = GATTPermissions(granted)
        permissions.acceptsSignedWrites = properties.contains(.authenticatedSignedWrites)
        let value: GATTAttributeValue
        if let constant = characteristic.value {
            precondition(
                properties == .read && granted.isDisjoint(with: [.writeable, .writeEncryptionRequired]),
                "Characteristics with cached values must be read-only")
            value = .constant([UInt8](constant))
        } else {
            value = .dynamic
        }
        self.init(
            uuid: characteristic.uuid.bluetoothUUID, properties: offered, permissions: permissions,
            subscription: isSubscribable ? (needsEncryption ? .encrypted : .open) : .notAllowed, value: value,
            descriptors: descriptors)
    }
}

extension GATTDescriptorDefinition {
    fileprivate init(_ descriptor: CBDescriptor) throws(CBError) {
        let uuid = descriptor.uuid.bluetoothUUID
        let ours: [BluetoothUUID] = [0x2900, 0x2902, 0x2903].map { BluetoothUUID($0 as UInt16) }
        guard !ours.contains(uuid) else { throw CBError(.invalidParameters) }
        let octets: [UInt8]
        switch descriptor.value {
        case let text as String: octets = [UInt8](text.utf8)
        case let data as Data: octets = data.octets
        default: throw CBError(.invalidParameters)
        }
        guard octets.count <= GATTAttributeValue.maximumLength else { throw CBError(.invalidParameters) }
        self.init(uuid: uuid, value: .constant(octets))
    }
}

extension GATTPermissions {
    fileprivate init(_ granted: CBAttributePermissions) {
        func requirement(
            _ open: CBAttributePermissions, _ encrypted: CBAttributePermissions
        ) -> GATTPermissions.Requirement {
            if granted.contains(encrypted) { return .encrypted }
            return granted.contains(open) ? .open : .notAllowed
        }
        self.init(
            read: requirement(.readable, .readEncryptionRequired),
            write: requirement(.writeable, .writeEncryptionRequired))
    }
}

extension CBCharacteristicProperties {
    /// The properties that allow notifications.
    static let notifying: Self = [.notify, .notifyEncryptionRequired]
    /// The properties that allow indications.
    static let indicating: Self = [.indicate, .indicateEncryptionRequired]
}
