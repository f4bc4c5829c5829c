/// A point in time, in nanoseconds since an origin that the caller chooses.
///
/// The core reads no clock. The caller passes in the time: from `CLOCK_MONOTONIC` in a running adapter, from a counter
/// in tests.
public struct Instant: InstantProtocol, Hashable, Codable, Sendable {
    /// Nanoseconds since the origin.
    public var nanoseconds: UInt64

    /// Creates an instant from the number of nanoseconds since the origin.
    @inlinable
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The origin.
    public static var zero: Instant { Instant(nanoseconds: 0) }

    /// This instant moved by `duration`, clamped to the range of the type.
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        let delta = duration.nanoseconds
        if delta < 0 {
            let magnitude = delta.magnitude
            return Instant(nanoseconds: magnitude > nanoseconds ? 0 : nanoseconds &- magnitude)
        }
        let (sum, overflow) = nanoseconds.addingReportingOverflow(UInt64(delta))
        return Instant(nanoseconds: overflow ? .max : sum)
    }

    /// The time from this instant to `other`, negative if `other` is earlier. It is clamped to 292 years either way.
    @inlinable
    public func duration(to other: Instant) -> Duration {
        other >= self
            ? .nanoseconds(Int64(clamping: other.nanoseconds &- nanoseconds))
            : .zero - .nanoseconds(Int64(clamping: nanoseconds &- other.nanoseconds))
    }

    /// Whether the left instant is earlier.
    @inlinable
    public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to what 64 bits hold (292 years either way).
    @inlinable
    public var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }
}

/// The earlier of two deadlines, either of which may be absent.
@inlinable
public func earliest(_ first: Instant?, _ second: Instant?) -> Instant? {
    guard let first else { return second }
    guard let second else { return first }
    return min(first, second)
}
