import BluetoothBase

/// The rules of one bearer: who may send what, and by when the other side must answer (Core 5.4, Vol 3, Part F, 3.2.8,
/// 3.3.2 and 3.3.3).
///
/// A bearer carries both roles at once, so at most one of our requests and one of our indications are pending. The
/// server keeps track of the peer's request it is serving. Notifications and commands have no flow control: they depend
/// only on `isDead` and `mtu`.
public struct ATTBearer: Equatable, Sendable {
    /// What carries the PDUs.
    public enum Kind: Sendable {
        /// The fixed L2CAP channel, whose MTU starts at 23 and is exchanged.
        case unenhanced
        /// A dynamic L2CAP channel over BR/EDR, such as that of a kernel's socket. Its MTU is that of the channel, and nothing on it
        /// is signed.
        case unenhancedOverBREDR
        /// A credit-based channel, whatever carries that. Its MTU is that of the channel.
        case enhanced
    }

    /// Why a PDU may not be sent now.
    public enum Refusal: Error, Sendable {
        /// A transaction timed out: nothing may be sent on this bearer any more.
        case dead
        /// A PDU of this kind has not been answered yet.
        case busy
        /// The opcode is not that of a request.
        case notARequest
    }

    /// The transaction that timed out.
    public enum Expiry: Equatable, Sendable {
        /// Our request was not answered.
        case request(ATTOpcode)
        /// Our indication was not confirmed.
        case indication
    }

    /// One of our requests, waiting for its response.
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

    /// How long a request or an indication may go unanswered.
    @inlinable public static var transactionTimeout: Duration { .seconds(30) }

    public let kind: Kind
    /// ATT_MTU, the longest PDU the bearer carries, in octets.
    public internal(set) var mtu: Int
    /// Whether the MTU has been exchanged.
    public internal(set) var isMTUExchanged = false
    /// Whether a transaction timed out. The bearer never recovers: the channel, or the link, must be closed.
    public internal(set) var isDead = false

    @usableFromInline var transaction: Transaction?
    @usableFromInline var indicationDeadline: Instant?

    /// The bearer on the fixed channel of a new link.
    public init() {
        kind = .unenhanced
        mtu = Self.defaultMTU
    }

    /// A bearer on a credit-based channel.
    /// - Parameter channelMTU: the smaller of the MTUs of the channel's two sides, in octets; at least 64 is assumed
    ///   (Vol 3, Part G, 5.3.1).
    public init(channelMTU: Int) {
        kind = .enhanced
        mtu = max(channelMTU, Self.minimumEnhancedMTU)
    }

    /// A bearer on a dynamic channel over BR/EDR.
    /// - Parameter brEDRChannelMTU: the smaller of the MTUs that the channel's two sides have configured, in octets; at least
    ///   48 is assumed (Vol 3, Part G, 5.1.1).
    public init(brEDRChannelMTU: Int) {
        kind = .unenhancedOverBREDR
        mtu = max(brEDRChannelMTU, Self.minimumBREDRMTU)
    }

    // MARK: - Deadlines

    /// When to call `fire(at:)` next.
    @inlinable
    public var nextDeadline: Instant? { earliest(transaction?.deadline, indicationDeadline) }

    /// Lets time pass. Returns the transaction that timed out, once. From then on the bearer is dead, and everything
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
