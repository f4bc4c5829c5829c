import BluetoothGAP
import Foundation

/// The number of a sighting among all sightings of an adapter, while it is open.
typealias SightingNumber = UInt64

/// The last `advertisementData` of a device, from which the next one is made. If only the first manufacturer data has
/// changed, as in a beacon with a counter, nothing else is decoded or hashed again.
///
/// If no application has kept the last dictionary or its data, their memory is reused. Both are values, so a change
/// copies them if an application still holds them.
final class AdvertisementTemplate: @unchecked Sendable {
    // Unchecked: used with the lock of `Advertisements` held. For the same reason, exclusive access is not checked.

    @exclusivity(unchecked) private var number: SightingNumber
    private let isConnectable: Bool
    private let packetTxPowerLevel: Int8?
    private let phys: (primary: AdvertisingPHY, secondary: AdvertisingPHY?)
    @exclusivity(unchecked) private var advertisingData: [UInt8]
    private let scanResponseData: [UInt8]
    /// The dictionary made from the properties above, for the sighting with that number.
    @exclusivity(unchecked) private var dictionary: [String: Any]
    private let timestamp: Dictionary<String, Any>.Index?
    /// The position of the manufacturer data in the dictionary.
    private let manufacturerIndex: Dictionary<String, Any>.Index?
    /// Its range in the advertising data, including the company identifier; empty if the advertising data has none.
    private let manufacturerRange: Range<Int>
    @exclusivity(unchecked) private var manufacturerData: Data

    /// - Parameter dictionary: the dictionary made from `sighting`.
    init(_ sighting: Sighting, _ number: SightingNumber, _ dictionary: [String: Any]) {
        self.number = number
        isConnectable = sighting.isConnectable
        packetTxPowerLevel = sighting.packetTxPowerLevel
        phys = (sighting.details.primaryPHY, sighting.details.secondaryPHY)
        advertisingData = sighting.advertisingData
        scanResponseData = sighting.scanResponseData
        self.dictionary = dictionary
        timestamp = dictionary.index(forKey: AdvertisementDictionary.timestampKey)
        manufacturerIndex = dictionary.index(forKey: CBAdvertisementDataManufacturerDataKey)
        manufacturerRange = Self.manufacturerData(in: sighting.advertisingData)
        manufacturerData = Data(sighting.advertisingData.span.extracting(manufacturerRange))
    }

    /// The dictionary, if it is already that for the sighting with a number.
    @inline(__always)
    func dictionary(for number: SightingNumber) -> [String: Any]? { number == self.number ? dictionary : nil }

    /// The dictionary for the sighting at an index; nil if it must be made from scratch.
    ///
    /// - Parameter dictionaries: makes the timestamp.
    // It reads stored properties in the array: a sighting that is passed, or asked for a computed property, is copied.
    func dictionary(
        for index: Int, of sightings: [Sighting], _ number: SightingNumber,
        by dictionaries: inout AdvertisementDictionary
    ) -> [String: Any]? {
        let details = sightings[index].details
        guard sightings[index].eventType.contains(.connectable) == isConnectable,
            sightings[index].packetTxPowerLevel == packetTxPowerLevel,
            (details.primaryPHY, details.secondaryPHY) == phys, sightings[index].scanResponseData == scanResponseData,
            update(from: sightings[index].advertisingData)
        else { return nil }
        self.number = number
        if let timestamp { dictionary.values[timestamp] = dictionaries.timestamp(at: sightings[index].lastSeen) }
        return dictionary
    }

    /// Updates the manufacturer data. False if anything else has changed.
    private func update(from data: [UInt8]) -> Bool {
        let (start, end) = (manufacturerRange.lowerBound, manufacturerRange.upperBound)
        guard data.count == advertisingData.count else { return false }
        return data.withUnsafeBytes { data in
            let change = advertisingData.withUnsafeMutableBytes { known -> Change in
                guard let new = data.baseAddress, let old = known.baseAddress, memcmp(new, old, data.count) != 0
                else { return .none }
                guard memcmp(new, old, start) == 0, memcmp(new + end, old + end, data.count - end) == 0 else {
                    return .other
                }
                memcpy(old + start, new + start, end - start)
                return .manufacturerData
            }
            guard change == .manufacturerData, let manufacturerIndex else { return change == .none }
            // The dictionary releases the data first, so that the data is copied only if an application still holds it.
            dictionary.values[manufacturerIndex] = 0
            let octets = UnsafeRawBufferPointer(rebasing: data[start..<end])
            manufacturerData.withUnsafeMutableBytes { $0.copyMemory(from: octets) }
            dictionary.values[manufacturerIndex] = manufacturerData
            return true
        }
    }

    /// The kind of change in the advertising data.
    private enum Change {
        case none
        /// Only the manufacturer data in the dictionary.
        case manufacturerData
        case other
    }

    private static func manufacturerData(in data: [UInt8]) -> Range<Int> {
        var structures = ADStructures(data.span)
        var end = 0
        while let structure = structures.next() {
            // A length and a type precede the data.
            let start = end + 2
            end = start + structure.data.count
            if structure.type == .manufacturerSpecificData, structure.data.count >= 2 { return start..<end }
        }
        return 0..<0
    }
}
