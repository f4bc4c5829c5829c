import Synchronization

/// The send credits of one user on one link: the number of values that the user may still hand over. The host returns a
/// credit when its value has gone to the controller.
///
/// A single atomic word holds the credits, so taking one needs neither a lock nor another thread. The adapter's thread
/// adds the credits of `UserEvent.sendCredit`, and senders take them on any thread.
public final class SendLease: Sendable {
    // The lowest two bits are flags. The other bits are the number of credits.
    private let word = Atomic<Int>(0)

    private static let isAwaited = 1
    private static let isClosed = 2
    private static let credit = 4

    /// Creates a lease without credits. `add` provides the first ones.
    public init() {}

    /// Takes credits. If too few are available, it takes none, and a later `add` reports a waiting sender.
    ///
    /// - Returns: whether the credits were taken.
    public func take(_ count: Int = 1) -> Bool {
        var current = word.load(ordering: .relaxed)
        while true {
            let hasEnough = current & Self.isClosed == 0 && current >> 2 >= count
            let wanted = hasEnough ? current - count * Self.credit : current | Self.isAwaited
            if !hasEnough, wanted == current { return false }
            let (isExchanged, original) = word.weakCompareExchange(
                expected: current, desired: wanted, ordering: .acquiringAndReleasing)
            if isExchanged { return hasEnough }
            current = original
        }
    }

    /// Takes a credit, going into debt if none is available. A value handed over on debt waits in the host for its
    /// credit.
    ///
    /// - Parameter limit: the maximum debt. Once the sender is in debt, or is refused because of the limit, a later
    ///   `add` reports a waiting sender.
    /// - Returns: whether the value may be handed over.
    public func take(owing limit: Int) -> Bool {
        var current = word.load(ordering: .relaxed)
        while true {
            if current & Self.isClosed != 0 { return false }
            let mayTake = current >> 2 > -limit
            let wanted = (mayTake ? current - Self.credit : current) | (current >> 2 > 0 ? 0 : Self.isAwaited)
            if !mayTake, wanted == current { return false }
            let (isExchanged, original) = word.weakCompareExchange(
                expected: current, desired: wanted, ordering: .acquiringAndReleasing)
            if isExchanged { return mayTake }
            current = original
        }
    }

    /// The number of available credits; negative if credits are owed, and 0 once the lease is closed.
    public var count: Int { Self.credits(in: word.load(ordering: .acquiring)) }

    /// A credit that comes back after the end is in the word, but it is not available.
    private static func credits(in word: Int) -> Int { word & isClosed == 0 ? word >> 2 : 0 }

    /// Whether a credit is available. If not, a later `add` reports a waiting sender.
    public var isAvailable: Bool {
        if count > 0 { return true }
        // Test and set the flag in one atomic step, since a credit may arrive just before.
        return Self.credits(in: word.bitwiseOr(Self.isAwaited, ordering: .acquiringAndReleasing).newValue) > 0
    }

    /// Adds credits.
    ///
    /// - Parameter threshold: the number of credits that wakes a sender. A value above 1 lets it send several values at
    ///   a time.
    /// - Returns: whether a sender found too few credits since the last wakeup and must be woken now.
    public func add(_ count: Int, wakingAt threshold: Int = 1) -> Bool {
        let (old, new) = word.wrappingAdd(count * Self.credit, ordering: .acquiringAndReleasing)
        guard old & Self.isAwaited != 0, new >> 2 >= threshold else { return false }
        let before = word.bitwiseAnd(~Self.isAwaited, ordering: .acquiringAndReleasing).oldValue
        return before & Self.isAwaited != 0
    }

    /// Closes the lease because the link has ended. It gives out no more credits.
    ///
    /// - Returns: whether a sender is waiting, and the number of unused credits.
    @discardableResult
    public func close() -> (isAwaited: Bool, count: Int) {
        let before = word.exchange(Self.isClosed, ordering: .acquiringAndReleasing)
        return (before & Self.isAwaited != 0, before >> 2)
    }

    /// Whether the link has ended.
    public var isClosed: Bool { word.load(ordering: .acquiring) & Self.isClosed != 0 }
}
