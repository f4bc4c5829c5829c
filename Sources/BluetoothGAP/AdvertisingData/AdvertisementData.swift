import BluetoothBase

/// What a device advertises, decoded: its advertising data and scan response merged (Core 5.4, Vol 3, Part C, 11; Core
/// Supplement, Part A).
///
/// Decoding never fails, because any device can send anything: malformed structures are skipped and the rest is kept.
/// `init(advertisingData:scanResponseData:)` says how.
public struct AdvertisementData: Equatable, Sendable {
    /// A device's name.
    public enum LocalName: Equatable, Sendable {
        case complete(String)
        /// The beginning of a longer name.
        case shortened(String)

        public var text: String {
            switch self {
            case .complete(let text), .shortened(let text): text
            }
        }
    }

    /// Data of a service, whose meaning the service defines.
    public struct ServiceData: Equatable, Sendable {
        public var uuid: BluetoothUUID
        public var data: [UInt8]

        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }

    /// Data whose meaning a manufacturer defines.
    public struct ManufacturerData: Equatable, Sendable {
        /// Which manufacturer (Assigned Numbers, 7).
        public var companyID: UInt16
        public var data: [UInt8]

        public init(companyID: UInt16, data: [UInt8]) {
            self.companyID = companyID
            self.data = data
        }
    }

    /// An AD structure this type has no property for.
    public struct Other: Equatable, Sendable {
        public var type: ADType
        public var data: [UInt8]

        public init(type: ADType, data: [UInt8]) {
            self.type = type
            self.data = data
        }
    }

    public var flags: AdvertisingFlags?
    public var localName: LocalName?
    /// The services the device has, without duplicates.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Whether the device has more services than it lists.
    public var isServiceListIncomplete = false
    /// The services the device looks for on others, without duplicates.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    public var serviceData: [ServiceData] = []
    public var manufacturerData: [ManufacturerData] = []
    /// The transmit power in dBm.
    public var txPowerLevel: Int8?
    public var appearance: Appearance?
    /// Everything else, unchanged.
    public var other: [Other] = []

    /// Creates empty data to add to.
    public init() {}
}

// MARK: - Decoding

extension AdvertisementData {
    /// Decodes advertising data.
    public init(_ advertisingData: Span<UInt8>) {
        merge(advertisingData)
    }

    /// Decodes advertising data and a scan response.
    ///
    /// - Flags, appearance and transmit power: the first counts, others are ignored.
    /// - Name: the first complete one counts, otherwise the first shortened one; octets that are not UTF-8 are replaced
    ///   by U+FFFD.
    /// - Lists of UUIDs are joined; octets after the last complete UUID are ignored.
    /// - Service and manufacturer data: all are kept, except exact repetitions.
    /// - A structure too short for its type is ignored.
    public init(advertisingData: Span<UInt8>, scanResponseData: Span<UInt8>) {
        merge(advertisingData)
        merge(scanResponseData)
    }

    /// Adds the content of more advertising data, as if it followed the data decoded so far.
    public mutating func merge(_ advertisingData: Span<UInt8>) {
        var structures = ADStructures(advertisingData)
        while let structure = structures.next() {
            merge(structure)
        }
    }

    private mutating func merge(_ structure: borrowing ADStructure) {
        var reader = ByteReader(structure.data)
        switch structure.type {
        case .flags:
            if flags == nil { flags = (try? reader.readUInt8()).map(AdvertisingFlags.init(rawValue:)) }
        case .txPowerLevel:
            if txPowerLevel == nil { txPowerLevel = try? reader.readInt8() }
        case .appearance:
            if appearance == nil { appearance = (try? reader.readUInt16()).map(Appearance.init(rawValue:)) }
        case .completeLocalName:
            if case .complete = localName { break }
            if let name = structure.data.repairedText { localName = .complete(name) }
        case .shortenedLocalName:
            if localName == nil { localName = structure.data.repairedText.map(LocalName.shortened) }
        case .manufacturerSpecificData:
            guard let companyID = try? reader.readUInt16() else { break }
            let element = ManufacturerData(companyID: companyID, data: Array(reader.readRemaining()))
            if !manufacturerData.contains(element) { manufacturerData.append(element) }
        case .serviceData16, .serviceData32, .serviceData128:
            guard let uuid = try? reader.readUUID(length: structure.type.serviceDataUUIDLength) else { break }
            let element = ServiceData(uuid: uuid, data: Array(reader.readRemaining()))
            if !serviceData.contains(element) { serviceData.append(element) }
        case .solicitedServiceUUIDs16, .solicitedServiceUUIDs32, .solicitedServiceUUIDs128:
            solicitedServiceUUIDs.appendNew(from: &reader, length: structure.type.solicitedServiceUUIDLength)
        case .incompleteServiceUUIDs16, .incompleteServiceUUIDs32, .incompleteServiceUUIDs128:
            isServiceListIncomplete = true
            serviceUUIDs.appendNew(from: &reader, length: structure.type.serviceUUIDLength)
        case .completeServiceUUIDs16, .completeServiceUUIDs32, .completeServiceUUIDs128:
            serviceUUIDs.appendNew(from: &reader, length: structure.type.serviceUUIDLength)
        default:
            other.append(Other(type: structure.type, data: Array(structure.data)))
        }
    }
}

extension Span<UInt8> {
    /// The bytes as UTF-8, with invalid sequences replaced; nil for no bytes.
    var repairedText: String? {
        isEmpty ? nil : withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}

extension [BluetoothUUID] {
    /// Appends the remaining complete UUIDs that are not yet in the array.
    fileprivate mutating func appendNew(from reader: inout ByteReader, length: Int) {
        while let uuid = try? reader.readUUID(length: length) {
            if !contains(uuid) { append(uuid) }
        }
    }
}
