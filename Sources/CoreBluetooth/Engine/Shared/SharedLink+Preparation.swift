import BluetoothLE

/// What is found out about a peer without anybody asking.
extension SharedLink {
    /// Learns the peer's services and name, and subscribes to Service Changed (Core 5.4, Vol 3, Part G, 7.1). That the
    /// peer lacks some of it, or refuses, is nothing to anybody.
    ///
    /// - Parameter isNewName: takes the name in, and says whether it was another one before.
    func prepare(isNewName: (String) -> Bool) async {
        guard let services = try? await services() else { return }
        if case .values(let values)? = try? await perform(.readByUUID(.deviceName)), let value = values.first {
            let name = String(decoding: value.value, as: UTF8.self)
            if !name.isEmpty, isNewName(name) { nameChanged(to: name) }
        }
        if let service = services.first(where: { $0.uuid == .genericAttribute }) {
            try? await subscribeToServiceChanged(of: service)
        }
    }

    private func subscribeToServiceChanged(of service: DiscoveredService) async throws(BluetoothError) {
        let operation = GATTClientOperation.discoverCharacteristics(in: service.handles, uuid: .serviceChanged)
        guard case .characteristics(let characteristics) = try await perform(operation),
            let characteristic = characteristics.first, characteristic.valueHandle < service.endHandle
        else { return }
        let rest = AttributeHandle(characteristic.valueHandle.rawValue + 1)...service.endHandle
        guard case .descriptors(let descriptors) = try await perform(.discoverDescriptors(in: rest)),
            let descriptor = descriptors.first(where: { $0.uuid == .clientCharacteristicConfiguration })
        else { return }
        watchServiceChanged(at: characteristic.valueHandle)
        _ = try await perform(.configure(descriptor: descriptor.handle, .indications))
    }
}

extension DiscoveredService {
    var handles: ClosedRange<AttributeHandle> { startHandle...max(startHandle, endHandle) }
}
