import BluetoothBase
import Foundation

/// The state of a central manager that the next run continues.
struct CentralState: RestorableState {
    var scan: Scan?
    var peripherals: [Peripheral] = []

    struct Scan: Codable, Equatable, Sendable {
        var services: [SavedUUID]
        var solicited: [SavedUUID]
        var allowsDuplicates: Bool
    }

    /// A connected or connecting peripheral.
    struct Peripheral: Codable, Equatable, Sendable {
        /// The address, in its textual form.
        var address: String
        var name: String?
        var isReconnecting: Bool
        /// The discovered services, followed by those only included; nil before discovery.
        var services: [Service]?
    }

    struct Service: Codable, Equatable, Sendable {
        var uuid: SavedUUID
        var isPrimary: Bool
        /// Whether the service is known only because another service includes it.
        var isOnlyIncluded: Bool
        var first: UInt16
        var last: UInt16
        /// The indices of the services in `services` that it includes; nil before discovery.
        var included: [Int]?
        var characteristics: [Characteristic]?
    }

    struct Characteristic: Codable, Equatable, Sendable {
        var uuid: SavedUUID
        var declaration: UInt16
        var value: UInt16
        var last: UInt16
        var properties: UInt8
        var isNotifying: Bool
        var descriptors: [Descriptor]?
    }

    struct Descriptor: Codable, Equatable, Sendable {
        var uuid: SavedUUID
        var handle: UInt16
    }

    /// At most this many peripherals are kept: no controller holds more links.
    static let maximumPeripherals = 64
    /// The attributes of a peripheral with more of them are not kept.
    static let maximumAttributes = 2048

    var isEmpty: Bool { scan == nil && peripherals.isEmpty }

    var isValid: Bool {
        peripherals.count <= Self.maximumPeripherals && peripherals.allSatisfy(\.isValid)
            && Set(peripherals.map(\.address)).count == peripherals.count
    }
}

extension CentralState.Peripheral {
    var deviceAddress: DeviceAddress? { DeviceAddress(address) }

    fileprivate var isValid: Bool {
        guard deviceAddress != nil else { return false }
        let services = services ?? []
        return services.count <= CentralState.maximumAttributes
            && services.allSatisfy { service in
                service.isValid && (service.included ?? []).allSatisfy(services.indices.contains)
            }
    }
}

extension CentralState.Service {
    fileprivate var isValid: Bool {
        first > 0 && first <= last
            && (characteristics ?? []).allSatisfy { $0.value > 0 && $0.value <= $0.last && $0.declaration < $0.value }
    }
}

extension CentralState.Scan {
    init(_ wanted: WantedScan) {
        services = wanted.services.map { SavedUUID(CBUUID($0)) }
        solicited = wanted.solicited.map { SavedUUID(CBUUID($0)) }
        allowsDuplicates = wanted.allowsDuplicates
    }

    var options: [String: Any] {
        var options: [String: Any] = [:]
        if allowsDuplicates { options[CBCentralManagerScanOptionAllowDuplicatesKey] = NSNumber(value: true) }
        if !solicited.isEmpty { options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicited.map(\.uuid) }
        return options
    }

    var wanted: WantedScan { WantedScan(services: services.map(\.uuid), options: options) }
}

/// A UUID as text, in the length the application uses.
struct SavedUUID: Codable, Equatable, Sendable {
    private let octets: [UInt8]

    init(_ uuid: CBUUID) { octets = [UInt8](uuid.data) }

    var uuid: CBUUID { CBUUID(octets: octets) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let octets = CBUUID.octets(of: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self.octets = octets
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uuid.uuidString)
    }
}
