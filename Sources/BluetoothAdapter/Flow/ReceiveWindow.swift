import Synchronization

/// How many octets of received values wait, on one link, for one user to take them.
///
/// The adapter's thread adds, whoever takes values removes. The link is held while too much waits, where its controller
/// can hold it; beyond the limit it has to end, since a value that is left out would not be missed by anybody.
public final class ReceiveWindow: Sendable {
    /// What is to be done after a value has been added.
    public enum Advice: Equatable, Sendable {
        case none
        /// `HostCall.holdReceiving`.
        case hold
        /// `HostCall.disconnect`, with `.consumerTooSlow`: once.
        case overflow
    }

    /// How many octets may wait: one mebibyte.
    public static let limit = 1 << 20
    /// What a value counts at least, since it takes memory even where it is empty.
    public static let leastCount = 64

    private static let holdLimit = limit / 2
    private static let resumeLimit = limit / 4

    private let octets = Atomic<Int>(0)
    private let isHeld = Atomic<Bool>(false)
    private let hasOverflown = Atomic<Bool>(false)

    public init() {}

    /// A value of this length waits from now on. Called on the adapter's thread.
    public func add(_ count: Int) -> Advice {
        let waiting = octets.wrappingAdd(max(count, Self.leastCount), ordering: .relaxed).newValue
        guard waiting > Self.holdLimit else { return .none }
        if waiting > Self.limit {
            return hasOverflown.exchange(true, ordering: .relaxed) ? .none : .overflow
        }
        return isHeld.exchange(true, ordering: .acquiringAndReleasing) ? .none : .hold
    }

    /// A value of this length has been taken.
    ///
    /// - Returns: Whether the link is to be let go on: `HostCall.resumeReceiving`.
    public func remove(_ count: Int) -> Bool {
        let waiting = octets.wrappingSubtract(max(count, Self.leastCount), ordering: .relaxed).newValue
        guard waiting < Self.resumeLimit, isHeld.load(ordering: .relaxed) else { return false }
        return isHeld.exchange(false, ordering: .acquiringAndReleasing)
    }
}
