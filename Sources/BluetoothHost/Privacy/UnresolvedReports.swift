import BluetoothBase
import BluetoothGAP

/// Reports of devices with a private address on which no key has been tried yet. They wait until it is known whose it is.
///
/// A crowd brings hundreds of new addresses a second, and with many bonds each costs as much as serving some hundred links.
/// Therefore addresses are resolved together, which makes each of them cheaper, and only some keys are tried in a turn. The
/// first address after a quiet time is resolved at once, so that the others pay for their number alone. Reports are late, but
/// none is lost or reported twice, and those of one device keep their order.
struct UnresolvedReports: Sendable {
    /// A report, with everything needed to pass it on.
    struct Report: Sendable {
        let type: AdvertisingEventType
        let address: DeviceAddress
        /// The peer that uses the address, once the search for it has ended.
        fileprivate(set) var peer: PeerID
        let rssi: Int8
        let txPowerLevel: Int8
        let details: AdvertisingDetails
        /// Which of the octets that are kept with it are its data.
        fileprivate(set) var data = 0..<0
        /// Which of the addresses it has, counted from the first that ever waited.
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

    /// Reports in the order they came, and their data.
    struct Reports: Sendable {
        private(set) var reports: [Report] = []
        private(set) var octets: [UInt8] = []

        fileprivate mutating func append(_ report: consuming Report, _ data: Span<UInt8>) {
            report.data = octets.count..<octets.count + data.count
            data.withUnsafeBufferPointer { octets.append(contentsOf: $0) }
            reports.append(report)
        }

        /// Removes those with these numbers.
        fileprivate mutating func take(_ numbers: Range<Int>) -> Reports {
            var (taken, left) = (Reports(), Reports())
            for report in reports {
                let data = octets.span.extracting(report.data)
                if numbers.contains(report.number) { taken.append(report, data) } else { left.append(report, data) }
            }
            self = left
            return taken
        }

        /// - Parameter peers: the peers with the addresses from this number on.
        fileprivate mutating func set(_ peers: [PeerID], from number: Int) {
            for index in reports.indices { reports[index].peer = peers[reports[index].number - number] }
        }
    }

    private enum Phase: Sendable {
        /// No search is in progress. The next may begin then, or at once if there was none yet.
        case resting(until: Instant?)
        /// A search for the first addresses has been in progress since then.
        case searching(AddressSearch, since: Instant)
    }

    private var waiting = Reports()
    /// The addresses that reports wait for, in the order they came.
    private var addresses: [DeviceAddress] = []
    /// The number of the first of them, counted from the first that ever waited.
    private var firstNumber = 0
    /// The number of each of them.
    private var numbers = AddressTable<Int>(capacity: Self.maximumCount)
    private var phase = Phase.resting(until: nil)

    /// The time between the beginnings of two searches, unless enough addresses wait to fill one.
    static let interval = Duration.milliseconds(200)
    /// The number of keys tried in a turn: less than a millisecond's work.
    static let keysPerTurn = 128
    /// From this number of waiting reports on, each further one tries some keys.
    static let capacity = 1024
    /// The number of keys that one report tries then. A search resolves 64 addresses and tries at most 1,024 keys, so it ends
    /// after 32 further reports and delivers at least twice as many: the number of waiting reports falls.
    static let keysPerReport = 32
    /// The maximum number of waiting reports. Bonds that change all the time could keep searches from ending; then one runs to its
    /// end.
    static let maximumCount = 2 * capacity

    var isEmpty: Bool { waiting.reports.isEmpty }
    /// The number of waiting reports.
    var count: Int { waiting.reports.count }

    /// The number of keys that the report which was added last tries; nil while there is room.
    var keysOfLastReport: Int? {
        guard count >= Self.capacity else { return nil }
        return count < Self.maximumCount ? Self.keysPerReport : Int.max
    }

    /// Whether reports of this address wait already: later ones must not overtake them.
    func contains(_ address: DeviceAddress) -> Bool { !isEmpty && numbers.slot(of: address) != nil }

    /// When the search begins or goes on; nil if nothing waits.
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

    /// Begins a search if one is due.
    ///
    /// - Parameter isForced: whether to begin one before it is due.
    /// - Returns: whether a search has begun.
    mutating func beginSearch(at now: Instant, isForced: Bool = false) -> Bool {
        guard case .resting = phase, let deadline = nextDeadline, deadline <= now || isForced else { return false }
        phase = .searching(AddressSearch(Array(addresses.prefix(AddressSearch.capacity))), since: now)
        return true
    }

    /// Goes on with the search, if one is in progress.
    ///
    /// - Parameter count: the maximum number of keys to try.
    /// - Returns: the reports whose addresses are resolved now, in the order they came.
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
    /// - Parameter peers: the peers that use them.
    private mutating func take(_ peers: [PeerID]) -> Reports {
        for address in addresses.prefix(peers.count) { numbers.removeValue(of: address) }
        addresses.removeFirst(peers.count)
        let numbers = firstNumber..<firstNumber + peers.count
        firstNumber = numbers.upperBound
        var ready = Reports()
        // As it nearly always is.
        if addresses.isEmpty { swap(&ready, &waiting) } else { ready = waiting.take(numbers) }
        ready.set(peers, from: numbers.lowerBound)
        return ready
    }

    /// Drops all reports.
    mutating func removeAll() { self = UnresolvedReports() }
}
