import BluetoothLE
import Foundation

/// Finding out what a peripheral offers. What is found is added to what was found before.
extension PeripheralSession {
    func discoverServices(_ wanted: [BluetoothUUID]) async {
        let found = await result { link throws(BluetoothError) in try await link.services() }
        tell { peripheral in
            if case .success(let services) = found {
                let meant = services.filter { wanted.isEmpty || wanted.contains($0.uuid) }
                peripheral.$attributes.withLock { $0.add(meant, of: peripheral) }
                self.remember(peripheral)
            }
            peripheral.delegate?.peripheral(peripheral, didDiscoverServices: found.error)
        }
    }

    func discoverIncludedServices(_ wanted: [BluetoothUUID], of service: CBService) async {
        let handles = service.handles
        let found = await result { link throws(BluetoothError) -> [DiscoveredInclude] in
            guard case .includes(let includes) = try await link.perform(.discoverIncludedServices(in: handles))
            else { return [] }
            return includes
        }
        tell { peripheral in
            if case .success(let includes) = found {
                let meant = includes.filter { wanted.isEmpty || wanted.contains($0.uuid) }
                peripheral.$attributes.withLock { $0.add(meant, to: service, of: peripheral) }
                self.remember(peripheral)
            }
            peripheral.delegate?.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: found.error)
        }
    }

    func discoverCharacteristics(_ wanted: [BluetoothUUID], of service: CBService) async {
        let handles = service.handles
        let found = await result { link throws(BluetoothError) -> [DiscoveredCharacteristic] in
            // All of them, since where one ends is told by where the next begins.
            guard case .characteristics(let found) = try await link.perform(.discoverCharacteristics(in: handles))
            else { return [] }
            return found
        }
        tell { peripheral in
            if case .success(let characteristics) = found {
                let meant = characteristics.filter { wanted.isEmpty || wanted.contains($0.uuid) }
                peripheral.$attributes.withLock { $0.add(meant, to: service) }
                self.remember(peripheral)
            }
            peripheral.delegate?.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: found.error)
        }
    }

    func discoverDescriptors(of characteristic: CBCharacteristic) async {
        let found = await result { link throws(BluetoothError) in
            try await Self.descriptors(of: characteristic, on: link)
        }
        tell { peripheral in
            if case .success(let descriptors) = found {
                peripheral.$attributes.withLock { $0.add(descriptors, to: characteristic) }
                self.remember(peripheral)
            }
            peripheral.delegate?.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: found.error)
        }
    }

    static func descriptors(
        of characteristic: CBCharacteristic, on link: SharedLink
    ) async throws(BluetoothError) -> [DiscoveredDescriptor] {
        guard let handles = characteristic.descriptorHandles,
            case .descriptors(let descriptors) = try await link.perform(.discoverDescriptors(in: handles))
        else { return [] }
        return descriptors
    }

    /// What comes of something that is done on the link.
    func result<Value>(
        _ body: @BluetoothEngine (SharedLink) async throws(BluetoothError) -> Value
    ) async -> Result<Value, BluetoothError> {
        guard let link else { return .failure(.disconnected(.unknown)) }
        do throws(BluetoothError) { return .success(try await body(link)) } catch { return .failure(error) }
    }
}

extension Result where Failure == BluetoothError {
    /// What an application is told of a failure.
    var error: (any Error)? {
        if case .failure(let error) = self { CBError.error(for: error, orElse: .unknown) } else { nil }
    }
}
