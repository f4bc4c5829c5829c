import BluetoothBase
import BluetoothGAP
import Foundation

/// The `advertisementData` dictionary of a discovery. It contains an advertising data field only if the field was
/// advertised. Numbers are `NSNumber`, so the casts that applications make on Apple's platforms work here.
struct AdvertisementDictionary {
    private static let yes = NSNumber(value: true), no = NSNumber(value: false)
    private static let zero = NSNumber(value: 0)
    private static let le1M = NSNumber(value: AdvertisingPHY.le1M.rawValue)
    private static let le2M = NSNumber(value: AdvertisingPHY.le2M.rawValue)
    private static let leCoded = NSNumber(value: AdvertisingPHY.leCoded.rawValue)

    static let timestampKey = "kCBAdvDataTimestamp"

    /// Recently seen lists of services, as objects: most advertisers share a few lists.
    private var lists: [[BluetoothUUID]: [CBUUID]] = [:]
    private static let keptLists = 256
    private let now: @Sendable () -> CFAbsoluteTime
    /// The time of the last sighting, and its timestamp.
    private var moment: (instant: Instant, timestamp: NSNumber)?

    /// - Parameter now: returns the current time, for timestamps.
    init(at now: @escaping @Sendable () -> CFAbsoluteTime) { self.now = now }

    mutating func make(_ sighting: Sighting, _ advertisement: AdvertisementData) -> [String: Any] {
        var dictionary = [String: Any](minimumCapacity: 12)
        dictionary[CBAdvertisementDataIsConnectable] = sighting.isConnectable ? Self.yes : Self.no
        // Apple declares no constants for these keys, but applications read them.
        dictionary[Self.timestampKey] = timestamp(at: sighting.lastSeen)
        dictionary["kCBAdvDataRxPrimaryPHY"] = Self.phy(sighting.details.primaryPHY)
        dictionary["kCBAdvDataRxSecondaryPHY"] = Self.phy(sighting.details.secondaryPHY)
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

    /// The timestamp of a sighting at an instant, for the application. Sightings at the same instant share one number.
    mutating func timestamp(at instant: Instant) -> NSNumber {
        if let moment, moment.instant == instant { return moment.timestamp }
        let timestamp = NSNumber(value: now())
        moment = (instant, timestamp)
        return timestamp
    }

    /// The number of a PHY: the value of Primary_PHY and Secondary_PHY in an advertising report (Core 5.4, Vol 4, Part
    /// E, 7.7.65.13).
    private static func phy(_ phy: AdvertisingPHY?) -> NSNumber {
        switch phy {
        case .le1M: le1M
        case .le2M: le2M
        case .leCoded: leCoded
        case nil: zero
        }
    }

    private mutating func list(_ services: [BluetoothUUID]) -> [CBUUID] {
        if let known = lists[services] { return known }
        if lists.count >= Self.keptLists { lists = [:] }
        let list = services.map { CBUUID($0) }
        lists[services] = list
        return list
    }
}
