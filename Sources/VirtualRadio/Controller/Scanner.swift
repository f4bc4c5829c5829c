import BluetoothBase
import BluetoothHCI

/// The scanning of one controller (Core 5.4, Vol 6, Part B, 4.4.3).
struct Scanner: Sendable {
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
    func listening(for advertisement: Advertiser, at time: Instant) -> Listening? {
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

/// A connection being created: the controller listens for a certain advertiser (Core 5.4, Vol 6, Part B, 4.4.4).
struct Initiator: Sendable {
    /// The scan settings for one PHY, and the parameters of a connection created there.
    struct PHY: Sendable {
        var timing: ScanTiming
        var parameters: ConnectionParameters
    }

    var le1M: PHY?
    var le2M: PHY?
    var leCoded: PHY?
    /// Whether it also accepts extended advertising.
    var isExtended = false
    /// The device to connect to; nil for the first device of the filter accept list that is received.
    var peer: DeviceAddress?
    var ownAddressType: OwnAddressType
    var start: Instant
    /// The subevent of the controller's periodic advertising in which it sends the request, instead of answering
    /// advertising.
    var subevent: (slot: Int, number: UInt8)?

    subscript(phy: LEPHY) -> PHY? {
        switch phy {
        case .le1M: le1M
        case .le2M: le2M
        case .leCoded: leCoded
        default: nil
        }
    }

    /// The parameters of the connection that an advertising event leads to; nil if the event is not received.
    func parameters(for advertisement: Advertiser, at time: Instant) -> ConnectionParameters? {
        guard subevent == nil, isExtended || advertisement.isLegacy,
            let listening = self[advertisement.parameters.primaryPHY],
            listening.timing.receives(advertisement.parameters.primaryChannelMap, at: time, since: start)
        else { return nil }
        return self[advertisement.dataPHY]?.parameters
    }
}
