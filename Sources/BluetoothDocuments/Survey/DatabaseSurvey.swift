import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Reads the complete database that a server exposes: every attribute with its handle, and every readable value.
///
/// The survey performs no input or output. The caller performs `operation` on a GATT client and passes the result to
/// `take`, until `operation` is nil. Unlike a client's discovery, the survey finds secondary services that no service
/// includes, gaps between handles, and reserved handles at the end of a service.
public struct DatabaseSurvey: Sendable {
    private enum Stage: Sendable {
        case mtu, primary, secondary, attributes, characteristics, includes
        case values(Int)
        case done
    }

    private static let all: ClosedRange<AttributeHandle> = 0x0001...0xFFFF

    private var stage = Stage.mtu
    private var services: [DiscoveredService] = []
    /// All attributes except the declarations of services, includes and characteristics.
    private var attributes: [DiscoveredDescriptor] = []
    private var characteristics: [DiscoveredCharacteristic] = []
    private var includes: [DiscoveredInclude] = []
    /// The handles of the attributes to read, in ascending order.
    private var readable: [AttributeHandle] = []
    private var values: [AttributeHandle: Result<[UInt8], ATTError>] = [:]

    /// Creates a survey that begins with an exchange of the MTU.
    public init() {}

    /// The next operation to perform; nil when the survey is complete.
    public var operation: GATTClientOperation? {
        switch stage {
        case .mtu: .exchangeMTU(clientRxMTU: 517)
        case .primary: .discoverPrimaryServices()
        case .secondary: .discoverSecondaryServices
        case .attributes: .discoverDescriptors(in: Self.all)
        case .characteristics: .discoverCharacteristics(in: Self.all)
        case .includes: .discoverIncludedServices(in: Self.all)
        case .values(let index): .readLong(readable[index])
        case .done: nil
        }
    }

    /// The number of values already read, and the total number to read; nil while the total is unknown.
    public var progress: (done: Int, total: Int)? {
        switch stage {
        case .values(let index): (index, readable.count)
        case .done: (readable.count, readable.count)
        case .mtu, .primary, .secondary, .attributes, .characteristics, .includes: nil
        }
    }

    /// The number of attributes found so far, excluding declarations.
    public var attributeCount: Int { attributes.count }

    /// Processes the result of `operation`, or the error with which the server responded.
    public mutating func take(_ result: Result<GATTClientResult, ATTError>) {
        switch (stage, result) {
        case (.mtu, _): stage = .primary
        case (.primary, .success(.services(let found))):
            services = found
            stage = .secondary
        case (.primary, _): stage = .secondary
        case (.secondary, .success(.services(let found))):
            services += found
            stage = .attributes
        // A server need not support discovering secondary services.
        case (.secondary, _): stage = .attributes
        case (.attributes, .success(.descriptors(let found))):
            attributes = found.filter { !Self.declarations.contains($0.uuid) }
            stage = .characteristics
        case (.attributes, _): stage = .characteristics
        case (.characteristics, .success(.characteristics(let found))):
            characteristics = found
            stage = .includes
        case (.characteristics, _): stage = .includes
        case (.includes, .success(.includes(let found))):
            includes = found
            beginReading()
        case (.includes, _): beginReading()
        case (.values(let index), .success(.value(let octets))): note(.success(octets), index)
        case (.values(let index), .failure(let error)): note(.failure(error), index)
        case (.values(let index), _):
            note(.failure(ATTError(.unlikelyError, for: .readRequest, at: readable[index])), index)
        case (.done, _): break
        }
    }

    private static let declarations: Set<BluetoothUUID> = [
        .primaryService, .secondaryService, .include, .characteristic,
    ]

    private mutating func beginReading() {
        for include in includes where !services.contains(where: { $0.startHandle == include.startHandle }) {
            services.append(
                DiscoveredService(
                    uuid: include.uuid, startHandle: include.startHandle, endHandle: include.endHandle,
                    isPrimary: false))
        }
        services.sort { $0.startHandle < $1.startHandle }
        let hidden = Set(characteristics.lazy.filter { !$0.properties.contains(.read) }.map(\.valueHandle))
        // The configuration of a client is not a property of the device.
        readable = attributes.filter { !hidden.contains($0.handle) && $0.uuid != .clientCharacteristicConfiguration }
            .map(\.handle)
        stage = readable.isEmpty ? .done : .values(0)
    }

