import BluetoothBase
import BluetoothHCI

/// The scanning of one controller (Core 5.4, Vol 6, Part B, 4.4.3).
struct ScanningState: Sendable {
    /// The scan settings for one primary PHY.
    struct Listening: Sendable {
        var type = LEScanType.passive
        var timing = ScanTiming(interval: LESlots(rawValue: 0x10), window: LESlots(rawValue: 0x10))
    }

    var isEnabled = false
    /// Whether the extended commands set it up. It then also receives extended advertising, and reports everything in
    /// the extended event.
    var isExtended = false
    var le1M: Listening? = Listening()
    var leCoded: Listening?
    var ownAddressType = OwnAddressType.public
    var filterPolicy = ScanningFilterPolicy.all
    var filtersDuplicates = false
    /// The instant at which scanning was enabled.
    var start = Instant.zero
    /// The scanning time in each period; nil to scan continuously.
    var duration: Duration?
    var period: Duration?
    /// Whether each period begins with an empty duplicate filter.
    var forgetsEachPeriod = false
    private var currentPeriod: Int64 = 0
    var duplicates: DuplicateFilter

    init(duplicateFilterSize: Int) {
        duplicates = DuplicateFilter(capacity: duplicateFilterSize)
    }

    var usesFilterAcceptList: Bool {
        switch filterPolicy {
        case .all, .allAndUnresolvedDirected: false
        case .acceptListOnly, .acceptListAndUnresolvedDirected: true
        }
    }

    /// The scan settings with which an advertising event is received; nil if it is not received.
    func listening(for advertisement: AdvertisingState, at time: Instant) -> Listening? {
        let listening = advertisement.parameters.primaryPHY == .leCoded ? leCoded : le1M
        guard isEnabled, isExtended || advertisement.isLegacy, isActive(at: time), let listening,
            listening.timing.receives(advertisement.parameters.primaryChannelMap, at: time, since: start)
        else { return nil }
        return listening
    }

    /// Whether the scanner is in the active part of its period.
    private func isActive(at time: Instant) -> Bool {
        guard let duration, let period else { return true }
        return start.duration(to: time).nanoseconds % period.nanoseconds < duration.nanoseconds
    }

    /// Whether to report an advertisement: false if the duplicate filter is enabled and contains it.
    mutating func admits(_ entry: DuplicateFilter.Entry, at time: Instant) -> Bool {
        guard filtersDuplicates else { return true }
        if forgetsEachPeriod, let period {
            let current = start.duration(to: time).nanoseconds / period.nanoseconds
            if current != currentPeriod { duplicates.removeAll() }
            currentPeriod = current
        }
        return duplicates.admits(entry)
    }
}
