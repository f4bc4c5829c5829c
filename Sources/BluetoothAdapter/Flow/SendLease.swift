import Synchronization

/// The send credits of one user on one link: how many unacknowledged values it may still hand over.
///
/// One atomic word, so that taking a credit needs no lock and no other thread. The adapter's thread adds the credits of
/// `UserEvent.sendCredit`; senders take them on any thread.
public final class SendLease: Sendable {
    // The lowest two bits are flags, the rest is the number of credits.
    private let word = Atomic<Int>(0)

    private static let isAwaited = 1
    private static let isClosed = 2
    private static let credit = 4

    public init() {}

    /// Takes credits. If there are too few it takes none, and `add` will report a waiter.
    ///
    /// - Returns: Whether they were taken.
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

    /// Takes a credit, or owes one: the value then waits for it with the host.
    ///
    /// - Parameter limit: the most credits that may be owed. Beyond that `add` will report a waiter, as where a credit is owed.
    /// - Returns: Whether the value may be handed over.
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

    /// How many credits there are; less than none where some are owed.
    public var count: Int { word.load(ordering: .acquiring) >> 2 }

    /// Whether a credit is available. If not, `add` will report a waiter.
    public var isAvailable: Bool {
        if word.load(ordering: .acquiring) >= Self.credit { return true }
        // One atomic step: a credit may arrive just before it.
        return word.bitwiseOr(Self.isAwaited, ordering: .acquiringAndReleasing).newValue >= Self.credit
    }

    /// Adds credits.
    ///
    /// - Parameter threshold: the credits with which a sender is woken. With more than one it sends several at a time.
    /// - Returns: Whether a sender found too few since the last time, and must be woken now.
    public func add(_ count: Int, wakingAt threshold: Int = 1) -> Bool {
        let (old, new) = word.wrappingAdd(count * Self.credit, ordering: .acquiringAndReleasing)
        guard old & Self.isAwaited != 0, new >> 2 >= threshold else { return false }
        let before = word.bitwiseAnd(~Self.isAwaited, ordering: .acquiringAndReleasing).oldValue
        return before & Self.isAwaited != 0
    }

    /// The link is gone: there are no more credits.
    ///
    /// - Returns: Whether a sender waits for one, and how many credits there were.
    @discardableResult
    public func close() -> (isAwaited: Bool, count: Int) {
        let before = word.exchange(Self.isClosed, ordering: .acquiringAndReleasing)
        return (before & Self.isAwaited != 0, before >> 2)
    }

    /// Whether the link is gone.
    public var isClosed: Bool { word.load(ordering: .acquiring) & Self.isClosed != 0 }
}
