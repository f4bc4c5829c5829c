import BluetoothBase

/// The decoded advertising data of a device, merged with its scan response data (Core 5.4, Vol 3, Part C, 11; Core
/// Supplement, Part A).
///
/// Decoding never fails, because any device can send any data. Malformed structures are skipped and the rest is kept.
/// `init(advertisingData:scanResponseData:)` describes the rules.
public struct AdvertisementData: Equatable, Sendable {
    /// A device's name.
    public enum LocalName: Equatable, Sendable {
        case complete(String)
        /// The beginning of a longer name.
        case shortened(String)

        /// The name, or the part of it that is known.
        public var text: String {
            switch self {
            case .complete(let text), .shortened(let text): text
            }
        }
    }

    /// The data of a service, in a format that the service defines.
    public struct ServiceData: Equatable, Sendable {
        /// The UUID of the service that defines the format of the data.
        public var uuid: BluetoothUUID
        /// The service's data, without the UUID.
        public var data: [UInt8]

        /// Creates data for the service with this UUID.
        public init(uuid: BluetoothUUID, data: some Collection<UInt8>) {
            self.uuid = uuid
            self.data = Array(data)
        }
    }

    /// Data in a format that a manufacturer defines.
    public struct ManufacturerData: Equatable, Sendable {
        /// The company identifier of the manufacturer (Assigned Numbers, 7).
        public var companyID: UInt16
        /// The manufacturer's data, without the company identifier.
        public var data: [UInt8]

        /// Creates data in the format of the company with this identifier.
        public init(companyID: UInt16, data: some Collection<UInt8>) {
            self.companyID = companyID
            self.data = Array(data)
        }
    }

    /// An AD structure for which this type has no stored property.
    public struct Other: Equatable, Sendable {
        /// The AD type, which defines the content of `data`.
        public var type: ADType
        /// The AD data, without the length and the type.
        public var data: [UInt8]

        /// Creates a structure from its type and up to 254 octets of data.
        public init(type: ADType, data: some Collection<UInt8>) {
            self.type = type
            self.data = Array(data)
        }
    }

    /// The flags, which describe the device's discoverability. Nil if the data contains none.
    public var flags: AdvertisingFlags?
    /// The device's name, complete or shortened. Nil if the data contains none.
    public var localName: LocalName?
    /// The services that the device provides, without duplicates.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Whether the device has more services than it lists.
    public var isServiceListIncomplete = false
    /// The services that the device solicits from its peers, without duplicates.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// The service data, without exact duplicates. Empty if the data contains none.
    public var serviceData: [ServiceData] = []
    /// The manufacturer data, without exact duplicates. Empty if the data contains none.
    public var manufacturerData: [ManufacturerData] = []
    /// The transmit power in dBm.
    public var txPowerLevel: Int8?
    /// The external appearance of the device. Nil if the data contains none.
    public var appearance: Appearance?
    /// All other AD structures, unchanged.
    public var other: [Other] = []

    /// Creates empty data.
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
    /// - Flags, appearance and transmit power: the first one is used, others are ignored.
    /// - Name: the first complete one is used, otherwise the first shortened one; invalid UTF-8 is replaced by U+FFFD.
    /// - Lists of UUIDs are merged; octets after the last complete UUID are ignored.
    /// - Service and manufacturer data: all elements are kept, except exact duplicates.
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
    /// The bytes decoded as UTF-8, with invalid sequences replaced; nil if the span is empty.
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
