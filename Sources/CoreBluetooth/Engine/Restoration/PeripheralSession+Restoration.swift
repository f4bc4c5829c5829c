import BluetoothLE

/// Bringing together what a run before knew of a peripheral with what is there now.
extension PeripheralSession {
    /// Where the peripheral has, now, what the application knows.
    private struct Places {
        var services: [(CBService, DiscoveredService)] = []
        var characteristics: [(CBCharacteristic, DiscoveredCharacteristic)] = []
        var descriptors: [(CBDescriptor, DiscoveredDescriptor)] = []
    }

    /// The application knows something else of the peripheral now. What that is, is taken down at once: it may let go of
    /// the peripheral, and of everything, the next moment.
    nonisolated func remember(_ peripheral: CBPeripheral) {
        guard let central, central.options.restoreIdentifier != nil else { return }
        let known = CentralState.Peripheral(peripheral)
        BluetoothEngine.run { [self] in
            remembered = known
            central.changed()
        }
    }

    /// What is to be remembered of the peripheral.
    var state: CentralState.Peripheral? {
        var state = remembered
        state?.isReconnecting = isReconnecting
        return state
    }

    /// Finds again, by their UUIDs, the services that the application knows. Those that are not as they were are taken
    /// out, and it is told so once it is connected.
    func relocate(on link: SharedLink) async {
        guard let services = peripheral.object?.attributes.services else { return }
        var (places, gone) = (Places(), [CBService]())
        var found = (try? await link.services()) ?? []
        for service in services {
            guard let index = found.firstIndex(where: { $0.uuid == service.uuid.bluetoothUUID }) else {
                gone.append(service)
                continue
            }
            let place = found.remove(at: index)
            do throws(BluetoothError) {
                if try await !locate(service.members ?? [], in: place, on: link, &places) { gone.append(service) }
            } catch {
                gone.append(service)
            }
            places.services.append((service, place))
        }
        guard self.link === link, let peripheral = peripheral.object else { return }
        peripheral.$attributes.withLock { attributes in
            for (service, place) in places.services {
                service.move(to: place.handles)
                // What is only included has no UUID of its own to be found by; and what is gone is included no more.
                let isWhole = (service.included ?? []).allSatisfy { included in
                    services.contains { $0 === included } && !gone.contains { $0 === included }
                }
                if !isWhole { service.included = nil }
            }
            for (characteristic, place) in places.characteristics { characteristic.move(to: place) }
            for (descriptor, place) in places.descriptors { descriptor.handle = place.handle }
            attributes.remove(gone)
        }
        missing = gone
    }

    /// False where the peripheral does not have all of them any more.
    private func locate(
        _ characteristics: [CBCharacteristic], in service: DiscoveredService, on link: SharedLink,
        _ places: inout Places
    ) async throws(BluetoothError) -> Bool {
        guard !characteristics.isEmpty else { return true }
        guard case .characteristics(var found) = try await link.perform(.discoverCharacteristics(in: service.handles))
        else { return false }
        for characteristic in characteristics {
            let uuid = characteristic.uuid.bluetoothUUID
            guard let index = found.firstIndex(where: { $0.uuid == uuid }) else { return false }
            let place = found.remove(at: index)
            places.characteristics.append((characteristic, place))
            let descriptors = characteristic.parts ?? []
            guard !descriptors.isEmpty else { continue }
            guard place.valueHandle < place.endHandle else { return false }
            let handles = AttributeHandle(place.valueHandle.rawValue + 1)...place.endHandle
            guard case .descriptors(var found) = try await link.perform(.discoverDescriptors(in: handles))
            else { return false }
            for descriptor in descriptors {
                let uuid = descriptor.uuid.bluetoothUUID
                guard let index = found.firstIndex(where: { $0.uuid == uuid }) else { return false }
                places.descriptors.append((descriptor, found.remove(at: index)))
            }
        }
        return true
    }

    /// The application is told of the connection: now for what else it is to know, and for its subscriptions, which are
    /// renewed before anything that it asks for.
    func relocated() {
        isRestored = false
        let gone = missing
        missing = []
        if !gone.isEmpty {
            tell { peripheral in
                self.remember(peripheral)
                peripheral.delegate?.peripheral(peripheral, didModifyServices: gone)
            }
        }
        enqueue { await $0.renewSubscriptions() }
    }

    private func renewSubscriptions() async {
        for characteristic in peripheral.object?.attributes.notifyingCharacteristics ?? []
        where !notifying.contains(characteristic.handle) {
            let renewed = await result { [self] link throws(BluetoothError) in
                try await setNotify(true, for: characteristic, on: link)
            }
            guard case .failure = renewed else { continue }
            tell { peripheral in
                characteristic.notifying = false
                self.remember(peripheral)
                peripheral.delegate?.peripheral(
                    peripheral, didUpdateNotificationStateFor: characteristic, error: renewed.error)
            }
        }
    }
}
