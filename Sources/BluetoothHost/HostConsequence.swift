/// What a packet or a call has caused in a host, besides events.
public enum HostConsequence: Sendable {
    /// Nothing. In particular, a packet brought a value or data of a channel, and nothing is sent in return.
    case none
    /// Packets were sent, or may be, because the controller has completed others. `Host.nextDeadline` is the same.
    case sending
    /// An attribute request has begun or ended. If `Host.nextDeadline` is earlier than before, it is at least
    /// `ATTBearer.transactionTimeout` away.
    case waiting
    /// Anything. `Host.nextDeadline` may have changed.
    case any
}
