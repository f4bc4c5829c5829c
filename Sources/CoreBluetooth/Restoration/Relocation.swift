import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// Brings together what a run before knew of a peripheral with what is there now: finds again, by their UUIDs, the
/// services that the application knows.
struct Relocation {
    private enum Step {
        case services
        case characteristics(CBService, DiscoveredService)
        case descriptors(CBService, CBCharacteristic, ClosedRange<AttributeHandle>)
    }

    private let known: [CBService]
    private var steps: [Step]
    private var services: [(CBService, DiscoveredService)] = []
    private var characteristics: [(CBCharacteristic, DiscoveredCharacteristic)] = []
    private var descriptors: [(CBDescriptor, DiscoveredDescriptor)] = []
    /// Those that are not as they were.
    private(set) var gone: [CBService] = []

    init(of peripheral: CBPeripheral?) {
        known = peripheral?.attributes.services ?? []
        steps = known.isEmpty ? [] : [.services]
    }

    /// What is to be asked next; nil where everything is known.
    var operation: GATTClientOperation? {
        switch steps.last {
        case .services: .discoverPrimaryServices()
        case .characteristics(_, let place): .discoverCharacteristics(in: place.handles)
        case .descriptors(_, _, let handles): .discoverDescriptors(in: handles)
        case nil: nil
        }
    }

    mutating func take(_ result: Result<CallResult, HostError>) {
        guard let step = steps.popLast() else { return }
        var answer: GATTClientResult?
        if case .success(.gatt(let found)) = result { answer = found }
        switch (step, answer) {
        case (.services, .services(let found)): take(found)
        case (.services, _): gone = known
        case (.characteristics(let service, _), .characteristics(let found)): take(found, in: service)
        case (.descriptors(let service, let characteristic, _), .descriptors(let found)):
            take(found, of: characteristic, in: service)
        case (.characteristics(let service, _), _), (.descriptors(let service, _, _), _): lose(service)
        }
    }

    private mutating func take(_ found: [DiscoveredService]) {
        var found = found
        for service in known {
            guard let index = found.firstIndex(where: { $0.uuid == service.uuid.bluetoothUUID }) else {
                gone.append(service)
                continue
            }
            let place = found.remove(at: index)
            services.append((service, place))
            if service.members?.isEmpty == false { steps.append(.characteristics(service, place)) }
        }
    }

    private mutating func take(_ found: [DiscoveredCharacteristic], in service: CBService) {
        var found = found
        for characteristic in service.members ?? [] {
            let uuid = characteristic.uuid.bluetoothUUID
            guard let index = found.firstIndex(where: { $0.uuid == uuid }) else { return lose(service) }
            let place = found.remove(at: index)
            characteristics.append((characteristic, place))
            guard characteristic.parts?.isEmpty == false else { continue }
            guard place.valueHandle < place.endHandle else { return lose(service) }
            let handles = AttributeHandle(place.valueHandle.rawValue + 1)...place.endHandle
            steps.append(.descriptors(service, characteristic, handles))
        }
    }

    private mutating func take(
        _ found: [DiscoveredDescriptor], of characteristic: CBCharacteristic, in service: CBService
    ) {
        var found = found
        for descriptor in characteristic.parts ?? [] {
            let uuid = descriptor.uuid.bluetoothUUID
            guard let index = found.firstIndex(where: { $0.uuid == uuid }) else { return lose(service) }
            descriptors.append((descriptor, found.remove(at: index)))
        }
    }

    /// A service is not as it was.
    private mutating func lose(_ service: CBService) {
        gone.append(service)
        steps.removeAll { if case .descriptors(service, _, _) = $0 { true } else { false } }
    }

    /// Moves the application's objects to where they are, and takes out what is gone.
    func apply(to attributes: inout PeripheralAttributes) {
        for (service, place) in services {
            service.move(to: place.handles)
            // What is only included has no UUID of its own to be found by; and what is gone is included no more.
            let isWhole = (service.included ?? []).allSatisfy { included in
                known.contains { $0 === included } && !gone.contains { $0 === included }
            }
            if !isWhole { service.included = nil }
        }
        for (characteristic, place) in characteristics { characteristic.move(to: place) }
        for (descriptor, place) in descriptors { descriptor.handle = place.handle }
        attributes.remove(gone)
    }
}

extension DiscoveredService {
    var handles: ClosedRange<AttributeHandle> { startHandle...max(startHandle, endHandle) }
}

extension PeripheralSession {
    /// The application knows something else of the peripheral now. What that is, is taken down at once: it may let go of
    /// the peripheral, and of everything, the next moment.
    func remember() {
        guard let central, central.restoreIdentifier != nil, let peripheral else { return }
        remembered = CentralState.Peripheral(peripheral)
        central.changed()
    }

    /// What is to be remembered of the peripheral.
    var state: CentralState.Peripheral? {
        var state = remembered
        state?.isReconnecting = isReconnecting
        return state
    }

    /// Looks for the next thing that is known from a run before. When all is found the application is told of the
    /// connection, then of what is gone, and its subscriptions are renewed before anything that it asks for.
    func locateNext(on link: PeripheralLink) {
        if let operation = relocation?.operation { return link.perform(.locate(operation)) }
        guard let found = relocation, let central, let peripheral else { return }
        relocation = nil
        peripheral.$attributes.withLock { found.apply(to: &$0) }
        let renewed = peripheral.attributes.notifyingCharacteristics
        tellConnected(link, mtu: central.lock.withLock { link.mtu })
        guard peripheral.isConnected(by: self) else { return }
        if !found.gone.isEmpty { peripheral.delegate?.peripheral(peripheral, didModifyServices: found.gone) }
        for characteristic in renewed { link.perform(.renew(characteristic)) }
    }

    func located(_ result: Result<CallResult, HostError>, on link: PeripheralLink) {
        relocation?.take(result)
        locateNext(on: link)
    }
}
