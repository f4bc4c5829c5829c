import Synchronization

/// How many octets of received values wait for one user on one link.
///
/// The adapter's thread adds, and the consumer of the values removes. While too much waits, the link is held if its
/// controller can do that. Beyond the limit the link ends, since the loss of a value would go unnoticed.
public final class ReceiveWindow: Sendable {
    /// What to do after adding a value.
    public enum Advice: Equatable, Sendable {
        case none
        /// `HostCall.holdReceiving`.
        case hold
        /// `HostCall.disconnect`, with `.consumerTooSlow`: once.
        case overflow
    }

    /// How many octets may wait: one mebibyte.
    public static let limit = 1 << 20
    /// The least a value counts, since even an empty one takes memory.
    public static let leastCount = 64

    private static let holdLimit = limit / 2
    private static let resumeLimit = limit / 4

    private let octets = Atomic<Int>(0)
    private let isHeld = Atomic<Bool>(false)
    private let hasOverflown = Atomic<Bool>(false)

    public init() {}

    /// Adds a value of this length. Called on the adapter's thread.
    public func add(_ count: Int) -> Advice {
        let waiting = octets.wrappingAdd(max(count, Self.leastCount), ordering: .relaxed).newValue
        guard waiting > Self.holdLimit else { return .none }
        if waiting > Self.limit {
            return hasOverflown.exchange(true, ordering: .relaxed) ? .none : .overflow
        }
        return isHeld.exchange(true, ordering: .acquiringAndReleasing) ? .none : .hold
    }

    /// Removes a value of this length.
    ///
    /// - Returns: Whether the link should resume: `HostCall.resumeReceiving`.
    public func remove(_ count: Int) -> Bool {
        let waiting = octets.wrappingSubtract(max(count, Self.leastCount), ordering: .relaxed).newValue
        guard waiting < Self.resumeLimit, isHeld.load(ordering: .relaxed) else { return false }
        return isHeld.exchange(false, ordering: .acquiringAndReleasing)
    }
}
