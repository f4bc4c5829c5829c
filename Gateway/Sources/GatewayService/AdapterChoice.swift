/// Distributes connections among adapters.
struct AdapterChoice: Sendable {
    /// An adapter that could connect to a device.
    struct Candidate: Equatable, Sendable {
        var name: String
        /// The signal strength of the device; nil if the adapter has not heard it.
        var rssi: Int8?
    }

    /// The number of connections made with each adapter. There are no more entries than adapters.
    private var uses: [String: Int] = [:]

    /// The maximum number of connections that count against an adapter, so that a device stays with an adapter that
    /// hears it much better than the others.
    private static let useLimit = 5

    /// Selects one of the adapters that hear the device: one that hears it well and is not used more than the others.
    /// If no adapter hears it, any may be selected. Counts the selection as a use, and returns the adapter's index.
    mutating func choose(among candidates: [Candidate]) -> Int? {
        let hearing = candidates.indices.filter { candidates[$0].rssi != nil }
        let choices = hearing.isEmpty ? Array(candidates.indices) : hearing
        let fewest = choices.map { uses[candidates[$0].name, default: 0] }.min() ?? 0
        // Each connection more than those of the least used adapter counts as much as a signal that is weaker by 3 dB.
        let ratings = choices.map { index in
            let excess = uses[candidates[index].name, default: 0] - fewest
            return Int(candidates[index].rssi ?? 0) - 3 * min(excess, Self.useLimit)
        }
        guard let best = zip(choices, ratings).max(by: { $0.1 < $1.1 })?.0 else { return nil }
        uses[candidates[best].name, default: 0] += 1
        return best
    }
}
