import BluetoothLE
import BluetoothCommandLine

/// The advertising sets of a device that a scan has found so far.
struct AdvertisedSets {
    /// The interval of the periodic advertising of each set, by its number; nil for a set without periodic advertising.
    private var intervals: [UInt8: Duration?] = [:]

    /// Adds a sighting. Returns whether it is the first with periodic advertising of its set.
    mutating func take(_ sighting: Sighting) -> Bool {
        guard let sid = sighting.details.sid else { return false }
        let known = intervals[sid].flatMap(\.self)
        intervals[sid] = .some(sighting.details.periodicInterval ?? known)
        return known == nil && sighting.details.periodicInterval != nil
    }

    /// The numbers of the sets with periodic advertising, in ascending order.
    var periodic: [UInt8] { intervals.filter { $0.value != nil }.keys.sorted() }

    /// All sets, for users: "3 (every 0.1 seconds), 5 (no periodic advertising)".
    var list: String {
        intervals.sorted { $0.key < $1.key }.map { sid, interval in
            "\(sid) (\(interval.map { "every \($0)" } ?? "no periodic advertising"))"
        }.joined(separator: ", ")
    }

    var isEmpty: Bool { intervals.isEmpty }
}
