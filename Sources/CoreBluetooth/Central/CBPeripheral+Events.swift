import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Foundation

/// The events of a peripheral, on the application's queue: they update its objects and call its delegate.
extension CBPeripheral {
    /// A value was notified or indicated.
    func received(_ value: borrowing Span<UInt8>, at handle: AttributeHandle, _ session: PeripheralSession) {
        guard isConnected(by: session),
            let characteristic = guardedAttributes.withLock({ $0.characteristic(at: handle) })
        else { return }
        characteristic.setValue(to: value)
        delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
    }

    /// Data from the peripheral was lost, which may have contained values of any subscribed characteristic.
    func lost(_ loss: LinkLoss, _ session: PeripheralSession) {
        guard isConnected(by: session) else { return }
        reportFailure("data from \(self) was lost: \(loss)")
        let error = told(CBError(.unknown, userInfo: [NSLocalizedDescriptionKey: "Data from the peripheral was lost."]))
        // The application may end the connection in the first callback.
        for characteristic in attributes.notifyingCharacteristics where isConnected(by: session) {
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: error)
        }
    }

    func nameChanged(to name: String) {
        // Without a connection the delegate is not called. The next discovery or connection sets the name.
        let isNews = currentName != name
        guard isNews, currentState == .connected else { return }
        currentName = name
        delegate?.peripheralDidUpdateName(self)
    }

    func servicesChanged(in handles: ClosedRange<AttributeHandle>) {
        let gone = guardedAttributes.withLock { $0.invalidate(handles) }
        session?.remember()
        delegate?.peripheral(self, didModifyServices: gone)
    }

    func rssiRead(_ result: Result<CallResult, HostError>) {
        var number = NSNumber(value: 127)
        if case .success(.rssi(let rssi)) = result { number = NSNumber(value: rssi) }
        lastRSSI = number
        delegate?.peripheral(self, didReadRSSI: number, error: result.error)
    }

    func stopNotifying() { guardedAttributes.withLock { $0 }.stopNotifying() }

    /// The adapter is off, so the connection is gone.
    func adapterIsOff() {
        if let session { _ = endSession(session) }
    }

    // MARK: - Results of operations

    func finished(
        _ operation: PeripheralOperation, _ result: Result<CallResult, HostError>, _ session: PeripheralSession,
        _ pipe: ChannelPipe?
    ) {
        guard isConnected(by: session) else { return pipe?.close() ?? () }
        let error = result.error
        var found: GATTClientResult?
        if case .success(.gatt(let result)) = result { found = result }
        switch operation {
        case .discoverServices(let wanted):
            if error == nil {
                var services: [DiscoveredService] = []
                if case .services(let all) = found { services = all.meant(by: wanted, \.uuid).visible(\.uuid) }
                guardedAttributes.withLock { $0.add(services, of: self) }
                session.remember()
            }
            delegate?.peripheral(self, didDiscoverServices: error)
        case .discoverIncludedServices(let wanted, let service):
            if error == nil {
                var includes: [DiscoveredInclude] = []
                if case .includes(let all) = found { includes = all.meant(by: wanted, \.uuid).visible(\.uuid) }
                guardedAttributes.withLock { $0.add(includes, to: service, of: self) }
                session.remember()
            }
            delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: error)
        case .discoverCharacteristics(let wanted, let service):
            if error == nil {
                var characteristics: [DiscoveredCharacteristic] = []
                if case .characteristics(let all) = found { characteristics = all.meant(by: wanted, \.uuid) }
                guardedAttributes.withLock { $0.add(characteristics, to: service) }
                session.remember()
            }
            delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: error)
        case .discoverDescriptors(let characteristic):
            if error == nil {
                var descriptors: [DiscoveredDescriptor] = []
                if case .descriptors(let all) = found { descriptors = all }
                guardedAttributes.withLock { $0.add(descriptors, to: characteristic) }
                session.remember()
            }
            delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: error)
        case .read(let attribute):
            var value: [UInt8]?
            if case .value(let octets) = found { value = octets }
            if let characteristic = attribute as? CBCharacteristic {
                if let value { characteristic.setValue(to: value.span) }
                delegate?.peripheral(self, didUpdateValueFor: characteristic, error: error)
            } else if let descriptor = attribute as? CBDescriptor {
                if let value { descriptor.take(Data(value)) }
                delegate?.peripheral(self, didUpdateValueFor: descriptor, error: error)
            }
        case .write(_, let attribute):
            if let characteristic = attribute as? CBCharacteristic {
                delegate?.peripheral(self, didWriteValueFor: characteristic, error: error)
            } else if let descriptor = attribute as? CBDescriptor {
                delegate?.peripheral(self, didWriteValueFor: descriptor, error: error)
            }
        case .setNotify(let characteristic, let isEnabled):
            if error == nil, characteristic.notifying != isEnabled {
                characteristic.notifying = isEnabled
                session.remember()
            }
            delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error)
        case .renew(let characteristic):
            guard error != nil else { return }
            characteristic.notifying = false
            session.remember()
            delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error)
        case .openChannel:
            // Without a delegate nothing retains the channel, and its deallocation closes it.
            let channel = pipe.map { CBL2CAPChannel($0, with: self) }
            delegate?.peripheral(self, didOpen: channel, error: channel == nil ? error ?? told(CBError(.unknown)) : nil)
        case .locate: return
        }
    }
}

extension Array {
    /// The requested elements; all elements if none were requested.
    fileprivate func meant(by wanted: [BluetoothUUID], _ uuid: (Element) -> BluetoothUUID) -> [Element] {
        wanted.isEmpty ? self : filter { wanted.contains(uuid($0)) }
    }

    /// The services that applications may see.
    fileprivate func visible(_ uuid: (Element) -> BluetoothUUID) -> [Element] {
        BluetoothEnvironment.showsSystemServices ? self : filter { !BluetoothUUID.systemServices.contains(uuid($0)) }
    }
}

extension BluetoothUUID {
    /// Generic Access, Generic Attribute, Human Interface Device, and Apple Notification Center Service.
    fileprivate static let systemServices: [BluetoothUUID] = [
        .genericAccess, .genericAttribute, "1812", "7905F431-B5CE-4E99-A40F-4B1E122D00D0",
    ]
}

extension Result where Failure == HostError {
    /// The error that the delegate receives for a failure.
    var error: (any Error)? {
        if case .failure(let error) = self { CBError.error(for: BluetoothError(error), orElse: .unknown) } else { nil }
    }
}
