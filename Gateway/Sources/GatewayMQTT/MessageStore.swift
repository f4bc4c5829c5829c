import GatewayConfiguration
import GatewayPipeline

/// Messages that wait for the broker: on disk, and in memory for as long as the disk takes none.
///
/// What is on disk is older, so it goes first. When the disk takes messages again, those in memory that are not on their way move
/// there. It has one user at a time.
final class MessageStore {
    /// Where a message waits, and its number there.
    enum ID: Hashable, Sendable {
        case disk(Int64)
        case memory(Int64)
    }

    struct Entry: Equatable {
        var id: ID
        var publication: Publication
    }

    /// What is to be said of the disk.
    enum News: Equatable {
        case diskTakesNone(reason: String)
        case diskTakesAgain
    }

    typealias Instant = ContinuousClock.Instant

    private let disk: Spool
    private let limits: SpoolSettings
    private var memory: Spool?
    /// When the disk is tried again; nil while it takes messages.
    private var nextAttempt: Instant?
    /// The last messages that were handed out.
    private var lastTaken: (disk: Int64, memory: Int64) = (0, 0)
    /// How many were handed out and are not delivered.
    private var onTheirWay: (disk: Int, memory: Int) = (0, 0)
    /// What the broker has and the disk does not know.
    private var delivered: [Int64] = []
    /// What was given up in memory that is no more.
    private var lossesInMemory = Spool.Losses()

    private var backoff = Backoff()
    /// Since when the disk takes messages.
    private var worksSince: Instant?

    init(_ disk: Spool, limits: SpoolSettings) {
        self.disk = disk
        self.limits = limits
    }

    /// Messages that the broker does not have.
    var count: Int { max(0, disk.count - delivered.count) + (memory?.count ?? 0) }

    var losses: Spool.Losses {
        let memory = memory?.losses ?? Spool.Losses()
        return Spool.Losses(
            superseded: disk.losses.superseded + lossesInMemory.superseded + memory.superseded,
            oldest: disk.losses.oldest + lossesInMemory.oldest + memory.oldest)
    }

    /// Whether the disk is to be told what was delivered.
    var hasNewsForDisk: Bool { !delivered.isEmpty && nextAttempt == nil }

    /// Keeps messages, and forgets what was delivered.
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

    /// What comes next, as handed out.
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

    /// The broker has a message, or will never take it.
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

    /// Writes everything to disk. Returns how many messages are lost, since the disk takes none.
    func close() -> Int {
        if nextAttempt == nil { try? disk.append([], removing: delivered) } else { _ = moveToDisk() }
        disk.close()
        return memory?.count ?? 0
    }

    private func keep(_ publications: [Publication]) {
        if memory == nil { memory = try? Spool(path: nil, messages: limits.messages, octets: limits.octets) }
        try? memory?.append(publications)
    }

    /// Moves what is not on its way. Returns whether the disk takes messages.
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

    /// Gives the memory back when nothing waits there any more.
    private func dropMemory() {
        guard let memory, nextAttempt == nil, memory.count == 0 else { return }
        lossesInMemory.superseded += memory.losses.superseded
        lossesInMemory.oldest += memory.losses.oldest
        (lastTaken.memory, onTheirWay.memory) = (0, 0)
        self.memory = nil
    }
}
