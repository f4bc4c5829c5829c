import BluetoothLE
import Foundation

/// What an application is told of an advertisement: only keys of what was there, and numbers as `NSNumber`, so that every
/// cast works that works elsewhere.
enum AdvertisementDictionary {
    static func make(_ sighting: Sighting, _ advertisement: AdvertisementData) -> [String: Any] {
        var dictionary: [String: Any] = [
            CBAdvertisementDataIsConnectable: NSNumber(value: sighting.isConnectable),
            // Not among the constants, but applications read them.
            "kCBAdvDataTimestamp": NSNumber(value: Date().timeIntervalSinceReferenceDate),
            "kCBAdvDataRxPrimaryPHY": NSNumber(value: 1),
            "kCBAdvDataRxSecondaryPHY": NSNumber(value: 0),
        ]
        if let name = sighting.name { dictionary[CBAdvertisementDataLocalNameKey] = name }
        if let power = sighting.txPowerLevel { dictionary[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: power) }
        if !advertisement.serviceUUIDs.isEmpty {
            dictionary[CBAdvertisementDataServiceUUIDsKey] = advertisement.serviceUUIDs.map { CBUUID($0) }
        }
        if !advertisement.solicitedServiceUUIDs.isEmpty {
            dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] =
                advertisement.solicitedServiceUUIDs.map { CBUUID($0) }
        }
        if !advertisement.serviceData.isEmpty {
            dictionary[CBAdvertisementDataServiceDataKey] = Dictionary(
                advertisement.serviceData.map { (CBUUID($0.uuid), Data($0.data)) }, uniquingKeysWith: { $1 })
        }
        if let data = advertisement.manufacturerData.first {
            let company = [UInt8(truncatingIfNeeded: data.companyID), UInt8(truncatingIfNeeded: data.companyID >> 8)]
            dictionary[CBAdvertisementDataManufacturerDataKey] = Data(company + data.data)
        }
        return dictionary
    }
}
