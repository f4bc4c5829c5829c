import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Discovery of the peer's services (Core 5.4, Vol 3, Part G, 4.4 to 4.7). The handles in the results are valid while
/// the link exists, unless the server changes its database. If the server changes its database during a discovery, the
/// discovery starts again, at most four times. A discovery within one service throws `.servicesChanged` instead.
extension Connection {
    /// Discovers all services, characteristics and descriptors, in as few round trips as possible.
    public func discoverAll() async throws(BluetoothError) -> DiscoveredDatabase {
        guard case .database(let database) = try await perform(.discoverAll(includes: true))
        else { return DiscoveredDatabase() }
        return database
    }

    /// Discovers the primary services, or only those with one UUID.
    public func discoverServices(_ uuid: BluetoothUUID? = nil) async throws(BluetoothError) -> [DiscoveredService] {
        guard case .services(let services) = try await perform(.discoverPrimaryServices(uuid: uuid))
        else { return [] }
        return services
    }

    /// Discovers the services that a service includes.
    public func discoverIncludedServices(
        of service: DiscoveredService
    ) async throws(BluetoothError) -> [DiscoveredInclude] {
        let operation = GATTClientOperation.discoverIncludedServices(in: service.handles)
        guard case .includes(let includes) = try await perform(operation) else { return [] }
        return includes
    }

    /// Discovers the characteristics of a service, or only those with one UUID.
    public func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil, of service: DiscoveredService
    ) async throws(BluetoothError) -> [DiscoveredCharacteristic] {
        let operation = GATTClientOperation.discoverCharacteristics(in: service.handles, uuid: uuid)
        guard case .characteristics(let characteristics) = try await perform(operation)
        else { return [] }
        return characteristics
    }

    /// Discovers the descriptors of a characteristic.
    public func discoverDescriptors(
        of characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> [DiscoveredDescriptor] {
        guard characteristic.valueHandle < characteristic.endHandle else { return [] }
        let first = AttributeHandle(characteristic.valueHandle.rawValue + 1)
        let operation = GATTClientOperation.discoverDescriptors(in: first...characteristic.endHandle)
        guard case .descriptors(let descriptors) = try await perform(operation) else { return [] }
        return descriptors
    }

    /// The peer's primary services, each with its characteristics and their descriptors.
    ///
    ///     for service in try await connection.services() {
    ///         print(service.uuid, service.characteristics.map(\.uuid))
    ///     }
    ///
    /// The peer is asked at each call, unless the host remembers its services from an earlier link. Keep the result.
    ///
    /// - Parameter uuid: only services with this UUID. Defaults to all of them.
    public func services(_ uuid: BluetoothUUID? = nil) async throws(BluetoothError) -> [RemoteService] {
        let database = try await discoverAll()
        return database.services
            .filter { $0.isPrimary && (uuid == nil || $0.uuid == uuid) }
            .map { RemoteService($0, in: database) }
    }

    /// Discovers the first characteristic with a UUID.
    ///
    /// - Parameters:
    ///   - uuid: the characteristic's UUID.
    ///   - service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound` with the UUID that is missing; `.servicesChanged` if the peer's services keep changing.
    public func characteristic(
        _ uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> DiscoveredCharacteristic {
        try await followingChanges { known throws(BluetoothError) in
            try await characteristic(uuid, in: service, known: known)
        }
    }

    /// Carries out steps that rely on each other's handles, again from the first one if the services change between
    /// them.
    ///
    /// - Parameter body: the steps. Its argument is the number of service changes known when the first one begins.
    /// - Throws: what `body` throws; `.servicesChanged` after four attempts.
    func followingChanges<Value>(
        _ body: (_ known: UInt32) async throws(BluetoothError) -> Value
    ) async throws(BluetoothError) -> Value {
        for _ in 1..<4 {
            do throws(BluetoothError) {
                return try await body(link.knownChanges)
            } catch {
                // The change was reported before the error, so that the next attempt knows of it.
                guard error == .servicesChanged else { throw error }
            }
        }
        return try await body(link.knownChanges)
    }

    /// - Parameter known: the service changes known when the search began. A later step that relies on the result must
    ///   pass the same number: the services may change between the steps.
    func characteristic(
        _ uuid: BluetoothUUID, in service: BluetoothUUID?, known: UInt32
    ) async throws(BluetoothError) -> DiscoveredCharacteristic {
        let handles: ClosedRange<AttributeHandle>
        if let service {
            guard let found = try await discoverServices(service).first else { throw .notFound(service) }
            handles = found.handles
        } else {
            handles = 0x0001...0xFFFF
        }
        let operation = GATTClientOperation.discoverCharacteristics(in: handles, uuid: uuid)
        guard case .characteristics(let characteristics) = try await perform(operation, known: known),
            let characteristic = characteristics.first
        else { throw .notFound(uuid) }
        return characteristic
    }
}
