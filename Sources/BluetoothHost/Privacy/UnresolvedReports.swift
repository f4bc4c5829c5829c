import BluetoothBase
import BluetoothGAP

/// Advertising reports with private addresses on which no key has been tried yet. They wait until their address is
/// resolved.
///
/// A crowd brings hundreds of new addresses a second, and with many bonds, resolving one costs as much as serving some
/// hundred links. Addresses are therefore resolved together, which reduces the cost per address, and only some keys are
/// tried in each turn. After a quiet period, the first address is resolved immediately, so that only large numbers of
/// addresses cause a delay. Reports may be delayed, but none is lost or reported twice, and the reports of one device
/// stay in order.
struct UnresolvedReports: Sendable {
    /// A report, with everything that is needed to deliver it.
    struct Report: Sendable {
        let type: AdvertisingEventType
        let address: DeviceAddress
        /// The peer that uses the address, once the search has ended.
        fileprivate(set) var peer: PeerID
        let rssi: Int8
        let txPowerLevel: Int8
        let details: AdvertisingDetails
        /// The range of the report's data within the octets stored for all reports.
        fileprivate(set) var data = 0..<0
        /// The number of the report's address, counted from the first address that ever waited.
        fileprivate var number = 0

        init(
            type: AdvertisingEventType, address: DeviceAddress, rssi: Int8, txPowerLevel: Int8,
            details: AdvertisingDetails
        ) {
            self.type = type
            self.address = address
            peer = PeerID(address)
            self.rssi = rssi
            self.txPowerLevel = txPowerLevel
            self.details = details
        }
    }

    /// Reports in the order of their arrival, and their data.
    struct Reports: Sendable {
        private(set) var reports: [Report] = []
        private(set) var octets: [UInt8] = []

        fileprivate mutating func append(_ report: consuming Report, _ data: Span<UInt8>) {
            report.data = octets.count..<octets.count + data.count
            data.withUnsafeBufferPointer { octets.append(contentsOf: $0) }
            reports.append(report)
        }

        /// Removes and returns the reports with these address numbers.
        fileprivate mutating func take(_ numbers: Range<Int>) -> Reports {
            var (taken, left) = (Reports(), Reports())
            for report in reports {
                let data = octets.span.extracting(report.data)
                if numbers.contains(report.number) { taken.append(report, data) } else { left.append(report, data) }
            }
            self = left
            return taken
        }

        /// - Parameter peers: the peers that use the addresses, starting with the one with this number.
        fileprivate mutating func set(_ peers: [PeerID], from number: Int) {
            for index in reports.indices { reports[index].peer = peers[reports[index].number - number] }
        }
    }

    private enum Phase: Sendable {
        /// No search is in progress. The next one may start at the given time, or immediately if it is nil because
        /// there was none yet.
        case resting(until: Instant?)
        /// A search for the first addresses has been in progress since the given time.
        case searching(AddressSearch, since: Instant)
    }

    private var waiting = Reports()
    /// The addresses that reports wait for, in the order of their arrival.
    private var addresses: [DeviceAddress] = []
    /// The number of the first address, counted from the first that ever waited.
    private var firstNumber = 0
    /// The number of each address.
    private var numbers = AddressTable<Int>(capacity: Self.maximumCount)
    private var phase = Phase.resting(until: nil)

    /// The time between the starts of two searches, unless enough addresses wait to fill one.
    static let interval = Duration.milliseconds(200)
    /// The number of keys tried in a turn, which takes less than a millisecond.
    static let keysPerTurn = 128
    /// The number of waiting reports from which on each further report causes some keys to be tried.
    static let capacity = 1024
    /// The number of keys that each further report then causes to be tried. A search resolves 64 addresses and tries at
    /// most 1,024 keys. It therefore ends after 32 further reports and delivers at least twice as many, so that the
    /// number of waiting reports falls.
    static let keysPerReport = 32
    /// The maximum number of waiting reports. If bonds change continually, searches may never end; at this limit, one
    /// search runs to completion.
    static let maximumCount = 2 * capacity

    var isEmpty: Bool { waiting.reports.isEmpty }
    /// The number of waiting reports.
    var count: Int { waiting.reports.count }

    /// The number of keys to try after the most recently added report; nil while there is room.
    var keysOfLastReport: Int? {
        guard count >= Self.capacity else { return nil }
        return count < Self.maximumCount ? Self.keysPerReport : Int.max
    }

    /// Whether reports of this address are already waiting. Later ones must not overtake them.
    // It changes nothing, but the compiler would copy the table for a function that is not mutating.
    mutating func contains(_ address: DeviceAddress) -> Bool { !isEmpty && numbers.slot(of: address) != nil }

    /// The time at which a search starts or continues; nil if no report is waiting.
    var nextDeadline: Instant? {
        guard !isEmpty else { return nil }
        return switch phase {
        case .searching(_, let since): since
        case .resting(let until): addresses.count >= AddressSearch.capacity ? Instant.zero : until ?? Instant.zero
        }
    }

    mutating func append(_ report: consuming Report, _ data: Span<UInt8>) {
        let next = firstNumber + addresses.count
        report.number = numbers[numbers.slot(of: report.address, orInsert: next)]
        if report.number == next { addresses.append(report.address) }
        waiting.append(report, data)
    }

    /// Starts a search if one is due.
    ///
    /// - Parameter isForced: whether to start a search before it is due.
    /// - Returns: whether a search has started.
    mutating func beginSearch(at now: Instant, isForced: Bool = false) -> Bool {
        guard case .resting = phase, let deadline = nextDeadline, deadline <= now || isForced else { return false }
        phase = .searching(AddressSearch(Array(addresses.prefix(AddressSearch.capacity))), since: now)
        return true
    }

    /// Continues the search, if one is in progress.
    ///
    /// - Parameter count: the maximum number of keys to try.
    /// - Returns: the reports whose addresses are now resolved, in the order of their arrival.
    mutating func advanceSearch(keys count: Int, in peers: inout PeerTable) -> Reports {
        guard case .searching(var search, let since) = phase else { return Reports() }
        phase = .resting(until: since.advanced(by: Self.interval))
        guard let found = peers.advance(&search, keys: count) else {
            phase = .searching(search, since: since)
            return Reports()
        }
        return take(found)
    }

    /// Removes the reports of the first addresses.
    ///
    /// - Parameter peers: the peers that use the addresses.
    private mutating func take(_ peers: [PeerID]) -> Reports {
        for address in addresses.prefix(peers.count) { numbers.removeValue(of: address) }
        addresses.removeFirst(peers.count)
        let numbers = firstNumber..<firstNumber + peers.count
        firstNumber = numbers.upperBound
        var ready = Reports()
        // The usual case.
        if addresses.isEmpty { swap(&ready, &waiting) } else { ready = waiting.take(numbers) }
        ready.set(peers, from: numbers.lowerBound)
        return ready
    }

    /// Drops all reports.
    mutating func removeAll() { self = UnresolvedReports() }
}
