import BluetoothBase

/// Puts the fragments of extended advertising together again that a controller reports one by one (Core 5.4, Vol 4, Part E,
/// 7.7.65.13), each advertising set for itself.
///
/// What the air can fill is bounded: so many sets at once, of which a new one displaces the one that has waited for longest,
/// and so many octets of each. What is given up comes out as truncated, never silently and never mixed with another set's.
public struct AdvertisingReassembly: Hashable, Sendable {
    /// What a report says beside its data.
    public struct Header: Hashable, Sendable {
        /// The advertiser's address; nil if it is anonymous.
        public var address: DeviceAddress?
        public var eventType: AdvertisingEventType
        /// In dBm; 127 where it was not measured.
        public var rssi: Int8
        /// In dBm; 127 where the packet does not say it.
        public var txPowerLevel: Int8
        public var details: AdvertisingDetails

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

        /// Whether a fragment belongs to the same data. A scan response has nothing to do with the advertising data of its set.
        fileprivate func continues(_ other: Header) -> Bool {
            address == other.address && details.sidOctet == other.details.sidOctet
                && eventType.contains(.scanResponse) == other.eventType.contains(.scanResponse)
        }
    }

    /// What the controller says of the end of a fragment.
    public enum Status: Sendable {
        /// It is the last one.
        case complete
        /// More follows in another report.
        case moreToCome
        /// The rest was lost.
        case truncated
    }

    /// The data of a set, all of it or, where `header.details.isTruncated` is true, the beginning.
    public struct Whole: Equatable, Sendable {
        public var header: Header
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
        /// Whether it has come out as truncated, since there was too much data or too long a silence: the rest is dropped.
        var isGivenUp = false

        var truncated: Whole? { isGivenUp ? nil : Whole(header, data, isTruncated: true) }

        /// From now on what comes for it is dropped, to its end.
        mutating func giveUp() { (isGivenUp, data) = (true, []) }

        /// Adds a fragment, as much of it as there is room for.
        ///
        /// - Returns: whether that was not all.
        mutating func take(_ fragment: Span<UInt8>) -> Bool {
            guard !isGivenUp else { return false }
            let rest = fragment.extracting(first: max(0, AdvertisingReassembly.maximumLength - data.count))
            rest.withUnsafeBufferPointer { data.append(contentsOf: $0) }
            return rest.count < fragment.count
        }
    }

    private var entries: [Entry] = []

    /// How many sets are put together at once.
    public static let maximumSets = 8
    /// How many octets of each (Vol 6, Part B, 2.3.4.9).
    public static let maximumLength = 1650
    /// After how long the rest of a set is no longer expected: an auxiliary packet comes at most 2.46 s after the one that points
    /// to it (Vol 6, Part B, 2.3.4.5).
    public static let patience = Duration.seconds(5)

    public init() {}

    /// Whether no set is waiting for the rest of its data.
    public var isEmpty: Bool { entries.isEmpty }

    /// How many sets are waiting for the rest of their data.
    public var count: Int { entries.count }

    /// Forgets everything: the scan has ended.
    public mutating func removeAll() { entries.removeAll() }

    /// Takes a fragment in.
    ///
    /// - Returns: what is whole now, or given up, in the order in which it is to be reported.
    public mutating func receive(
        _ fragment: Span<UInt8>, _ status: Status, _ header: Header, at now: Instant
    ) -> [Whole] {
        var finished: [Whole] = []
        var index = entries.firstIndex { header.continues($0.header) }
        if let stale = index, entries[stale].last.advanced(by: Self.patience) < now {
            if let given = entries[stale].truncated {
                // Nothing says whether this fragment is the rest, which was held up on its way to the host, or other data. So
                // what it belongs to is dropped.
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
        // The last fragment knows most: the transmit power and the strength of an earlier one may be missing.
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
