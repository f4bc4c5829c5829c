/// Allocates the counters for this device's signatures. Each counter is used only once, even across restarts (Core 5.4,
/// Vol 3, Part H, 2.4.5).
///
/// Counters are reserved in blocks. The stored counter is ahead of the used ones, so that a program that is killed
/// skips the rest of a block instead of repeating a counter.
///
///     if counters.isExhausted {
///         key.counter = counters.reserve()
///         try store.save(bond, of: identity)
///     }
///     guard let counter = counters.take() else { … }   // pair again
///
/// The counters of a peer's signatures are not reserved. The lowest counter that will be accepted next must be stored
/// before the application receives the value. Otherwise the write could be replayed after a crash.
public struct SignatureCounters: Equatable, Sendable {
    /// The number of counters that are reserved with each write to the store.
    public static let blockSize: UInt32 = 100

    private var next: UInt32
    /// The first counter that is not reserved, which is the stored one.
    private var limit: UInt32

    /// Creates counters of which none is reserved.
    ///
    /// - Parameter stored: the stored counter. Neither it nor any greater one was ever used.
    public init(stored: UInt32) {
        next = stored
        limit = stored
    }

    /// Whether counters must be reserved before the next `take`.
    public var isExhausted: Bool { next == limit }

    /// Reserves a block. Store the returned counter before calling `take`.
    public mutating func reserve() -> UInt32 {
        // The last possible counter is never used, because no greater one could be stored.
        limit += min(Self.blockSize, .max - limit)
        return limit
    }

    /// Takes the counter for one message; nil if none is reserved. If it is nil directly after `reserve`, the key has
    /// no counters left.
    public mutating func take() -> UInt32? {
        guard next < limit else { return nil }
        defer { next += 1 }
        return next
    }
}
