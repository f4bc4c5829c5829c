/// What may be read of an attribute that anybody may write, from what is known of the writes: when each was asked for,
/// when it was answered, and how.
///
/// Times are places in the order in which users make calls and hear of their ends. A write happens somewhere between the
/// two, so one that was asked for after another had ended comes behind it.
struct StoredValue {
    /// How a write ended.
    enum End {
        case done, refused
        /// It may have happened, or may still happen.
        case unknown
    }

    private struct Write {
        var value: [UInt8]
        var beginning: Int
        var end: Int?
        var outcome = End.unknown
    }

    private var writes: [Write] = []
    private var time = 0

    /// - Parameter value: what it is before anybody has written.
    init(_ value: [UInt8]) { writes.append(Write(value: value, beginning: 0, end: 0, outcome: .done)) }

    /// Somebody asks for a write. Returns the number of the write.
    mutating func begin(_ value: [UInt8]) -> Int {
        time += 1
        writes.append(Write(value: value, beginning: time))
        return writes.count - 1
    }

    mutating func end(_ write: Int, _ outcome: End) {
        guard writes.indices.contains(write) else { return }
        time += 1
        if outcome != .unknown { writes[write].end = time }
        writes[write].outcome = outcome
    }

    /// Somebody asks for a read. Returns the time of that.
    mutating func beginRead() -> Int {
        time += 1
        return time
    }

    /// Whether a read that was asked for at some time may end now with a value that fits one that was written.
    ///
    /// - Parameter isInParts: whether it takes several requests, between which others may write.
    func mayBeRead(since beginning: Int, isInParts: Bool, where fits: ([UInt8]) -> Bool) -> Bool {
        let candidates = writes.filter { $0.outcome != .refused && !isOverwritten($0, before: beginning) }
        if isInParts, candidates.count > 1 { return true }
        return candidates.contains { fits($0.value) }
    }

    private func isOverwritten(_ write: Write, before time: Int) -> Bool {
        guard let end = write.end else { return false }
        return writes.contains { later in
            guard later.outcome == .done, let itsEnd = later.end else { return false }
            return later.beginning > end && itsEnd < time
        }
    }
}

extension ScenarioRun {
    /// A use of the stored value of a station, under way.
    struct StoredUse {
        enum Kind { case write(Int), read(Int) }
        var station: Int
        var epoch: Int
        var kind: Kind
    }

    func beginWrite(_ value: [UInt8], to station: Int) -> StoredUse? {
        guard let number = stored[station]?.begin(value) else { return nil }
        return StoredUse(station: station, epoch: epochs[station], kind: .write(number))
    }

    func beginRead(of station: Int) -> StoredUse? {
        guard let time = stored[station]?.beginRead() else { return nil }
        return StoredUse(station: station, epoch: epochs[station], kind: .read(time))
    }

    func endWrite(_ use: StoredUse, _ outcome: StoredValue.End) {
        guard use.epoch == epochs[use.station], case .write(let number) = use.kind else { return }
        stored[use.station]?.end(number, outcome)
    }

    /// Whether octets are what a client gets of a value whose server uses a smaller ATT_MTU than the client. A server uses the
    /// one that was exchanged behind its response, and the client behind the receipt of that (Vol 3, Part F, 3.4.2.2); where
    /// the response is lost, the client of the exchange stays at 23 octets, and its first response to a read passes for the
    /// last one.
    func isCut(_ value: [UInt8], to bytes: [UInt8], between station: Int, _ peer: Int) -> Bool {
        guard incomplete.contains(station) || incomplete.contains(peer) else { return false }
        return bytes.count == 22 && value.starts(with: bytes)
    }

    /// Whether the end of a read is one that must not be.
    func isWrong(_ use: StoredUse, isInParts: Bool, where fits: ([UInt8]) -> Bool) -> Bool {
        guard use.epoch == epochs[use.station], case .read(let time) = use.kind, let value = stored[use.station],
            // Whoever sends what is not its own may have written anything.
            !isTainted(use.station), anyTaintedStation == nil
        else { return false }
        return !value.mayBeRead(since: time, isInParts: isInParts, where: fits)
    }
}
