/// Hands out the counters of what this device signs, each of them once, also across restarts (Core 5.4, Vol 3, Part H,
/// 2.4.5).
///
/// Counters are reserved in blocks: what is on disk is ahead of what is used, so that a program that is killed skips the
/// rest of a block and repeats nothing.
///
///     if counters.isExhausted {
///         key.counter = counters.reserve()
///         try store.save(bond, of: identity)
///     }
///     guard let counter = counters.take() else { … }   // pair anew
///
/// The counters of what a peer has signed are not reserved. The lowest that is accepted next is to be on disk before
/// the application sees what was written, or it could be replayed after a crash.
public struct SignatureCounters: Equatable, Sendable {
    /// How many counters are reserved at a time: one write to disk for so many that are signed.
    public static let blockSize: UInt32 = 100

    private var next: UInt32
    /// The first counter that is not reserved: the one on disk.
    private var limit: UInt32

    /// - Parameter stored: the counter that is on disk. Nothing at or above it was ever used.
    public init(stored: UInt32) {
        next = stored
        limit = stored
    }

    /// Whether counters must be reserved before the next `take`.
    public var isExhausted: Bool { next == limit }

    /// Reserves a block. The counter it returns must be on disk before `take` is called.
    public mutating func reserve() -> UInt32 {
        // The very last counter is never used: there would be none to store behind it.
        limit += min(Self.blockSize, .max - limit)
        return limit
    }

    /// The counter for one message; nil if none is reserved, which after `reserve` means that the key has no more.
    public mutating func take() -> UInt32? {
        guard next < limit else { return nil }
        defer { next += 1 }
        return next
    }
}
