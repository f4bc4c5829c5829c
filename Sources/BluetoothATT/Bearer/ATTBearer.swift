import BluetoothBase

/// The rules of one bearer: which PDUs may be sent, and when the peer must have answered (Core 5.4, Vol 3, Part F,
/// 3.2.8, 3.3.2 and 3.3.3).
///
/// A bearer carries both roles at once, so at most one local request and one local indication are pending. The server
/// keeps track of the peer's request that it is serving. Notifications and commands have no flow control: they depend
/// only on `isDead` and `mtu`.
public struct ATTBearer: Equatable, Sendable {
    /// The kind of channel that carries the PDUs.
    public enum Kind: Sendable {
        /// The fixed L2CAP channel, whose MTU starts at 23 and is exchanged.
        case unenhanced
        /// A dynamic L2CAP channel over BR/EDR, such as that of a kernel socket. Its MTU is that of the channel, and it
        /// carries no signed writes.
        case unenhancedOverBREDR
        /// A credit-based channel, over any transport. Its MTU is that of the channel.
        case enhanced
    }

    /// Why a PDU may not be sent now.
    @nonexhaustive
    public enum Refusal: Error, Sendable {
        /// A transaction timed out: nothing more may be sent on this bearer.
        case dead
        /// An earlier PDU of this kind has not been answered yet.
        case busy
        /// The opcode is not that of a request.
        case notARequest
    }

    /// The transaction that timed out.
    public enum Expiry: Equatable, Sendable {
        /// The local request was not answered.
        case request(ATTOpcode)
        /// The local indication was not confirmed.
        case indication
    }

    /// A local request that is waiting for its response.
    @usableFromInline
    struct Transaction: Equatable, Sendable {
        @usableFromInline let opcode: ATTOpcode
        @usableFromInline let deadline: Instant

        @usableFromInline
        init(opcode: ATTOpcode, deadline: Instant) {
            self.opcode = opcode
            self.deadline = deadline
        }
    }

    /// How long a request or an indication may remain unanswered.
    @inlinable public static var transactionTimeout: Duration { .seconds(30) }

    /// The kind of channel that carries the bearer. It never changes.
    public let kind: Kind
    /// ATT_MTU, the longest PDU the bearer carries, in octets.
    public internal(set) var mtu: Int
    /// Whether the MTU has been exchanged.
    public internal(set) var isMTUExchanged = false
    /// Whether a transaction timed out. The bearer never recovers: the channel, or the link, must be closed.
    public internal(set) var isDead = false

    @usableFromInline var transaction: Transaction?
    @usableFromInline var indicationDeadline: Instant?

    /// Creates the bearer on the fixed channel of a new link.
    public init() {
        kind = .unenhanced
        mtu = Self.defaultMTU
    }

    /// Creates a bearer on a credit-based channel.
    /// - Parameter channelMTU: The smaller of the MTUs of the channel's two sides, in octets. A value below 64 counts
    ///   as 64 (Vol 3, Part G, 5.3.1).
    public init(channelMTU: Int) {
        kind = .enhanced
        mtu = max(channelMTU, Self.minimumEnhancedMTU)
    }

    /// Creates a bearer on a dynamic channel over BR/EDR.
    /// - Parameter brEDRChannelMTU: The smaller of the MTUs that the channel's two sides have configured, in octets. A
    ///   value below 48 counts as 48 (Vol 3, Part G, 5.1.1).
    public init(brEDRChannelMTU: Int) {
        kind = .unenhancedOverBREDR
        mtu = max(brEDRChannelMTU, Self.minimumBREDRMTU)
    }

    // MARK: - Deadlines

    /// When to call `fire(at:)` next.
    @inlinable
    public var nextDeadline: Instant? { earliest(transaction?.deadline, indicationDeadline) }

    /// Handles timeouts. Returns the transaction that timed out, once. From then on the bearer is dead, and everything
    /// else pending on it fails as well.
    public mutating func fire(at now: Instant) -> Expiry? {
        let expiry: Expiry
        if let transaction, transaction.deadline <= now {
            expiry = .request(transaction.opcode)
        } else if let indicationDeadline, indicationDeadline <= now {
            expiry = .indication
        } else {
            return nil
        }
        isDead = true
        transaction = nil
        indicationDeadline = nil
        return expiry
    }
}
