import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The discovered attributes of a peripheral. Discovering one again yields the same object.
struct PeripheralAttributes {
    /// The primary services, in the order of their handles; nil before any discovery.
    fileprivate(set) var services: [CBService]?
    fileprivate var byHandle: [AttributeHandle: CBAttribute] = [:] {
        didSet { last = nil }
    }
    /// The characteristic that was found last: calls and values often concern the same one.
    private var last: CBCharacteristic?

    mutating func contains(_ attribute: CBAttribute) -> Bool {
        if last === attribute { return true }
        guard byHandle[attribute.handle] === attribute else { return false }
        if let characteristic = attribute as? CBCharacteristic { last = characteristic }
        return true
    }

    mutating func characteristic(at handle: AttributeHandle) -> CBCharacteristic? {
        if let last, last.handle == handle { return last }
        last = byHandle[handle] as? CBCharacteristic
        return last
    }

    // MARK: - Adding

    mutating func add(_ found: [DiscoveredService], of peripheral: CBPeripheral) {
        services = services ?? []
        for one in found {
            let service = service(one.uuid, isPrimary: one.isPrimary, one.handles, of: peripheral)
            if services?.contains(where: { $0 === service }) == false { services?.append(service) }
        }
        services?.sort { $0.handle < $1.handle }
    }

    mutating func add(_ found: [DiscoveredInclude], to service: CBService, of peripheral: CBPeripheral) {
        var included = service.included ?? []
        for one in found {
            let handles = one.startHandle...max(one.startHandle, one.endHandle)
            let isPrimary = services?.contains { $0.handle == one.startHandle } ?? false
            let found = self.service(one.uuid, isPrimary: isPrimary, handles, of: peripheral)
            if !included.contains(where: { $0 === found }) { included.append(found) }
        }
        service.included = included
    }

    mutating func add(_ found: [DiscoveredCharacteristic], to service: CBService) {
        var members = service.members ?? []
        for one in found where known(CBCharacteristic.self, one.uuid, at: one.valueHandle) == nil {
            members.removeAll { $0.handle == one.valueHandle }
            let characteristic = CBCharacteristic(discovered: one, of: service)
            byHandle[one.valueHandle] = characteristic
            members.append(characteristic)
        }
        service.members = members.sorted { $0.handle < $1.handle }
    }

    mutating func add(_ found: [DiscoveredDescriptor], to characteristic: CBCharacteristic) {
        var parts = characteristic.parts ?? []
        for one in found where known(CBDescriptor.self, one.uuid, at: one.handle) == nil {
            parts.removeAll { $0.handle == one.handle }
            let descriptor = CBDescriptor(discovered: one, of: characteristic)
            byHandle[one.handle] = descriptor
            parts.append(descriptor)
        }
        characteristic.parts = parts.sorted { $0.handle < $1.handle }
    }

    /// The known object at a handle; nil if it is of another class or type.
    private func known<Attribute: CBAttribute>(
        _ kind: Attribute.Type, _ uuid: BluetoothUUID, at handle: AttributeHandle
    ) -> Attribute? {
        guard let known = byHandle[handle] as? Attribute, known.uuid.bluetoothUUID == uuid else { return nil }
        return known
    }

    private mutating func service(
        _ uuid: BluetoothUUID, isPrimary: Bool, _ handles: ClosedRange<AttributeHandle>, of peripheral: CBPeripheral
    ) -> CBService {
        if let known = known(CBService.self, uuid, at: handles.lowerBound) { return known }
        // After a reconnection, the peripheral may have other services at these handles.
        _ = invalidate(handles)
        let service = CBService(CBUUID(uuid), isPrimary: isPrimary, handles: handles, peripheral: peripheral)
        byHandle[handles.lowerBound] = service
        return service
    }

    // MARK: - Forgetting

    /// Removes the services in a range of handles, with their contents, and returns them.
    mutating func invalidate(_ handles: ClosedRange<AttributeHandle>) -> [CBService] {
        let gone = (services ?? []).filter { $0.handles.overlaps(handles) }
        services = services?.filter { service in !gone.contains { $0 === service } }
        byHandle = byHandle.filter { handle, _ in
            !handles.contains(handle) && !gone.contains { $0.handles.contains(handle) }
        }
        return gone
    }

    /// All subscriptions have ended.
    func stopNotifying() {
        for case let characteristic as CBCharacteristic in byHandle.values { characteristic.notifying = false }
    }
}

/// The attributes that an earlier run discovered.
extension PeripheralAttributes {
    init(restored services: [CBService]) {
        self.services = services
        index()
    }

    /// Indexes every object by its current handle.
    mutating func index() {
        byHandle = [:]
        var line = services ?? []
        var seen: Set<ObjectIdentifier> = []
        while let service = line.popLast() {
            guard seen.insert(ObjectIdentifier(service)).inserted else { continue }
            byHandle[service.handle] = service
            line += service.included ?? []
            for characteristic in service.members ?? [] {
                byHandle[characteristic.handle] = characteristic
                for descriptor in characteristic.parts ?? [] { byHandle[descriptor.handle] = descriptor }
            }
        }
    }

    /// The subscribed characteristics.
    var notifyingCharacteristics: [CBCharacteristic] {
        byHandle.values.compactMap { $0 as? CBCharacteristic }.filter(\.isNotifying).sorted { $0.handle < $1.handle }
    }

    /// Removes services, with their contents.
    mutating func remove(_ gone: [CBService]) {
        services = services?.filter { service in !gone.contains { $0 === service } }
        index()
    }
}
