import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Discovering what a peer's server offers (Core 5.4, Vol 3, Part G, 4.4 to 4.7). The handles in the results are valid
/// while the link exists, unless the server changes its database. Where it does so meanwhile, everything is discovered anew, at
/// most four times, and what was to be found within a service throws `servicesChanged`.
extension Connection {
    /// Everything, in as few round trips as possible.
    public func discoverAll() async throws(BluetoothError) -> DiscoveredDatabase {
        guard case .database(let database) = try await perform(.discoverAll(includes: true))
        else { return DiscoveredDatabase() }
        return database
    }

    /// The primary services, or those with one UUID.
    public func discoverServices(_ uuid: BluetoothUUID? = nil) async throws(BluetoothError) -> [DiscoveredService] {
        guard case .services(let services) = try await perform(.discoverPrimaryServices(uuid: uuid))
        else { return [] }
        return services
    }

    /// The services that a service includes.
    public func discoverIncludedServices(
        of service: DiscoveredService
    ) async throws(BluetoothError) -> [DiscoveredInclude] {
        let operation = GATTClientOperation.discoverIncludedServices(in: service.handles)
        guard case .includes(let includes) = try await perform(operation) else { return [] }
        return includes
    }

    /// The characteristics of a service, or those with one UUID.
    public func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil, of service: DiscoveredService
    ) async throws(BluetoothError) -> [DiscoveredCharacteristic] {
        let operation = GATTClientOperation.discoverCharacteristics(in: service.handles, uuid: uuid)
        guard case .characteristics(let characteristics) = try await perform(operation)
        else { return [] }
        return characteristics
    }

    /// The descriptors of a characteristic.
    public func discoverDescriptors(
        of characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> [DiscoveredDescriptor] {
        guard characteristic.valueHandle < characteristic.endHandle else { return [] }
        let first = AttributeHandle(characteristic.valueHandle.rawValue + 1)
        let operation = GATTClientOperation.discoverDescriptors(in: first...characteristic.endHandle)
        guard case .descriptors(let descriptors) = try await perform(operation) else { return [] }
        return descriptors
    }

    /// The one characteristic with this UUID, in the one service with that.
    ///
    /// - Throws: `.notFound` with the UUID that is missing.
    public func characteristic(
        _ uuid: BluetoothUUID, in service: BluetoothUUID
    ) async throws(BluetoothError) -> DiscoveredCharacteristic {
        guard let found = try await discoverServices(service).first else { throw .notFound(service) }
        guard let characteristic = try await discoverCharacteristics(uuid, of: found).first
        else { throw .notFound(uuid) }
        return characteristic
    }
}

extension DiscoveredService {
    fileprivate var handles: ClosedRange<AttributeHandle> { startHandle...max(startHandle, endHandle) }
}
