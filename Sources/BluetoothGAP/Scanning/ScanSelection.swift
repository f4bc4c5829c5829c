import BluetoothBase

/// Decides which reports a scan passes on. Several scans can share a table of devices: each has its own selection, and
/// sees only what was received since it began.
@usableFromInline
package struct ScanSelection: Sendable {
    /// The decision about a report.
    @usableFromInline
    package enum Decision: Equatable, Sendable {
        /// The scan does not pass it on.
        case skip
        /// The scan passes on the sighting in the table.
        case report
        /// The scan passes on the sighting in the table, but only these parts: the rest was received before the scan.
        case reportParts(SightingParts)
    }

    /// The parts that a scan has received of the device in a slot of the table, and whether it was reported.
    @usableFromInline
    struct Progress: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt8

        @inlinable static var isReported: Progress { Progress(rawValue: 1 << 6) }
        /// The scan has received everything that the table contains of the device.
        @inlinable static var isComplete: Progress { Progress(rawValue: 1 << 7) }

        @inlinable static var isReportedWhole: Progress { [.isReported, .isComplete] }

        @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

        var parts: SightingParts { SightingParts(rawValue: rawValue).intersection(.all) }
    }

    /// The conditions that a device must meet to be reported.
    package private(set) var devices: ScanFilter
    /// Whether every report of a matching device is passed on, rather than only new devices and their scan responses.
    @usableFromInline package let reportsDuplicates: Bool
    @usableFromInline let hasConditions: Bool
    /// By slot of the table.
    @usableFromInline private(set) var progress: [Progress] = []

    package init(_ devices: ScanFilter, reportsDuplicates: Bool) {
        self.devices = devices
        self.reportsDuplicates = reportsDuplicates
        hasConditions = devices != ScanFilter()
    }

    /// Processes a report that the table has received.
    ///
    /// - Parameters:
    ///   - slot: the slot of its device.
    ///   - novelty: the news in it for the table.
    @inlinable
    @inline(__always)
    package mutating func receive(
        _ report: borrowing AdvertisingReport, in slot: SightingTable.Slot, _ novelty: SightingTable.Novelty,
        of table: borrowing SightingTable
    ) -> Decision {
        // The usual case: the scan reports duplicates, and has reported this device before. Nothing changes.
        if slot < progress.count, novelty != .discovered, reportsDuplicates, !hasConditions,
            progress[slot].isSuperset(of: .isReportedWhole)
        {
            return .report
        }
        return receiveOther(report, in: slot, novelty, of: table)
    }

    @usableFromInline
    mutating func receiveOther(
        _ report: borrowing AdvertisingReport, in slot: SightingTable.Slot, _ novelty: SightingTable.Novelty,
        of table: borrowing SightingTable
    ) -> Decision {
        if slot >= progress.count { makeRoom(for: slot) }
        if novelty == .discovered { progress[slot] = .isComplete }
        let known = progress[slot]
        guard known.contains(.isComplete) else { return receiveLate(report, in: slot, novelty, of: table) }
        guard reportsDuplicates || novelty.isNews || !known.contains(.isReported),
            !hasConditions || table.matches(devices, at: slot)
        else { return .skip }
        progress[slot] = known.union(.isReported)
        return .report
    }

    /// Processes a report of a device that the table had received before the scan began.
    private mutating func receiveLate(
        _ report: borrowing AdvertisingReport, in slot: SightingTable.Slot, _ novelty: SightingTable.Novelty,
        of table: borrowing SightingTable
    ) -> Decision {
        var known = progress[slot]
        let before = known.parts
        let added = SightingParts(report)
        let parts = before.union(added)
        // The device is new to the scan, or its data is complete for it. The transmit power does not count.
        let data = added.intersection(table.parts(of: slot)).subtracting(.txPowerLevel)
        let isNews = before.isEmpty || novelty == .completed || !before.isSuperset(of: data)
        known.formUnion(Progress(rawValue: parts.rawValue))
        if parts.isSuperset(of: table.parts(of: slot).union(.advertisingData)) { known.insert(.isComplete) }
        progress[slot] = known
        guard reportsDuplicates || isNews || !known.contains(.isReported) else { return .skip }
        let isComplete = known.contains(.isComplete)
        if hasConditions {
            let matches =
                isComplete ? table.matches(devices, at: slot) : devices.matches(table.excerpt(parts, of: slot, report))
            guard matches else { return .skip }
        }
        progress[slot] = known.union(.isReported)
        return isComplete ? .report : .reportParts(parts)
    }

    /// Slots are assigned in order, so there are usually as many as the table has.
    @inline(never)
    private mutating func makeRoom(for slot: SightingTable.Slot) {
        progress.append(contentsOf: repeatElement([], count: slot + 1 - progress.count))
    }

    /// Replaces the peers to report, after some of them turned out to be known by another ID.
    package mutating func renamePeers(_ lastingPeer: (PeerID) -> PeerID) {
        devices.peers = devices.peers.map(lastingPeer)
    }

    /// Forgets all devices, because they were removed from the table.
    mutating func removeAll() { progress.removeAll() }
}

/// The parts of a sighting that packets contain.
@usableFromInline
package struct SightingParts: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8

    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let advertisingData = SightingParts(rawValue: 1 << 0)
    package static let scanResponseData = SightingParts(rawValue: 1 << 1)
    package static let txPowerLevel = SightingParts(rawValue: 1 << 2)
    static let all: SightingParts = [.advertisingData, .scanResponseData, .txPowerLevel]

    /// The parts that a report contains.
    init(_ report: borrowing AdvertisingReport) {
        self = report.eventType.contains(.scanResponse) ? .scanResponseData : .advertisingData
        if report.txPowerLevel != nil { insert(.txPowerLevel) }
    }
}

extension SightingTable {
    /// The parts that the device in a slot has.
    func parts(of slot: Slot) -> SightingParts { values[slot].parts }

    /// The sighting in a slot with only some of its parts.
    ///
    /// - Parameter report: the last report of the device.
    package func excerpt(
        _ parts: SightingParts, of slot: Slot, _ report: borrowing AdvertisingReport
    ) -> Sighting { self[slot].excerpt(parts, report) }
}
