import BluetoothBase
import BluetoothGAP
import Foundation

/// What an application is told of an advertisement: only keys of what was there, and numbers as `NSNumber`, so that every
/// cast works that works elsewhere.
struct AdvertisementDictionary {
    private static let yes = NSNumber(value: true), no = NSNumber(value: false)
    private static let zero = NSNumber(value: 0), one = NSNumber(value: 1)

    static let timestampKey = "kCBAdvDataTimestamp"

    /// The lists of services seen last, as objects: most advertisers have few of them.
    private var lists: [[BluetoothUUID]: [CBUUID]] = [:]
    private static let keptLists = 256

    mutating func make(_ sighting: Sighting, _ advertisement: AdvertisementData) -> [String: Any] {
        var dictionary = [String: Any](minimumCapacity: 12)
        dictionary[CBAdvertisementDataIsConnectable] = sighting.isConnectable ? Self.yes : Self.no
        // Not among the constants, but applications read them.
        dictionary[Self.timestampKey] = NSNumber(value: CFAbsoluteTimeGetCurrent())
        dictionary["kCBAdvDataRxPrimaryPHY"] = Self.one
        dictionary["kCBAdvDataRxSecondaryPHY"] = Self.zero
        if let name = advertisement.localName { dictionary[CBAdvertisementDataLocalNameKey] = name.text }
        if let power = sighting.txPowerLevel { dictionary[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: power) }
        if !advertisement.serviceUUIDs.isEmpty {
            dictionary[CBAdvertisementDataServiceUUIDsKey] = list(advertisement.serviceUUIDs)
        }
        if !advertisement.solicitedServiceUUIDs.isEmpty {
            dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] = list(advertisement.solicitedServiceUUIDs)
        }
        if !advertisement.serviceData.isEmpty {
            dictionary[CBAdvertisementDataServiceDataKey] = Dictionary(
                advertisement.serviceData.map { (CBUUID($0.uuid), Data($0.data)) }, uniquingKeysWith: { $1 })
        }
        if let data = advertisement.manufacturerData.first {
            var octets = Data(capacity: 2 + data.data.count)
            octets.append(UInt8(truncatingIfNeeded: data.companyID))
            octets.append(UInt8(truncatingIfNeeded: data.companyID >> 8))
            octets.append(contentsOf: data.data)
            dictionary[CBAdvertisementDataManufacturerDataKey] = octets
        }
        return dictionary
    }

    private mutating func list(_ services: [BluetoothUUID]) -> [CBUUID] {
        if let known = lists[services] { return known }
        if lists.count >= Self.keptLists { lists = [:] }
        let list = services.map { CBUUID($0) }
        lists[services] = list
        return list
    }
}

/// What an application was told of a device's advertisement, for the next time: as long as nothing changes but the first
/// manufacturer's data, as it does in beacons that count, nothing else is decoded and hashed again.
struct AdvertisementTemplate {
    private let isConnectable: Bool
    private let packetTxPowerLevel: Int8?
    private let advertisingData: [UInt8]
    private let scanResponseData: [UInt8]
    private let dictionary: [String: Any]
    private let timestamp: Dictionary<String, Any>.Index?
    private let manufacturerData: Dictionary<String, Any>.Index?
    /// Where the manufacturer's data is in the advertising data; empty where it is not there.
    private let changeable: Range<Int>

    /// - Parameter dictionary: made from what was seen.
    init(_ sighting: Sighting, _ dictionary: [String: Any]) {
        isConnectable = sighting.isConnectable
        packetTxPowerLevel = sighting.packetTxPowerLevel
        advertisingData = sighting.advertisingData
        scanResponseData = sighting.scanResponseData
        self.dictionary = dictionary
        timestamp = dictionary.index(forKey: AdvertisementDictionary.timestampKey)
        manufacturerData = dictionary.index(forKey: CBAdvertisementDataManufacturerDataKey)
        changeable = Self.manufacturerData(in: sighting.advertisingData)
    }

    /// The dictionary for what is seen now; nil where it has to be made anew.
    func dictionary(for sighting: Sighting) -> [String: Any]? {
        guard sighting.isConnectable == isConnectable, sighting.packetTxPowerLevel == packetTxPowerLevel,
            sighting.scanResponseData == scanResponseData, hasSameFrame(sighting.advertisingData)
        else { return nil }
        var dictionary = dictionary
        // An index of a dictionary is one of its copies, too.
        if let timestamp { dictionary.values[timestamp] = NSNumber(value: CFAbsoluteTimeGetCurrent()) }
        if let manufacturerData, !changeable.isEmpty {
            dictionary.values[manufacturerData] = Data(sighting.advertisingData.span.extracting(changeable))
        }
        return dictionary
    }

    /// Whether everything around the manufacturer's data is the same, so that this is in the same place.
    private func hasSameFrame(_ data: [UInt8]) -> Bool {
        guard data.count == advertisingData.count else { return false }
        return data.withUnsafeBytes { data in
            advertisingData.withUnsafeBytes { known in
                guard let data = data.baseAddress, let known = known.baseAddress else { return true }
                let end = changeable.upperBound
                return memcmp(data, known, changeable.lowerBound) == 0
                    && memcmp(data + end, known + end, advertisingData.count - end) == 0
            }
        }
    }

    /// Where the first manufacturer's data is, company identifier included.
    private static func manufacturerData(in data: [UInt8]) -> Range<Int> {
        var structures = ADStructures(data.span)
        var end = 0
        while let structure = structures.next() {
            // A length and a type come first.
            let start = end + 2
            end = start + structure.data.count
            if structure.type == .manufacturerSpecificData, structure.data.count >= 2 { return start..<end }
        }
        return 0..<0
    }
}
