import BluetoothHost
import BluetoothUsers
import Synchronization

/// Counts the octets of received values that one user has not consumed yet on one link.
///
/// The adapter's thread adds values, and their consumer removes them. While more than half of `limit` is waiting, and
/// until less than a quarter is, the link is held, if its controller supports that. Above `limit`, the link must be
/// disconnected, because a dropped value would go unnoticed.
public final class ReceiveWindow: Sendable {
    /// The maximum number of waiting octets: 1 MiB.
    public static let limit = 1 << 20
    /// The minimum number of octets that a value counts for, since even an empty value takes memory.
    public static let leastCount = 64

    private static let holdLimit = limit / 2
    private static let secondHoldLimit = limit / 4 * 3
    private static let resumeLimit = limit / 4

    private let octets = Atomic<Int>(0)
    private let isHeld = Atomic<Bool>(false)
    private let hasOverflown = Atomic<Bool>(false)

    /// Creates a window in which no octets are waiting and the link is not held.
    public init() {}

    // `add` and `remove` are inlined, so that a value that changes nothing costs no closure.

    /// Adds a value of this length, and holds the link if too much is waiting. Must be called on the adapter's thread.
    ///
    /// - Parameter post: posts a call for the link.
    /// - Returns: whether the caller must post `HostCall.disconnect` with `.consumerTooSlow`. This is returned once.
    @inlinable
    public func add(_ count: Int, on link: LinkIdentifier, post: (HostCall.Kind) -> Void) -> Bool {
        switch effect(ofAdding: count) {
        case .none: return false
        case .hold:
            hold(link, post)
            return false
        case .overflow: return true
        }
    }

    /// The effect of adding a value.
    @usableFromInline
    enum Effect { case none, hold, overflow }

    @usableFromInline
    func effect(ofAdding count: Int) -> Effect {
        let (before, waiting) = octets.wrappingAdd(max(count, Self.leastCount), ordering: .relaxed)
        guard waiting > Self.holdLimit else { return .none }
        if waiting > Self.limit { return hasOverflown.exchange(true, ordering: .relaxed) ? .none : .overflow }
        // A consumer that was interrupted before it posted a resumption may have ended a later hold with it.
        let isDueAgain = before <= Self.secondHoldLimit && waiting > Self.secondHoldLimit
        return isDueAgain || !isHeld.load(ordering: .relaxed) ? .hold : .none
    }

    /// Holds the link, and resumes it if the consumer has already caught up.
    @usableFromInline
    func hold(_ link: LinkIdentifier, _ post: (HostCall.Kind) -> Void) {
        post(.holdReceiving(link))
        // Only now may the consumer post the resumption, which would have no effect before the hold. Either this sees
        // what the consumer has removed, or the consumer sees that the link is held.
        isHeld.store(true, ordering: .sequentiallyConsistent)
        if shouldResume(octets.load(ordering: .sequentiallyConsistent)) { post(.resumeReceiving(link)) }
    }

    /// Removes a value of this length, and resumes the link if little is waiting.
    ///
    /// - Parameter post: posts a call for the link.
    @inlinable
    public func remove(_ count: Int, on link: LinkIdentifier, post: (HostCall.Kind) -> Void) {
        if isDueToResume(afterRemoving: count) { post(.resumeReceiving(link)) }
    }

    @usableFromInline
    func isDueToResume(afterRemoving count: Int) -> Bool {
        shouldResume(
            octets.wrappingSubtract(max(count, Self.leastCount), ordering: .sequentiallyConsistent).newValue)
    }

    @inline(__always)
    private func shouldResume(_ waiting: Int) -> Bool {
        guard waiting < Self.resumeLimit, isHeld.load(ordering: .sequentiallyConsistent) else { return false }
        return isHeld.exchange(false, ordering: .acquiringAndReleasing)
    }
}
