import BluetoothBase
import BluetoothHCI

/// Remembers which advertisers were reported, within the small memory of a controller (Core 5.4, Vol 4, Part E, 7.8.11,
/// Filter_Duplicates).
///
/// Bounded on purpose: with more advertisers than it can hold, the oldest are forgotten and reported again, as by real
/// controllers.
struct DuplicateFilter: Sendable {
    private struct Entry: Equatable {
        var address: DeviceAddress
        /// Advertisements and scan responses are remembered separately.
        var eventType: LEAdvertisingReport.EventType
    }

    private var entries: [Entry] = []
    private var oldest = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Whether this report is new; if it is, it is remembered.
    mutating func admits(_ address: DeviceAddress, eventType: LEAdvertisingReport.EventType) -> Bool {
        let entry = Entry(address: address, eventType: eventType)
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
