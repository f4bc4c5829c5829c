/// The effect of a packet or a call on a host, apart from its events.
public enum HostConsequence: Sendable {
    /// Nothing that concerns a deadline or a send credit: in particular, a value or data of a channel was received.
    case none
    /// Packets were sent, or may be, because the controller has completed others. `Host.nextDeadline` is not earlier
    /// than before.
    case sending
    /// An attribute request has begun or ended. If `Host.nextDeadline` is earlier than before, it is at least
    /// `ATTBearer.transactionTimeout` away.
    case waiting
    /// Anything. `Host.nextDeadline` may have changed.
    case any

    /// Adds another consequence. The greater one counts.
    @inlinable @inline(__always)
    package mutating func add(_ other: HostConsequence) {
        switch (other, self) {
        case (.none, _), (.sending, .sending), (.sending, .waiting), (.waiting, .waiting), (_, .any): return
        case (.sending, .none), (.waiting, .none), (.waiting, .sending), (.any, _): self = other
        }
    }
}
