import BluetoothBase
import BluetoothHCI

/// The advertisers that were already reported, limited by the small memory of a controller (Core 5.4, Vol 4, Part E,
/// 7.8.11, Filter_Duplicates).
///
/// Bounded on purpose: with more advertisers than the filter holds, the oldest are forgotten and reported again, as by
/// real controllers.
struct DuplicateFilter: Sendable {
    struct Entry: Equatable {
        /// Nil for an anonymous advertiser.
        var address: DeviceAddress?
        /// Advertisements and scan responses are remembered separately.
        var eventType: UInt16
        /// The advertising set and its Advertising DID, so that new data counts as new.
        var set: UInt8 = 0xFF
        var dataIdentifier: UInt16 = 0
    }

    private var entries: [Entry] = []
    private var oldest = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Returns whether this report is new, and remembers it.
    mutating func admits(_ entry: Entry) -> Bool {
        guard !entries.contains(entry) else { return false }
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % capacity
        }
        return true
    }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        oldest = 0
    }
}
