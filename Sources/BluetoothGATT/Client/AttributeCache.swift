import BluetoothATT
import BluetoothBase

/// The attributes that a client has discovered on a server, kept so that it need not discover them again (Core 5.4, Vol
/// 3, Part G, 2.5.2).
///
/// The cache grows with each discovery procedure, in any order. It returns the results of procedures it has seen, as
/// the server would. The owner must find out whether the server still has this database. An encoded cache never exceeds
/// `maximumLength` octets: attributes beyond that are not cached.
public struct AttributeCache: Hashable, Sendable {
    /// The maximum encoded length, in octets: enough for 100 services with two characteristics each, all with 128-bit
    /// UUIDs.
    public static let maximumLength = 8192

    /// The known attributes. Of the secondary services, only those that a known service includes.
    var database = DiscoveredDatabase()
    /// Whether all primary services are known.
    var knowsServices = false
    /// The declaration handles of the services whose characteristics are known.
    var withCharacteristics: Set<AttributeHandle> = []
    /// The declaration handles of the services whose includes are known.
    var withIncludes: Set<AttributeHandle> = []
    /// The value handles of the characteristics whose descriptors are known.
    var withDescriptors: Set<AttributeHandle> = []

    /// Creates an empty cache, in which no attribute is known.
    public init() {}

    /// Whether nothing is known.
    public var isEmpty: Bool { !knowsServices }

    // MARK: - Answering

    /// The result that `operation` would have; nil if it is not known, or if the operation is not a discovery.
    public func result(of operation: GATTClientOperation) -> GATTClientResult? {
        guard knowsServices else { return nil }
        switch operation {
        case .discoverPrimaryServices(let uuid):
            return .services(database.services.filter { $0.isPrimary && (uuid == nil || $0.uuid == uuid) })
        case .discoverIncludedServices(let handles):
            guard let service = service(at: handles), withIncludes.contains(service.startHandle) else { return nil }
            return .includes(Array(database.includes(of: service)))
        case .discoverCharacteristics(let handles, let uuid):
            guard let service = service(at: handles), withCharacteristics.contains(service.startHandle)
            else { return nil }
            return .characteristics(database.characteristics(of: service).filter { uuid == nil || $0.uuid == uuid })
        case .discoverDescriptors(let handles):
            guard let characteristic = characteristic(before: handles),
                withDescriptors.contains(characteristic.valueHandle)
            else { return nil }
            return .descriptors(Array(database.descriptors(of: characteristic)))
        case .discoverAll(let includes): return wholeDatabase(includes: includes).map { .database($0) }
        default: return nil
        }
    }

    private func wholeDatabase(includes: Bool) -> DiscoveredDatabase? {
        let isComplete =
            database.services.allSatisfy {
                withCharacteristics.contains($0.startHandle) && (!includes || withIncludes.contains($0.startHandle))
            } && database.characteristics.allSatisfy { $0.isBare || withDescriptors.contains($0.valueHandle) }
        guard isComplete else { return nil }
        if includes { return database }
        // Secondary services can only be found through includes.
        var found = DiscoveredDatabase(services: database.services.filter(\.isPrimary))
        for service in found.services { found.characteristics += database.characteristics(of: service) }
        for characteristic in found.characteristics { found.descriptors += database.descriptors(of: characteristic) }
        return found
    }

    /// The service with exactly these handles.
    private func service(at handles: ClosedRange<AttributeHandle>) -> DiscoveredService? {
        database.services.within(handles.lowerBound, handles.lowerBound, by: \.startHandle)
            .first { $0.endHandle == handles.upperBound }
    }

    /// The characteristic whose handles after its value are exactly these.
    private func characteristic(before handles: ClosedRange<AttributeHandle>) -> DiscoveredCharacteristic? {
        guard handles.lowerBound.rawValue > 1 else { return nil }
        let value = AttributeHandle(handles.lowerBound.rawValue - 1)
        return database.characteristics.within(value, value, by: \.valueHandle)
            .first { $0.endHandle == handles.upperBound }
    }

    // MARK: - Learning

    /// Adds the result of an operation. A result that does not match the known attributes, or that does not fit, is
    /// ignored as a whole.
    public mutating func learn(_ result: GATTClientResult, of operation: GATTClientOperation) {
        var new = self
        new.add(result, of: operation)
        if new.encodedLength <= Self.maximumLength { self = new }
    }

    private mutating func add(_ result: GATTClientResult, of operation: GATTClientOperation) {
        switch (operation, result) {
        case (.discoverPrimaryServices(nil), .services(let found)):
            guard !knowsServices || database.services.filter(\.isPrimary) != found else { return }
            self = AttributeCache()
            database.services = found
            knowsServices = true
        case (.discoverAll(let includes), .database(let found)):
            self = AttributeCache()
            database = found
            knowsServices = true
            withCharacteristics = Set(found.services.map(\.startHandle))
            if includes { withIncludes = withCharacteristics }
            withDescriptors = Set(found.characteristics.filter { !$0.isBare }.map(\.valueHandle))
        case (.discoverCharacteristics(let handles, nil), .characteristics(let found)):
            guard let service = service(at: handles), withCharacteristics.insert(service.startHandle).inserted
            else { return }
            database.characteristics += found
            database.characteristics.sort { $0.declarationHandle < $1.declarationHandle }
        case (.discoverIncludedServices(let handles), .includes(let found)):
            guard let service = service(at: handles), withIncludes.insert(service.startHandle).inserted
            else { return }
            database.includes += found
            database.includes.sort { $0.declarationHandle < $1.declarationHandle }
            for include in found { addSecondary(include) }
        case (.discoverDescriptors(let handles), .descriptors(let found)):
            guard let characteristic = characteristic(before: handles),
                withDescriptors.insert(characteristic.valueHandle).inserted
            else { return }
            database.descriptors += found
            database.descriptors.sort { $0.handle < $1.handle }
        default: return
        }
    }

    /// Adds an included service as a secondary one, unless it overlaps a known service.
    private mutating func addSecondary(_ include: DiscoveredInclude) {
        let index = database.services.firstIndex { $0.startHandle >= include.startHandle } ?? database.services.count
        guard include.startHandle <= include.endHandle,
            index == 0 || database.services[index - 1].endHandle < include.startHandle,
            index == database.services.count || include.endHandle < database.services[index].startHandle
        else { return }
        let service = DiscoveredService(
            uuid: include.uuid, startHandle: include.startHandle, endHandle: include.endHandle, isPrimary: false)
        database.services.insert(service, at: index)
    }
}

extension DiscoveredCharacteristic {
    /// Whether the characteristic has no handles after its value, and so no descriptors.
    var isBare: Bool { valueHandle >= endHandle }
}
