/// The mean signal strength of a device at each adapter of this machine, since the means were last taken.
struct SignalMeter: Equatable, Sendable {
    private struct Mean: Equatable, Sendable {
        var adapter: String
        var sum = 0
        var count = 0
    }

    /// A list, because a machine has few adapters.
    private var means: [Mean] = []
    /// More adapters than a machine is expected to have.
    private static let limit = 32

    mutating func add(_ rssi: Int8?, adapter: String) {
        let index: Int
        if let found = means.firstIndex(where: { $0.adapter == adapter }) {
            index = found
        } else {
            guard means.count < Self.limit else { return }
            index = means.count
            means.append(Mean(adapter: adapter))
        }
        guard let rssi else { return }
        means[index].sum += Int(rssi)
        means[index].count += 1
    }

    /// Like `peekBest`, but starts over afterwards.
    mutating func takeBest() -> (adapter: String, rssi: Int8?) {
        defer { means.removeAll(keepingCapacity: true) }
        return peekBest()
    }

    /// The adapter with the strongest mean, and that mean.
    func peekBest() -> (adapter: String, rssi: Int8?) {
        var best: (adapter: String, rssi: Int8?) = (means.first?.adapter ?? "", nil)
        for mean in means where mean.count > 0 {
            let rssi = Int8(clamping: (Double(mean.sum) / Double(mean.count)).rounded())
            if best.rssi.map({ rssi > $0 }) ?? true { best = (mean.adapter, rssi) }
        }
        return best
    }
}

extension Int8 {
    fileprivate init(clamping value: Double) { self = Int8(Swift.max(-128, Swift.min(127, value))) }
}
