/// Stand-in until merged.
import BluetoothBase
public struct SightingFilter: Sendable {
    let filter: ScanFilter
    let reportsDuplicates: Bool
    var seen = SightingTable()
    var reported: Set<Int> = []
    public init(_ filter: ScanFilter, reportsDuplicates: Bool) { self.filter = filter; self.reportsDuplicates = reportsDuplicates }
    public subscript(slot: SightingTable.Slot) -> Sighting { seen[slot] }
    public mutating func receive(_ report: borrowing AdvertisingReport, at now: Instant) -> SightingTable.Slot? {
        let (slot, novelty) = seen.receive(report, at: now)
        if novelty == .discovered { reported.remove(slot) }
        let isNews = reportsDuplicates || novelty == .completed || !reported.contains(slot)
        guard isNews, filter.matches(seen[slot]) else { return nil }
        reported.insert(slot)
        return slot
    }
}
