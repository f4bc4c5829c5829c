import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Converts from an application's objects and back.
extension CentralState.Peripheral {
    init(_ peripheral: CBPeripheral) {
        address = peripheral.peer.description
        name = peripheral.name
        isReconnecting = false
        services = Self.saved(peripheral.services)
    }

    private static func saved(_ services: [CBService]?) -> [CentralState.Service]? {
        guard let services else { return nil }
        var all = services
        var places = Dictionary(
            services.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        // Included services may include other services, which are appended.
        var next = 0
        while next < all.count, all.count <= CentralState.maximumAttributes {
            for service in all[next].included ?? [] where places[ObjectIdentifier(service)] == nil {
                places[ObjectIdentifier(service)] = all.count
                all.append(service)
            }
            next += 1
        }
        let saved = all.enumerated().map { index, service in
            CentralState.Service(
                service, isOnlyIncluded: index >= services.count,
                included: service.included?.compactMap { places[ObjectIdentifier($0)] })
        }
        return saved.reduce(0) { $0 + $1.count } <= CentralState.maximumAttributes ? saved : nil
    }

    /// The objects, complete except for values.
    func restored(of peripheral: CBPeripheral) -> PeripheralAttributes {
        guard let services else { return PeripheralAttributes() }
        let objects = services.map { $0.restored(of: peripheral) }
        for (object, saved) in zip(objects, services) {
            object.included = saved.included?.compactMap { objects.indices.contains($0) ? objects[$0] : nil }
        }
        return PeripheralAttributes(restored: zip(objects, services).filter { !$1.isOnlyIncluded }.map { $0.0 })
    }
}

extension CentralState.Service {
    fileprivate init(_ service: CBService, isOnlyIncluded: Bool, included: [Int]?) {
        let handles = service.handles
        self.init(
            uuid: SavedUUID(service.uuid), isPrimary: service.isPrimary, isOnlyIncluded: isOnlyIncluded,
            first: handles.lowerBound.rawValue, last: handles.upperBound.rawValue, included: included,
            characteristics: service.members?.compactMap { CentralState.Characteristic($0) })
    }

    /// The number of attributes that it saves.
    fileprivate var count: Int { (characteristics ?? []).reduce(1) { $0 + 1 + ($1.descriptors?.count ?? 0) } }

    fileprivate func restored(of peripheral: CBPeripheral) -> CBService {
        let handles = AttributeHandle(first)...max(AttributeHandle(first), AttributeHandle(last))
        let service = CBService(uuid.uuid, isPrimary: isPrimary, handles: handles, peripheral: peripheral)
        service.members = characteristics?.map { $0.restored(of: service) }
        return service
    }
}

extension CentralState.Characteristic {
    fileprivate init?(_ characteristic: CBCharacteristic) {
        guard let discovered = characteristic.discovered else { return nil }
        self.init(
            uuid: SavedUUID(characteristic.uuid), declaration: discovered.declarationHandle.rawValue,
            value: discovered.valueHandle.rawValue, last: discovered.endHandle.rawValue,
            properties: discovered.properties.rawValue, isNotifying: characteristic.isNotifying,
            descriptors: characteristic.parts?.map {
                CentralState.Descriptor(uuid: SavedUUID($0.uuid), handle: $0.handle.rawValue)
            })
    }

    fileprivate func restored(of service: CBService) -> CBCharacteristic {
        let discovered = DiscoveredCharacteristic(
            uuid: uuid.uuid.bluetoothUUID, declarationHandle: AttributeHandle(declaration),
            valueHandle: AttributeHandle(value), endHandle: AttributeHandle(last),
            properties: GATTCharacteristicProperties(rawValue: properties))
        let characteristic = CBCharacteristic(discovered: discovered, of: service)
        characteristic.notifying = isNotifying
        characteristic.parts = descriptors?.map {
            let found = DiscoveredDescriptor(uuid: $0.uuid.uuid.bluetoothUUID, handle: AttributeHandle($0.handle))
            return CBDescriptor(discovered: found, of: characteristic)
        }
        return characteristic
    }
}
