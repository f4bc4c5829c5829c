import BluetoothBase

/// How a simulated disk handles one change.
package struct SimulatedWrite: Sendable {
    /// The duration of the write, which starts when the previous one has ended.
    package var latency: Duration
    /// The error of the write; nil if it succeeds.
    package var failure: BondStoreError?

    package init(latency: Duration, failure: BondStoreError? = nil) {
        self.latency = latency
        self.failure = failure
    }
}

/// How bond changes are written to the store.
enum BondWriting {
    /// On a separate thread.
    case thread(BondWriter)
    /// In the adapter's turns, as virtual time advances, so that no other thread is involved. Indirect, because every
    /// turn asks for the next deadline, and would copy the whole writer.
    indirect case turns(TimedBondWriter)

    mutating func append(_ write: BondWrite, at now: Instant) {
        switch self {
        case .thread(let writer): writer.append(write)
        case .turns(var writer):
            writer.append(write, at: now)
            self = .turns(writer)
        }
    }

    mutating func takeResults(at now: Instant) -> [BondWriteResult] {
        switch self {
        case .thread(let writer): return writer.takeResults()
        case .turns(var writer):
            defer { self = .turns(writer) }
            return writer.takeResults(at: now)
        }
    }

    mutating func takeSettled() -> [SettledBond] {
        switch self {
        case .thread(let writer): return writer.takeSettled()
        case .turns(var writer):
            defer { self = .turns(writer) }
            return writer.takeSettled()
        }
    }

    /// Whether everything is written.
    var isIdle: Bool {
        switch self {
        case .thread(let writer): writer.isIdle
        case .turns(let writer): writer.isIdle
        }
    }

    /// See `BondWriteQueue.abandon`.
    mutating func abandon() -> Int {
        switch self {
        case .thread(let writer): return writer.abandon()
        case .turns(var writer):
            defer { self = .turns(writer) }
            return writer.abandon()
        }
    }

    var nextDeadline: Instant? { if case .turns(let writer) = self { writer.nextDeadline } else { nil } }
}

/// Writes each change when virtual time reaches its deadline.
struct TimedBondWriter {
    private let store: any BondStore
    /// Returns the simulated behavior of the next change.
    private let draw: @Sendable () -> SimulatedWrite
    private var queue = BondWriteQueue()
    /// The simulated behavior of the first waiting change, and when it ends.
    private var current: (write: SimulatedWrite, due: Instant)?

    init(_ store: any BondStore, draw: @escaping @Sendable () -> SimulatedWrite) {
        self.store = store
        self.draw = draw
    }

    var nextDeadline: Instant? { current?.due }
    var isIdle: Bool { queue.isIdle }

    mutating func abandon() -> Int {
        current = nil
        return queue.abandon()
    }

    mutating func append(_ write: BondWrite, at now: Instant) {
        if queue.append(write), current == nil { begin(at: now) }
    }

    private mutating func begin(at now: Instant) {
        let drawn = draw()
        current = (drawn, now.advanced(by: drawn.latency))
    }

    mutating func takeResults(at now: Instant) -> [BondWriteResult] {
        while let (drawn, due) = current, due <= now {
            current = nil
            guard let write = queue.next() else { break }
            var failure = drawn.failure
            if failure == nil { do throws(BondStoreError) { try write.perform(on: store) } catch { failure = error } }
            queue.ended(write, failure)
            if !queue.waiting.isEmpty { begin(at: due) }
        }
        return queue.takeResults()
    }

    mutating func takeSettled() -> [SettledBond] { queue.takeSettled() }
}
