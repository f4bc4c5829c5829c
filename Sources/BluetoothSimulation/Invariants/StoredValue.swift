/// The values that may be read from an attribute that any client may write. They follow from what is known of the
/// writes: when each was requested, when it was answered, and how.
///
/// Times are positions in the order in which users make calls and learn of their ends. A write takes effect somewhere
/// between the two, so a write that was requested after another had ended takes effect after it.
struct StoredValue {
    /// How a write ended.
    enum End {
        case done, refused
        /// The write may have taken effect, or may still do so.
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

    /// Creates the model of an attribute.
    ///
    /// - Parameter value: the value before any client has written it.
    init(_ value: [UInt8]) { writes.append(Write(value: value, beginning: 0, end: 0, outcome: .done)) }

    /// Notes the request of a write, and returns the number of the write.
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

    /// Notes the request of a read, and returns its time.
    mutating func beginRead() -> Int {
        time += 1
        return time
    }

    /// Whether a read requested at some time may now return a value that matches a written one.
    ///
    /// - Parameter isInParts: whether the read takes several requests, between which other clients may write.
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
    /// A pending use of the stored value of a station.
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

    /// Whether octets are a value as a client sees it whose server uses a smaller ATT_MTU than the client. A server
    /// applies the exchanged ATT_MTU after sending its response, and the client after receiving it (Vol 3, Part F,
    /// 3.4.2.2). If the response is lost, the client of the exchange stays at 23 octets, and treats its first response
    /// to a read as the last one.
    func isCut(_ value: [UInt8], to bytes: [UInt8], between station: Int, _ peer: Int) -> Bool {
        guard incomplete.contains(station) || incomplete.contains(peer) else { return false }
        return bytes.count == 22 && value.starts(with: bytes)
    }

    /// Whether a read has returned a value that it must not return.
    func isWrong(_ use: StoredUse, isInParts: Bool, where fits: ([UInt8]) -> Bool) -> Bool {
        guard use.epoch == epochs[use.station], case .read(let time) = use.kind, let value = stored[use.station],
            // A device that sends modified PDUs may have written anything.
            !isTainted(use.station), anyTaintedStation == nil
        else { return false }
        return !value.mayBeRead(since: time, isInParts: isInParts, where: fits)
    }
}
