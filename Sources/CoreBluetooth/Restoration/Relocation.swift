import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// Compares the attributes that an earlier run discovered on a peripheral with the current ones. It finds known
/// services by UUID.
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
    /// The services that have changed.
    private(set) var gone: [CBService] = []

    init(of peripheral: CBPeripheral?) {
        known = peripheral?.attributes.services ?? []
        steps = known.isEmpty ? [] : [.services]
    }

    /// The next request; nil when everything is known.
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

    /// A service has changed.
    private mutating func lose(_ service: CBService) {
        gone.append(service)
        steps.removeAll { if case .descriptors(service, _, _) = $0 { true } else { false } }
    }

    /// Moves the application's objects to their new handles, and removes those that are gone.
    func apply(to attributes: inout PeripheralAttributes) {
        for (service, place) in services {
            service.move(to: place.handles)
            // A service that is only included cannot be found by UUID, and one that is gone is no longer included.
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
    /// The application's view of the peripheral has changed. It is recorded immediately, because the application may
    /// release the peripheral at any moment.
    func remember() {
        guard let central, central.restoreIdentifier != nil, let peripheral else { return }
        remembered = CentralState.Peripheral(peripheral)
        central.changed()
    }

    /// The state of the peripheral to save.
    var state: CentralState.Peripheral? {
        var state = remembered
        state?.isReconnecting = isReconnecting
        return state
    }

    /// Finds the next attributes that an earlier run discovered. At the end, the connection is reported, then the lost
    /// services, and then subscriptions are renewed.
    func locateNext(on link: PeripheralLink) {
        if let operation = relocation?.operation { return link.perform(.locate(operation)) }
        guard let found = relocation, let central, let peripheral else { return }
        relocation = nil
        peripheral.guardedAttributes.withLock { found.apply(to: &$0) }
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
