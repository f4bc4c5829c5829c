import BluetoothGAP
import Foundation

/// The last `advertisementData` of a device, kept to make the next one from. If only the first manufacturer data changed,
/// as in a beacon with a counter, nothing else is decoded or hashed again. Used on the application's queue.
///
/// If the application has not kept the last dictionary or its data, their memory is reused. Both are values, so a change
/// copies them if the application still holds them.
final class AdvertisementTemplate {
    // Exclusive access is not checked: nothing is called from within that leads back here.

    private let isConnectable: Bool
    private let packetTxPowerLevel: Int8?
    @exclusivity(unchecked) private var advertisingData: [UInt8]
    private let scanResponseData: [UInt8]
    /// Made of the above.
    @exclusivity(unchecked) private var dictionary: [String: Any]
    private let timestamp: Dictionary<String, Any>.Index?
    /// Where the manufacturer's data is in the dictionary.
    private let manufacturerIndex: Dictionary<String, Any>.Index?
    /// Where it is in the advertising data, company identifier included; empty where it is not there.
    private let manufacturerRange: Range<Int>
    @exclusivity(unchecked) private var manufacturerData: Data

    /// - Parameter dictionary: made from what was seen.
    init(_ sighting: Sighting, _ dictionary: [String: Any]) {
        isConnectable = sighting.isConnectable
        packetTxPowerLevel = sighting.packetTxPowerLevel
        advertisingData = sighting.advertisingData
        scanResponseData = sighting.scanResponseData
        self.dictionary = dictionary
        timestamp = dictionary.index(forKey: AdvertisementDictionary.timestampKey)
        manufacturerIndex = dictionary.index(forKey: CBAdvertisementDataManufacturerDataKey)
        manufacturerRange = Self.manufacturerData(in: sighting.advertisingData)
        manufacturerData = Data(sighting.advertisingData.span.extracting(manufacturerRange))
    }

    /// The dictionary for what is seen now; nil where it has to be made anew.
    ///
    /// - Parameter dictionaries: makes its timestamp.
    func dictionary(for sighting: Sighting, by dictionaries: inout AdvertisementDictionary) -> [String: Any]? {
        guard sighting.isConnectable == isConnectable, sighting.packetTxPowerLevel == packetTxPowerLevel,
            sighting.scanResponseData == scanResponseData, update(from: sighting.advertisingData)
        else { return nil }
        if let timestamp { dictionary.values[timestamp] = dictionaries.timestamp(of: sighting) }
        return dictionary
    }

    /// Takes the manufacturer's data in. False where anything else has changed.
    private func update(from data: [UInt8]) -> Bool {
        let (start, end) = (manufacturerRange.lowerBound, manufacturerRange.upperBound)
        guard data.count == advertisingData.count, isEqual(data, 0, start), isEqual(data, end, data.count) else {
            return false
        }
        guard let manufacturerIndex, !isEqual(data, start, end) else { return true }
        // The dictionary lets go of the data, so that nobody may have it but the application.
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

    /// Whether octets are the same as the last time; both have so many.
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
            // A length and a type come first.
            let start = end + 2
            end = start + structure.data.count
            if structure.type == .manufacturerSpecificData, structure.data.count >= 2 { return start..<end }
        }
        return 0..<0
    }
}
