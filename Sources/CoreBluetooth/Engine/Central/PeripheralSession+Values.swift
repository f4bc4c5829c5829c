import BluetoothLE
import Foundation

/// Reading, writing and subscribing.
extension PeripheralSession {
    func readValue(of characteristic: CBCharacteristic) async {
        let value = await read(characteristic.handle)
        tell { peripheral in
            if case .success(let value) = value { characteristic.currentValue = Data(value) }
            peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: value.error)
        }
    }

    func readValue(of descriptor: CBDescriptor) async {
        let value = await read(descriptor.handle)
        tell { peripheral in
            if case .success(let value) = value { descriptor.take(Data(value)) }
            peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: descriptor, error: value.error)
        }
    }

    func write(_ value: [UInt8], to characteristic: CBCharacteristic) async {
        let written = await write(value, to: characteristic.handle)
        tell { $0.delegate?.peripheral($0, didWriteValueFor: characteristic, error: written.error) }
    }

    func write(_ value: [UInt8], to descriptor: CBDescriptor) async {
        let written = await write(value, to: descriptor.handle)
        tell { $0.delegate?.peripheral($0, didWriteValueFor: descriptor, error: written.error) }
    }

    func writeWithoutResponse(_ value: [UInt8], to characteristic: CBCharacteristic) async {
        if let link, let discovered = characteristic.discovered {
            try? await link.connection.writeWithoutResponse(value, to: discovered)
        }
        tell { peripheral in
            if peripheral.$commands.withLock({ $0.sent() }) {
                peripheral.delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
            }
        }
    }

    func setNotify(_ isEnabled: Bool, for characteristic: CBCharacteristic) async {
        // What the application sees may be behind: it is told of one change after the other.
        guard notifying.contains(characteristic.handle) != isEnabled
        else { return notificationStateSet(characteristic, isEnabled, nil) }
        let changed = await result { [self] link throws(BluetoothError) in
            try await setNotify(isEnabled, for: characteristic, on: link)
        }
        notificationStateSet(characteristic, isEnabled, changed.error)
    }

    func setNotify(
        _ isEnabled: Bool, for characteristic: CBCharacteristic, on link: SharedLink
    ) async throws(BluetoothError) {
        let configuration = characteristic.configuration
        guard !configuration.isEmpty else {
            throw .notSupported("the characteristic neither notifies nor indicates")
        }
        let descriptor = try await configurationDescriptor(of: characteristic, on: link)
        if isEnabled {
            try await link.subscribe(self, to: characteristic.handle, descriptor: descriptor, configuration)
            notifying.insert(characteristic.handle)
        } else {
            try await link.unsubscribe(self, from: characteristic.handle)
            notifying.remove(characteristic.handle)
        }
    }

    private func notificationStateSet(_ characteristic: CBCharacteristic, _ isEnabled: Bool, _ error: (any Error)?) {
        tell { peripheral in
            if error == nil, characteristic.notifying != isEnabled {
                characteristic.notifying = isEnabled
                self.remember(peripheral)
            }
            peripheral.delegate?.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: error)
        }
    }

    func readRSSI() async {
        let rssi = await result { link throws(BluetoothError) in try await link.connection.readRSSI() }
        tell { peripheral in
            var number = NSNumber(value: 127)
            if case .success(let rssi?) = rssi { number = NSNumber(value: rssi) }
            peripheral.lastRSSI = number
            peripheral.delegate?.peripheral(peripheral, didReadRSSI: number, error: rssi.error)
        }
    }

    private func configurationDescriptor(
        of characteristic: CBCharacteristic, on link: SharedLink
    ) async throws(BluetoothError) -> AttributeHandle {
        if let known = configurations[characteristic.handle] { return known }
        let descriptors = try await Self.descriptors(of: characteristic, on: link)
        guard let descriptor = descriptors.first(where: { $0.uuid == .clientCharacteristicConfiguration })
        else { throw .notFound(.clientCharacteristicConfiguration) }
        configurations[characteristic.handle] = descriptor.handle
        return descriptor.handle
    }

    private func read(_ handle: AttributeHandle) async -> Result<[UInt8], BluetoothError> {
        await result { link throws(BluetoothError) in
            guard case .value(let value) = try await link.perform(.readLong(handle)) else { return [] }
            return value
        }
    }

    private func write(_ value: [UInt8], to handle: AttributeHandle) async -> Result<Void, BluetoothError> {
        await result { link throws(BluetoothError) in
            // What no attribute can hold the peer need not be asked.
            guard value.count <= 512 else {
                throw .att(ATTError(.invalidAttributeValueLength, for: .writeRequest, at: handle))
            }
            try await link.write(value, to: handle)
        }
    }
}
