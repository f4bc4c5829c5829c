import BluetoothBase
import Foundation

/// The state of a peripheral manager that the next run continues.
struct ServerState: RestorableState {
    /// In the order they were added.
    var services: [Service] = []
    var advertisement: Advertisement?

    struct Advertisement: Codable, Equatable, Sendable {
        var name: String?
        var services: [SavedUUID]
    }

    struct Service: Codable, Equatable, Sendable {
        var uuid: SavedUUID
        var isPrimary: Bool
        /// The indices of the earlier services that it includes.
        var included: [Int]
        var characteristics: [Characteristic]
    }

    struct Characteristic: Codable, Equatable, Sendable {
        var uuid: SavedUUID
        var properties: UInt
        var permissions: UInt
        /// A fixed value.
        var value: Data?
        var descriptors: [Descriptor]
    }

    /// Its value is text or octets.
    struct Descriptor: Codable, Equatable, Sendable {
        var uuid: SavedUUID
        var text: String?
        var octets: Data?
    }

    var isEmpty: Bool { services.isEmpty && advertisement == nil }

    var isValid: Bool {
        services.enumerated().allSatisfy { index, service in
            service.included.allSatisfy { (0..<index).contains($0) }
                && service.characteristics.allSatisfy(\.isValid)
        }
    }
}

extension ServerState.Characteristic {
    /// False for combinations that are programming errors in an application.
    fileprivate var isValid: Bool {
        let writing: CBAttributePermissions = [.writeable, .writeEncryptionRequired]
        let isStatic =
            properties == CBCharacteristicProperties.read.rawValue
            && CBAttributePermissions(rawValue: permissions).isDisjoint(with: writing)
        return (value == nil || isStatic) && descriptors.allSatisfy(\.isValid)
    }
}

extension ServerState.Descriptor {
    fileprivate var isValid: Bool {
        switch uuid.uuid.bluetoothUUID.uint16 {
        case 0x2901: text != nil && octets == nil
        case 0x2904: text == nil && octets != nil
        default: (text == nil) != (octets == nil)
        }
    }
}

// MARK: - Conversion from and to the application's objects

extension ServerState {
    init(_ published: [CBMutableService], _ wanted: WantedAdvertisement?) {
        services = published.enumerated().map { index, service in
            let included = (service.included ?? []).compactMap { one in published[..<index].firstIndex { $0 === one } }
            return Service(
                uuid: SavedUUID(service.uuid), isPrimary: service.isPrimary, included: included,
                characteristics: (service.members ?? []).compactMap { $0 as? CBMutableCharacteristic }
                    .map { Characteristic($0) })
        }
        advertisement = wanted.map { wanted in
            Advertisement(name: wanted.name, services: wanted.services.map { SavedUUID(CBUUID($0)) })
        }
    }

    /// The services, with their included services.
    var restoredServices: [CBMutableService] {
        let objects = services.map { $0.restored }
        for (object, saved) in zip(objects, services) where !saved.included.isEmpty {
            object.included = saved.included.compactMap { objects.indices.contains($0) ? objects[$0] : nil }
        }
        return objects
    }
}

extension ServerState.Advertisement {
    var dictionary: [String: Any] {
        var dictionary: [String: Any] = [:]
        if let name { dictionary[CBAdvertisementDataLocalNameKey] = name }
        if !services.isEmpty { dictionary[CBAdvertisementDataServiceUUIDsKey] = services.map(\.uuid) }
        return dictionary
    }
}

extension ServerState.Service {
    fileprivate var restored: CBMutableService {
        let service = CBMutableService(type: uuid.uuid, primary: isPrimary)
        service.characteristics = characteristics.map { $0.restored }
        return service
    }
}

extension ServerState.Characteristic {
    fileprivate init(_ characteristic: CBMutableCharacteristic) {
        uuid = SavedUUID(characteristic.uuid)
        properties = characteristic.allowed.rawValue
        permissions = characteristic.permissions.rawValue
        value = characteristic.currentValue
        descriptors = (characteristic.parts ?? []).map { ServerState.Descriptor($0) }
    }

    fileprivate var restored: CBMutableCharacteristic {
        let characteristic = CBMutableCharacteristic(
            type: uuid.uuid, properties: CBCharacteristicProperties(rawValue: properties), value: value,
            permissions: CBAttributePermissions(rawValue: permissions))
        if !descriptors.isEmpty {
            characteristic.descriptors = descriptors.map {
                CBMutableDescriptor(type: $0.uuid.uuid, value: $0.text ?? $0.octets as Any?)
            }
        }
        return characteristic
    }
}

extension ServerState.Descriptor {
    fileprivate init(_ descriptor: CBDescriptor) {
        uuid = SavedUUID(descriptor.uuid)
        text = descriptor.value as? String
        octets = descriptor.value as? Data
    }
}
