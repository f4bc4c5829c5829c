import GatewayConfiguration
import GatewayPipeline

/// The messages that wait for the broker: on disk, and in memory while the disk fails.
///
/// Messages on disk are older, so they are sent first. When the disk works again, messages in memory that are not in
/// transit move to disk. Calls must not overlap.
final class MessageStore {
    /// The place in which a message waits, and its number there.
    enum ID: Hashable, Sendable {
        case disk(Int64)
        case memory(Int64)
    }

    struct Entry: Equatable {
        var id: ID
        var publication: Publication
    }

    /// A change in the condition of the disk.
    enum News: Equatable {
        case diskTakesNone(reason: String)
        case diskTakesAgain
    }

    typealias Instant = ContinuousClock.Instant

    private let disk: Spool
    private let limits: SpoolSettings
    private var memory: Spool?
    /// The time at which to try the disk again; nil while it works.
    private var nextAttempt: Instant?
    /// The numbers of the last messages handed out.
    private var lastTaken: (disk: Int64, memory: Int64) = (0, 0)
    /// How many messages were handed out and not delivered yet.
    private var onTheirWay: (disk: Int, memory: Int) = (0, 0)
    /// Messages that were delivered and not removed from disk yet.
    private var delivered: [Int64] = []
    /// The losses of in-memory spools that no longer exist.
    private var lossesInMemory = Spool.Losses()

    private var backoff = Backoff()
    /// The time since which the disk has worked.
    private var worksSince: Instant?

    init(_ disk: Spool, limits: SpoolSettings) {
        self.disk = disk
        self.limits = limits
    }

    /// The number of messages that were not delivered.
    var count: Int { max(0, disk.count - delivered.count) + (memory?.count ?? 0) }

    var losses: Spool.Losses {
        let memory = memory?.losses ?? Spool.Losses()
        return Spool.Losses(
            superseded: disk.losses.superseded + lossesInMemory.superseded + memory.superseded,
            oldest: disk.losses.oldest + lossesInMemory.oldest + memory.oldest)
    }

    /// Whether delivered messages must be removed from disk.
    var hasNewsForDisk: Bool { !delivered.isEmpty && nextAttempt == nil }

    /// Stores messages, and removes delivered ones.
    func store(_ publications: [Publication], at now: Instant) -> News? {
        guard let attempt = nextAttempt else {
            do {
                try disk.append(publications, removing: delivered)
                delivered.removeAll(keepingCapacity: true)
                return nil
            } catch {
                if let worksSince { backoff.connectionLasted(worksSince.duration(to: now)) }
                nextAttempt = now.advanced(by: backoff.wait(random: 0))
                keep(publications)
                return .diskTakesNone(reason: Spool.text(of: error))
            }
        }
        keep(publications)
        guard now >= attempt else { return nil }
        guard moveToDisk() else {
            nextAttempt = now.advanced(by: backoff.wait(random: 0))
            return nil
        }
        worksSince = now
        return .diskTakesAgain
    }

    /// Returns the next messages, and records them as handed out.
    func take(_ limit: Int) -> [Entry] {
        var entries: [Entry] = []
        if disk.count > onTheirWay.disk + delivered.count {
            let found = (try? disk.entries(after: lastTaken.disk, limit: limit)) ?? []
            entries = found.map { Entry(id: .disk($0.id), publication: $0.publication) }
            lastTaken.disk = found.last?.id ?? lastTaken.disk
            onTheirWay.disk += found.count
        }
        if let memory, entries.count < limit, memory.count > onTheirWay.memory {
            let found = (try? memory.entries(after: lastTaken.memory, limit: limit - entries.count)) ?? []
            entries += found.map { Entry(id: .memory($0.id), publication: $0.publication) }
            lastTaken.memory = found.last?.id ?? lastTaken.memory
            onTheirWay.memory += found.count
        }
        return entries
    }

    /// Removes a message that the broker has accepted or will never accept.
    func finish(_ id: ID) {
        switch id {
        case .disk(let number):
            onTheirWay.disk -= 1
            delivered.append(number)
        case .memory(let number):
            onTheirWay.memory -= 1
            try? memory?.append([], removing: [number])
            dropMemory()
        }
    }

    /// Writes everything to disk. Returns the number of messages that are lost because the disk fails.
    func close() -> Int {
        if nextAttempt == nil { try? disk.append([], removing: delivered) } else { _ = moveToDisk() }
        disk.close()
        return memory?.count ?? 0
    }

    private func keep(_ publications: [Publication]) {
        if memory == nil { memory = try? Spool(path: nil, messages: limits.messages, octets: limits.octets) }
        try? memory?.append(publications)
    }

    /// Moves messages that are not in transit to disk. Returns whether the disk works.
    private func moveToDisk() -> Bool {
        let waiting = (try? memory?.entries(after: lastTaken.memory, limit: limits.messages)) ?? []
        do {
            try disk.append(waiting.map(\.publication), removing: delivered)
        } catch {
            return false
        }
        delivered.removeAll(keepingCapacity: true)
        try? memory?.append([], removing: waiting.map(\.id))
        nextAttempt = nil
        dropMemory()
        return true
    }

    /// Releases the in-memory spool when nothing waits in it and the disk works.
    private func dropMemory() {
        guard let memory, nextAttempt == nil, memory.count == 0 else { return }
        lossesInMemory.superseded += memory.losses.superseded
        lossesInMemory.oldest += memory.losses.oldest
        (lastTaken.memory, onTheirWay.memory) = (0, 0)
        self.memory = nil
    }
}
