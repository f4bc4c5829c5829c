import BluetoothHost
import BluetoothUsers
import Synchronization

/// Counts the octets of received values that one user has not consumed yet on one link.
///
/// The adapter's thread adds values, and their consumer removes them. When more than half of `limit` is waiting, the
/// link is held, if its controller supports that. Above `limit`, the link must be disconnected, because a dropped value
/// would go unnoticed.
public final class ReceiveWindow: Sendable {
    /// The action to take after adding a value.
    public enum Advice: Equatable, Sendable {
        case none
        /// Call `hold(_:post:)`.
        case hold
        /// Post `HostCall.disconnect` with `.consumerTooSlow`. Advised once.
        case overflow
    }

    /// The maximum number of waiting octets: 1 MiB.
    public static let limit = 1 << 20
    /// The minimum number of octets that a value counts for, since even an empty value takes memory.
    public static let leastCount = 64

    private static let holdLimit = limit / 2
    private static let resumeLimit = limit / 4

    private let octets = Atomic<Int>(0)
    private let isHeld = Atomic<Bool>(false)
    private let hasOverflown = Atomic<Bool>(false)

    /// Creates a window in which no octets are waiting and the link is not held.
    public init() {}

    /// Adds a value of this length. Must be called on the adapter's thread.
    public func add(_ count: Int) -> Advice {
        let waiting = octets.wrappingAdd(max(count, Self.leastCount), ordering: .relaxed).newValue
        guard waiting > Self.holdLimit else { return .none }
        if waiting > Self.limit {
            return hasOverflown.exchange(true, ordering: .relaxed) ? .none : .overflow
        }
        return isHeld.load(ordering: .relaxed) ? .none : .hold
    }

    /// Holds the link, and resumes it if the consumer has already caught up. Must be called on the adapter's thread.
    ///
    /// A consumer that is interrupted before it posts a resumption can end the next hold. Then only `limit` bounds the
    /// waiting octets, until they fall below a quarter of it.
    ///
    /// - Parameter post: posts a call for the link.
    public func hold(_ link: LinkIdentifier, post: (HostCall.Kind) -> Void) {
        post(.holdReceiving(link))
        // Only now may the consumer post the resumption, which would have no effect before the hold. Either this sees
        // what the consumer has removed, or the consumer sees that the link is held.
        isHeld.store(true, ordering: .sequentiallyConsistent)
        if shouldResume(octets.load(ordering: .sequentiallyConsistent)) { post(.resumeReceiving(link)) }
    }

    /// Removes a value of this length.
    ///
    /// - Returns: whether the link should resume, with `HostCall.resumeReceiving`.
    public func remove(_ count: Int) -> Bool {
        shouldResume(
            octets.wrappingSubtract(max(count, Self.leastCount), ordering: .sequentiallyConsistent).newValue)
    }

    @inline(__always)
    private func shouldResume(_ waiting: Int) -> Bool {
        guard waiting < Self.resumeLimit, isHeld.load(ordering: .sequentiallyConsistent) else { return false }
        return isHeld.exchange(false, ordering: .acquiringAndReleasing)
    }
}
