import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

extension Device {
    /// The number of discoveries on one link, for a device whose services keep changing.
    private static let resolutionLimit = 4

    /// The characteristic whose value has this handle.
    func characteristic(_ handle: AttributeHandle) -> RemoteCharacteristic? {
        for service in services where service.handles.contains(handle) {
            return service.characteristics.first { $0.information.valueHandle == handle }
        }
        return nil
    }

    /// The handle of an attribute as a property; nil in versions of BlueZ without the property.
    func handleValue(_ handle: AttributeHandle) -> DBusValue? {
        daemon.settings.profile == .bookworm ? nil : .uint16(handle.rawValue)
    }

    func subscriptionBegan(_ token: CallToken) {
        for service in services {
            for characteristic in service.characteristics { characteristic.subscriptionBegan(token) }
        }
    }

    /// Discovers the services, unless they are known or being discovered.
    func resolveServices() {
        guard resolution == .none else { return }
        resolve(attempt: 1)
    }

    private func resolve(attempt: Int) {
        guard let link = link.identifier else { return }
        resolution = .pending(attempt: attempt, isOutdated: false)
        daemon.house.call(.perform(link, .discoverAll(includes: true))) { [weak self] result in
            guard let self, self.link.identifier == link else { return }
            switch result {
            case .success(.gatt(.database(let database))): readExtendedProperties(of: database, on: link)
            case .success: return
            case .failure(.servicesChanged) where attempt < Self.resolutionLimit: resolve(attempt: attempt + 1)
            case .failure(.disconnected), .failure(.noSuchLink), .failure(.adapterRemoved): resolution = .none
            case .failure(let error): discoveryFailed(error)
            }
        }
    }

    /// Like BlueZ, the daemon lets clients go on, with the services known from earlier links.
    private func discoveryFailed(_ error: HostError) {
        daemon.settings.report("\(path): its services could not be discovered: \(error)")
        resolution = .resolved
        changed("ServicesResolved")
        servicesSettled()
    }

    /// Reads the Extended Properties descriptors, which belong to the flags of a characteristic.
    private func readExtendedProperties(of database: DiscoveredDatabase, on link: LinkIdentifier) {
        var extended: [AttributeHandle: GATTExtendedProperties] = [:]
        let descriptors = database.descriptors.filter { $0.uuid == .characteristicExtendedProperties }
        for descriptor in descriptors {
            daemon.house.call(.perform(link, .read(descriptor.handle))) { result in
                guard case .success(.gatt(.value(let value))) = result, let low = value.first else { return }
                let high = value.count > 1 ? value[1] : 0
                extended[descriptor.handle] = GATTExtendedProperties(rawValue: UInt16(low) | UInt16(high) << 8)
            }
        }
        guard !descriptors.isEmpty else { return found(database, [:]) }
        // Calls of one user on one link keep their order.
        daemon.house.call(.awaitTurn(link)) { [weak self] _ in
            guard let self, self.link.identifier == link else { return }
            found(database, extended)
        }
    }

    /// How long clients wait for the host to follow changes, on a device that does not respond to that.
    private static let followingTime = Duration.seconds(5)

    /// The services are announced when their changes are followed, as in BlueZ. Some devices notify only after that.
    private func found(_ database: DiscoveredDatabase, _ extended: [AttributeHandle: GATTExtendedProperties]) {
        // The services may have changed since they were discovered.
        if case .pending(let attempt, isOutdated: true) = resolution, attempt < Self.resolutionLimit {
            return resolve(attempt: attempt + 1)
        }
        guard !areChangesFollowed else { return servicesFound(database, extended) }
        resolution = .found(database, extended)
        let link = link.identifier
        daemon.timers.schedule(after: Self.followingTime) { [weak self] in
            guard let self, self.link.identifier == link else { return }
            changesFollowed()
        }
    }

    /// The host follows changes of the services.
    func changesFollowed() {
        areChangesFollowed = true
        if case .found(let database, let extended) = resolution { servicesFound(database, extended) }
    }

    private func servicesFound(
        _ database: DiscoveredDatabase, _ extended: [AttributeHandle: GATTExtendedProperties]
    ) {
        let before = serviceUUIDs
        export(database, extended)
        resolution = .resolved
        if serviceUUIDs != before { changed("UUIDs") }
        announcePairing()
        changed("ServicesResolved")
        for service in services { service.resolved() }
        servicesSettled()
        resolveBattery()
        resolveProduct()
    }

    /// Exports the services that are new, and removes those that have gone or changed.
    private func export(_ database: DiscoveredDatabase, _ extended: [AttributeHandle: GATTExtendedProperties]) {
        let services = database.services.sorted { $0.startHandle < $1.startHandle }.prefix(RemoteService.limit)
        resolvedUUIDs = services.map(\.uuid).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        // Like BlueZ 5.66, which uses this service itself, the daemon does not export it.
        let found = services.filter { daemon.settings.profile != .bookworm || $0.uuid != .genericAccess }
        let wanted = found.map { RemoteService.Definition($0, of: database, extended) }
        for service in self.services where !wanted.contains(service.definition) { service.remove(from: daemon.tree) }
        var kept = self.services.filter { wanted.contains($0.definition) }
        for definition in wanted where !kept.contains(where: { $0.definition == definition }) {
            let service = RemoteService(definition, of: self)
            service.export(in: daemon.tree)
            kept.append(service)
        }
        self.services = kept.sorted { $0.information.startHandle < $1.information.startHandle }
    }

    func removeServices() {
        for service in services { service.remove(from: daemon.tree) }
        services = []
        removeBattery()
    }

    /// The device says that its services have changed in some handles: they are discovered again.
    func servicesChanged(in handles: ClosedRange<AttributeHandle>) {
        for service in services {
            for characteristic in service.characteristics
            where handles.contains(characteristic.information.valueHandle) {
                characteristic.subscriptionLost()
            }
        }
        if let battery, handles.contains(battery.handle) { removeBattery() }
        switch resolution {
        case .none: return
        case .pending(let attempt, _): resolution = .pending(attempt: attempt, isOutdated: true)
        case .found: resolve(attempt: 1)
        case .resolved:
            resolution = .none
            changed("ServicesResolved")
            daemon.tree.flush()
            resolveServices()
        }
    }
}
