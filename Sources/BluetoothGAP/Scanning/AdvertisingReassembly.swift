import BluetoothBase

/// Reassembles extended advertising data, separately for each advertising set, from the fragments that a controller
/// reports (Core 5.4, Vol 4, Part E, 7.7.65.13).
///
/// Memory is bounded regardless of what is on the air. At most `maximumSets` sets are reassembled at once, with up to
/// `maximumLength` octets each; a new set evicts the one that has waited longest. Data that is abandoned is reported as
/// truncated. It is never dropped silently or mixed with the data of another set.
public struct AdvertisingReassembly: Hashable, Sendable {
    /// The fields of a report other than its data.
    public struct Header: Hashable, Sendable {
        /// The advertiser's address; nil if it is anonymous.
        public var address: DeviceAddress?
        /// The properties of the advertising event, which also separate a scan response from advertising data.
        public var eventType: AdvertisingEventType
        /// The received signal strength in dBm; 127 if it was not measured.
        public var rssi: Int8
        /// The transmit power in dBm; 127 if the packet does not contain it.
        public var txPowerLevel: Int8
        /// The report's PHYs, SID and other fields of extended advertising.
        public var details: AdvertisingDetails

        /// Creates a header. The value 127 for `rssi` or `txPowerLevel` means that the report does not contain it.
        @inlinable
        public init(
            address: DeviceAddress?, eventType: AdvertisingEventType, rssi: Int8 = 127, txPowerLevel: Int8 = 127,
            details: AdvertisingDetails
        ) {
            self.address = address
            self.eventType = eventType
            self.rssi = rssi
            self.txPowerLevel = txPowerLevel
            self.details = details
        }

        /// Returns whether a fragment belongs to the same data. The scan response of a set is separate from its
        /// advertising data.
        fileprivate func continues(_ other: Header) -> Bool {
            address == other.address && details.sidOctet == other.details.sidOctet
                && eventType.contains(.scanResponse) == other.eventType.contains(.scanResponse)
        }
    }

    /// The data status of a fragment.
    public enum Status: Sendable {
        /// The fragment is the last one.
        case complete
        /// More follows in another report.
        case moreToCome
        /// The rest was lost.
        case truncated
    }

    /// The data of a set: all of it or, if `header.details.isTruncated` is true, only the beginning.
    public struct Whole: Equatable, Sendable {
        /// The fields of the last report that contributed to the data.
        public var header: Header
        /// The concatenated fragments, up to `maximumLength` octets.
        public var data: [UInt8]

        fileprivate init(_ header: Header, _ data: [UInt8], isTruncated: Bool) {
            self.header = header
            self.header.details.isTruncated = isTruncated
            self.data = data
        }
    }

    private struct Entry: Hashable, Sendable {
        var header: Header
        var data: [UInt8]
        var last: Instant
        /// Whether the data has been reported as truncated, because it was too long or its next fragment was too late.
        /// Further fragments are dropped.
        var isGivenUp = false

        var truncated: Whole? { isGivenUp ? nil : Whole(header, data, isTruncated: true) }

        /// Drops all further fragments of this data.
        mutating func giveUp() { (isGivenUp, data) = (true, []) }

        /// Adds a fragment, up to the maximum length.
        ///
        /// - Returns: whether part of the fragment did not fit.
        mutating func take(_ fragment: Span<UInt8>) -> Bool {
            guard !isGivenUp else { return false }
            let rest = fragment.extracting(first: max(0, AdvertisingReassembly.maximumLength - data.count))
            rest.withUnsafeBufferPointer { data.append(contentsOf: $0) }
            return rest.count < fragment.count
        }
    }

    private var entries: [Entry] = []

    /// The number of sets that are reassembled at once.
    public static let maximumSets = 8
    /// The maximum number of octets per set (Vol 6, Part B, 2.3.4.9).
    public static let maximumLength = 1650
    /// The time after which the next fragment of a set is no longer expected. An auxiliary packet follows at most 2.46
    /// s after the packet that points to it (Vol 6, Part B, 2.3.4.5).
    public static let patience = Duration.seconds(5)

    /// Creates a reassembly without pending data.
    public init() {}

    /// Whether no set is waiting for the rest of its data.
    public var isEmpty: Bool { entries.isEmpty }

    /// The number of sets that are waiting for the rest of their data.
    public var count: Int { entries.count }

    /// Discards all fragments, because the scan has ended.
    public mutating func removeAll() { entries.removeAll() }

    /// Processes a fragment.
    ///
    /// - Returns: the data that is now complete or abandoned, in the order in which it must be reported.
    public mutating func receive(
        _ fragment: Span<UInt8>, _ status: Status, _ header: Header, at now: Instant
    ) -> [Whole] {
        var finished: [Whole] = []
        var index = entries.firstIndex { header.continues($0.header) }
        if let stale = index, entries[stale].last.advanced(by: Self.patience) < now {
            if let given = entries[stale].truncated {
                // The fragment may be the delayed rest of the old data, or belong to new data. The host can't know
                // which, so it drops fragments until the data ends.
                finished.append(given)
                entries[stale].giveUp()
            } else {
                entries.remove(at: stale)
                index = nil
            }
        }
        if index == nil, status == .moreToCome, entries.count >= Self.maximumSets,
            let oldest = entries.indices.min(by: { entries[$0].last < entries[$1].last })
        {
            if let given = entries.remove(at: oldest).truncated { finished.append(given) }
        }
        var entry = index.map { entries.remove(at: $0) } ?? Entry(header: header, data: [], last: now)
        // The header of the last fragment is the most complete: an earlier one may lack the transmit power and the
        // signal strength.
        entry.header = header
        entry.last = now
        let wasGivenUp = entry.isGivenUp
        let isTooLong = entry.take(fragment)
        if !wasGivenUp, status != .moreToCome || isTooLong {
            finished.append(Whole(header, entry.data, isTruncated: isTooLong || status == .truncated))
        }
        if status == .moreToCome {
            if isTooLong { entry.giveUp() }
            entries.append(entry)
        }
        return finished
    }
}
