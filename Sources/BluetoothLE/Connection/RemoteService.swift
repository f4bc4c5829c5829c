import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// A service of a peer, with its characteristics: a part of the result of `Connection.services()`.
///
/// It is valid until the peer reports that its services have changed.
public struct RemoteService: Sendable {
    private let service: DiscoveredService
    /// Everything that was discovered with the service. Copies share it.
    private let database: DiscoveredDatabase

    init(_ service: DiscoveredService, in database: DiscoveredDatabase) {
        (self.service, self.database) = (service, database)
    }

    /// The service's UUID.
    public var uuid: BluetoothUUID { service.uuid }

    /// Whether it is a primary service. Only services that another one includes can be secondary.
    public var isPrimary: Bool { service.isPrimary }

    /// The handles of the service's attributes.
    public var handles: ClosedRange<AttributeHandle> { service.handles }

    /// The service's characteristics, in the order of their handles.
    public var characteristics: [DiscoveredCharacteristic] { Array(database.characteristics(of: service)) }

    /// The services that this service includes.
    public var includedServices: [RemoteService] {
        database.includes(of: service).compactMap { include in
            database.services.first { $0.startHandle == include.startHandle }.map { RemoteService($0, in: database) }
        }
    }

    /// The first characteristic with a UUID.
    public subscript(uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
        database.characteristics(of: service).first { $0.uuid == uuid }
    }

    /// The descriptors of one of the service's characteristics.
    public func descriptors(of characteristic: DiscoveredCharacteristic) -> [DiscoveredDescriptor] {
        Array(database.descriptors(of: characteristic))
    }
}

/// Services are equal if their UUIDs, kinds and handles are.
extension RemoteService: Hashable {
    /// Whether two values are the same service of a peer.
    public static func == (first: RemoteService, second: RemoteService) -> Bool { first.service == second.service }

    /// Hashes the service without its characteristics.
    public func hash(into hasher: inout Hasher) { hasher.combine(service) }
}

extension DiscoveredService {
    var handles: ClosedRange<AttributeHandle> { startHandle...max(startHandle, endHandle) }
}
