import BluetoothGAP
import Foundation

/// The last `advertisementData` of a device, from which the next one is made. If only the first manufacturer data has
/// changed, as in a beacon with a counter, nothing else is decoded or hashed again. Used on the manager's queue.
///
/// If the application has not kept the last dictionary or its data, their memory is reused. Both are values, so a
/// change copies them if the application still holds them.
final class AdvertisementTemplate {
    // Exclusive access is not checked: no method of this class is reentered.

    private let isConnectable: Bool
    private let packetTxPowerLevel: Int8?
    private let phys: (primary: AdvertisingPHY, secondary: AdvertisingPHY?)
    @exclusivity(unchecked) private var advertisingData: [UInt8]
    private let scanResponseData: [UInt8]
    /// The dictionary made from the properties above.
    @exclusivity(unchecked) private var dictionary: [String: Any]
    private let timestamp: Dictionary<String, Any>.Index?
    /// The position of the manufacturer data in the dictionary.
    private let manufacturerIndex: Dictionary<String, Any>.Index?
    /// Its range in the advertising data, including the company identifier; empty if the advertising data has none.
    private let manufacturerRange: Range<Int>
    @exclusivity(unchecked) private var manufacturerData: Data

    /// - Parameter dictionary: the dictionary made from `sighting`.
    init(_ sighting: Sighting, _ dictionary: [String: Any]) {
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

    /// The dictionary for a new sighting; nil if it must be made from scratch.
    ///
    /// - Parameter dictionaries: makes the timestamp.
    func dictionary(for sighting: Sighting, by dictionaries: inout AdvertisementDictionary) -> [String: Any]? {
        guard sighting.isConnectable == isConnectable, sighting.packetTxPowerLevel == packetTxPowerLevel,
            (sighting.details.primaryPHY, sighting.details.secondaryPHY) == phys,
            sighting.scanResponseData == scanResponseData, update(from: sighting.advertisingData)
        else { return nil }
        if let timestamp { dictionary.values[timestamp] = dictionaries.timestamp(of: sighting) }
        return dictionary
    }

    /// Updates the manufacturer data. False if anything else has changed.
    private func update(from data: [UInt8]) -> Bool {
        let (start, end) = (manufacturerRange.lowerBound, manufacturerRange.upperBound)
        guard data.count == advertisingData.count, isEqual(data, 0, start), isEqual(data, end, data.count) else {
            return false
        }
        guard let manufacturerIndex, !isEqual(data, start, end) else { return true }
        // The dictionary releases the data first, so that the data is copied only if the application still holds it.
        dictionary.values[manufacturerIndex] = AdvertisementDictionary.zero
        data.withUnsafeBytes { data in
            let octets = UnsafeRawBufferPointer(rebasing: data[start..<end])
            advertisingData.withUnsafeMutableBytes {
                UnsafeMutableRawBufferPointer(rebasing: $0[start..<end]).copyMemory(from: octets)
            }
            manufacturerData.withUnsafeMutableBytes { $0.copyMemory(from: octets) }
        }
        dictionary.values[manufacturerIndex] = manufacturerData
        return true
    }

    /// Whether a range of the advertising data is unchanged. Both arrays must contain the range.
    private func isEqual(_ data: [UInt8], _ start: Int, _ end: Int) -> Bool {
        data.withUnsafeBytes { data in
            advertisingData.withUnsafeBytes { known in
                guard let data = data.baseAddress, let known = known.baseAddress else { return true }
                return memcmp(data + start, known + start, end - start) == 0
            }
        }
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
