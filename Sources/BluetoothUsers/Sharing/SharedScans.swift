import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// The scan of one user.
struct ScanRecord: Sendable {
    let call: UserCall
    let parameters: ScanParameters
    fileprivate var selection: ScanSelection
    /// The ranges of `sightings` that have not been added to the user's events yet, and the last one, which grows.
    fileprivate var found: [Range<Int>] = []
    fileprivate var lastFound = 0..<0

    fileprivate init(_ call: UserCall, _ filter: ScanFilter, _ parameters: ScanParameters) {
        self.call = call
        self.parameters = parameters
        selection = ScanSelection(filter, reportsDuplicates: parameters.reportsDuplicates)
    }

    @inline(__always)
    fileprivate mutating func find(_ index: Int) {
        if lastFound.upperBound != index || lastFound.isEmpty { beginRange(at: index) }
        lastFound = lastFound.lowerBound..<index &+ 1
    }

    private mutating func beginRange(at index: Int) {
        if !lastFound.isEmpty { found.append(lastFound) }
        lastFound = index..<index
    }
}

/// The scans of all users. They share a table of devices, so a report is compared and stored once, however many scans
/// there are. Each scan selects the reports that it passes on.
struct SharedScans: Sendable {
    private(set) var all: [ScanRecord] = []
    private var table = SightingTable()
    /// The sightings of this turn that are passed on to users, each of them once.
    private(set) var sightings: [Sighting] = []
    /// The number of sightings of earlier turns.
    private(set) var earlierSightings: UInt64 = 0
    /// Whether sightings of this turn wait for `tellSightings`.
    private(set) var haveFound = false

    var count: Int { all.count }

    mutating func append(_ call: UserCall, _ filter: ScanFilter, _ parameters: ScanParameters) {
        all.append(ScanRecord(call, filter, parameters))
    }

    /// Removes the scan that was added last.
    mutating func removeLast() {
        all.removeLast()
        if all.isEmpty { table.removeAll() }
    }

    /// Removes scans, and returns their calls.
    @discardableResult
    mutating func remove(where isOver: (UserCall) -> Bool) -> [UserCall] {
        let calls = all.map(\.call).filter(isOver)
        all.removeAll { isOver($0.call) }
        // The next scan finds every device again.
        if all.isEmpty { table.removeAll() }
        return calls
    }

    mutating func renamePeers(_ lastingPeer: (PeerID) -> PeerID) {
        for index in all.indices { all[index].selection.renamePeers(lastingPeer) }
    }

    /// Processes a report, whose octets are in the queue of the host's events.
    mutating func receive(_ advertisement: Advertisement, _ events: borrowing HostEventQueue, at now: Instant) {
        let report = AdvertisingReport(
            address: advertisement.address, peer: advertisement.peer, eventType: advertisement.type,
            rssi: advertisement.rssi, txPowerLevel: advertisement.txPowerLevel, details: advertisement.details,
            data: events.octets(of: advertisement.data))
        let (slot, novelty) = table.receive(report, at: now)
        var shared: Int?
        for index in all.indices {
            switch all[index].selection.receive(report, in: slot, novelty, of: table) {
            case .skip: continue
            case .report:
                let position = shared ?? sightings.count
                if shared == nil { sightings.append(table[slot]) }
                shared = position
                all[index].find(position)
            case .reportParts(let parts):
                all[index].find(sightings.count)
                sightings.append(table.excerpt(parts, of: slot, report))
            }
            haveFound = true
        }
    }

    /// Adds an event to its user for each range of sightings that a scan has found.
    @inline(never)
    mutating func tellSightings(to users: inout [UserQueue]) {
        haveFound = false
        // Users usually scan in the order in which they attached.
        var next = 0
        for scan in all.indices where !all[scan].lastFound.isEmpty {
            if let user = users.index(of: all[scan].call.user, near: next) {
                next = user + 1
                let token = all[scan].call.token
                for range in all[scan].found { users[user].events.append(.sightings(token, range)) }
                users[user].events.append(.sightings(token, all[scan].lastFound))
            }
            all[scan].found.removeAll(keepingCapacity: true)
            all[scan].lastFound = 0..<0
        }
    }

    /// Moves the sightings of this turn out, and moves them back when called again with the same array.
    @inline(__always)
    mutating func exchangeSightings(with others: inout [Sighting]) { swap(&sightings, &others) }

    /// Forgets the sightings of this turn.
    @inline(__always)
    mutating func clearSightings() {
        if !sightings.isEmpty { forgetSightings() }
    }

    @inline(never)
    private mutating func forgetSightings() {
        earlierSightings &+= UInt64(sightings.count)
        // If an event retains the array, this allocates another one of the same capacity.
        sightings.removeAll(keepingCapacity: sightings.capacity <= max(8, 4 * sightings.count))
    }
}