    private mutating func note(_ value: Result<[UInt8], ATTError>, _ index: Int) {
        values[readable[index]] = value.map { Array($0.prefix(GATTAttributeValue.maximumLength)) }
        stage = index + 1 < readable.count ? .values(index + 1) : .done
    }

    // MARK: - Results

    /// The characteristics that can be subscribed to, each with its Client Characteristic Configuration descriptor.
    /// This property searches the whole database each time: store its value.
    public var subscribable: [Subscribable] {
        document.services.flatMap(\.characteristics).compactMap { characteristic in
            guard let value = characteristic.valueHandle,
                let descriptor = characteristic.descriptors.first(where: {
                    $0.uuid == .clientCharacteristicConfiguration
                })?.handle
            else { return nil }
            var configuration: GATTClientConfiguration = []
            if characteristic.properties.contains(.indicate) { configuration = .indications }
            if characteristic.properties.contains(.notify) { configuration = .notifications }
            return configuration.isEmpty
                ? nil : Subscribable(value: value, descriptor: descriptor, configuration: configuration)
        }
    }

    /// A characteristic that can be subscribed to.
    public struct Subscribable: Equatable, Sendable {
        /// The handle of the characteristic's value.
        public var value: AttributeHandle
        /// The handle of the Client Characteristic Configuration descriptor.
        public var descriptor: AttributeHandle
        /// The configuration to write: notifications if the characteristic supports both.
        public var configuration: GATTClientConfiguration
    }

    /// The database, with every handle.
    public var document: DeviceDocument {
        DeviceDocument(services: services.map { describe($0) })
    }

    private func describe(_ found: DiscoveredService) -> DeviceDocument.Service {
        var service = DeviceDocument.Service(uuid: found.uuid)
        service.isPrimary = found.isPrimary
        service.handle = found.startHandle
        let handles = found.startHandle...max(found.startHandle, found.endHandle)
        service.includes = includes.filter { handles.contains($0.declarationHandle) }.map {
            .init(.handle($0.startHandle), handle: $0.declarationHandle)
        }
        let members = characteristics.filter { handles.contains($0.declarationHandle) }
        var last = service.includes.last?.handle ?? found.startHandle
        for (index, member) in members.enumerated() {
            let next = index + 1 < members.count ? Int(members[index + 1].declarationHandle.rawValue) : 0x10000
            let parts = attributes.filter {
                $0.handle > member.valueHandle && Int($0.handle.rawValue) < next && handles.contains($0.handle)
            }
            service.characteristics.append(describe(member, parts))
            last = max(member.valueHandle, parts.last?.handle ?? 0)
        }
        if found.endHandle != last { service.endHandle = found.endHandle }
        return service
    }

    private func describe(
        _ found: DiscoveredCharacteristic, _ parts: [DiscoveredDescriptor]
    ) -> DeviceDocument.Characteristic {
        var characteristic = DeviceDocument.Characteristic(uuid: found.uuid, properties: found.properties)
        (characteristic.handle, characteristic.valueHandle) = (found.declarationHandle, found.valueHandle)
        characteristic.addsDescriptors = false
        fill(&characteristic.value, &characteristic.permissions, from: found.valueHandle)
        characteristic.descriptors = parts.map { part in
            var descriptor = DeviceDocument.Descriptor(uuid: part.uuid)
            descriptor.handle = part.handle
            fill(&descriptor.value, &descriptor.permissions, from: part.handle)
            return descriptor
        }
        return characteristic
    }

    private func fill(
        _ value: inout DeviceDocument.Value, _ permissions: inout DeviceDocument.Permissions,
        from handle: AttributeHandle
    ) {
        switch values[handle] {
        case .success(let octets): value.octets = octets
        case .failure(let error): permissions.readError = error.code
        case nil: break
        }
    }
}
