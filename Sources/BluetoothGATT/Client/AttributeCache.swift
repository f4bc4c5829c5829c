import BluetoothATT
import BluetoothBase

/// What a client has discovered of a server and keeps, so that it need not discover it again (Core 5.4, Vol 3, Part G,
/// 2.5.2).
///
/// It grows with each procedure, in whatever order they come, and answers those whose results are known as the server
/// would. Whether the server still has this database is for its owner to find out. It never takes more than
/// `maximumLength` octets: what exceeds that is left to be discovered.
public struct AttributeCache: Hashable, Sendable {
    /// The most octets it may take when encoded: 100 services with two characteristics of 128-bit UUIDs each have room.
    public static let maximumLength = 8192

    /// What is known. Of secondary services those that a known service includes.
    var database = DiscoveredDatabase()
    /// Whether all primary services are known.
    var knowsServices = false
    /// The declarations of the services whose characteristics are known.
    var withCharacteristics: Set<AttributeHandle> = []
    /// The declarations of the services whose includes are known.
    var withIncludes: Set<AttributeHandle> = []
    /// The values of the characteristics whose descriptors are known.
    var withDescriptors: Set<AttributeHandle> = []

    public init() {}

    /// Whether nothing is known.
    public var isEmpty: Bool { !knowsServices }

    // MARK: - Answering

    /// The result that an operation would have; nil where it is not known, and for all that is not discovery.
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
        // Secondary services are found by their includes only.
        var found = DiscoveredDatabase(services: database.services.filter(\.isPrimary))
        for service in found.services { found.characteristics += database.characteristics(of: service) }
        for characteristic in found.characteristics { found.descriptors += database.descriptors(of: characteristic) }
        return found
    }

    /// The service that takes up exactly these handles.
    private func service(at handles: ClosedRange<AttributeHandle>) -> DiscoveredService? {
        database.services.within(handles.lowerBound, handles.lowerBound, by: \.startHandle)
            .first { $0.endHandle == handles.upperBound }
    }

    /// The characteristic whose value these handles follow to its end.
    private func characteristic(before handles: ClosedRange<AttributeHandle>) -> DiscoveredCharacteristic? {
        guard handles.lowerBound.rawValue > 1 else { return nil }
        let value = AttributeHandle(handles.lowerBound.rawValue - 1)
        return database.characteristics.within(value, value, by: \.valueHandle)
            .first { $0.endHandle == handles.upperBound }
    }

    // MARK: - Learning

    /// Takes in what an operation has found: all of it or, where it fits nothing that is known or there is no room,
    /// nothing.
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

    /// A service that is included, and is none of the primary ones, is a secondary one.
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
    /// Whether there is no room for descriptors behind its value.
    var isBare: Bool { valueHandle >= endHandle }
}
