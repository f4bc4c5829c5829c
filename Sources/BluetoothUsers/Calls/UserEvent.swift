import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP

/// The status of the adapter.
public enum AdapterStatus: Equatable, Sendable {
    /// The transport is being opened and the controller initialized for the first time.
    case opening
    /// The adapter could not be opened. Another attempt follows.
    case unavailable
    case ready
    /// The controller failed and is being reset. Links have ended. Scanning and advertising resume automatically.
    case resetting(HostResetCause)
    /// The controller is missing, and the adapter waits for it. Links, scans and calls have ended. Advertising resumes
    /// when it returns.
    case lost
    /// The adapter is permanently closed.
    case closed
}

// The rare cases are indirect, which keeps the frequent ones small.
/// An event from a shared host to one of its users, in order. `EventBatch.octets(of:)` returns its octets.
public enum UserEvent: Sendable {
    /// The adapter's status. The first event of every user, and sent again after each change.
    case adapter(AdapterStatus)
    /// A call has ended, or a scan has failed.
    case ended(CallToken, Result<CallResult, HostError>)
    /// A scan has seen devices, which are at these indices of `EventBatch.sightings`. A device that was seen twice is
    /// there twice.
    case sightings(CallToken, Range<Int>)

    /// An advertising set that was on the air has ended, because its duration has elapsed, or with an error because the
    /// controller no longer accepts it.
    indirect case advertisingSetEnded(CallToken, HostError?)

    /// An event of periodic advertising that this user receives.
    indirect case periodic(PeriodicSyncIdentifier, Periodic)
    /// An event of the subevents of this user's advertising set.
    indirect case subevents(CallToken, HostEvent.Subevents)

    // MARK: Links, for all users

    indirect case linkBegan(LinkIdentifier, LinkInformation)
    /// The link has ended. Its pending calls and its peer's subscriptions ended before this event.
    case linkEnded(LinkIdentifier, DisconnectReason)
    /// The ATT_MTU has changed to this number of octets.
    case mtuChanged(LinkIdentifier, Int)
    indirect case parametersChanged(LinkIdentifier, CurrentConnectionParameters)
    /// The PHYs of a link have changed.
    case phyChanged(LinkIdentifier, LinkPHYs)
    /// A power report, for the user that requested it with this token: see `PowerCall`.
    indirect case power(LinkIdentifier, CallToken, LinkPowerEvent)
    /// The user may send this number of additional values on the link: writes without response, notifications and
    /// updates. Each takes one credit. A user without credit must wait for this event.
    case sendCredit(LinkIdentifier, Int)
    /// Data was lost between the events before and after this one.
    indirect case lost(LinkIdentifier, LinkLoss)
    /// The peer is now known under another identity, which its later links will have.
    case peerIdentified(LinkIdentifier, PeerID)
    /// The peer's Device Name was read for the first time, or has changed.
    indirect case nameChanged(PeerID, String)
    /// The peer's primary services. Sent when Service Changed is being watched and no change can go unnoticed.
    case servicesKnown(LinkIdentifier, [BluetoothUUID])
    /// The peer's services within these handles have changed, and subscriptions to them have ended.
    case servicesChanged(LinkIdentifier, ClosedRange<AttributeHandle>)

    // MARK: Security

    /// The security of the link has changed.
    indirect case securityChanged(LinkIdentifier, LinkSecurity)
    /// Pairing succeeded with keys of this strength, which may or may not be stored as a bond; or it failed.
    indirect case pairingEnded(LinkIdentifier, Result<PairingOutcome, PairingError>)
    /// A pairing question for the pairing agent. Answer it with `HostCall.Kind.answerPairing`.
    indirect case pairingAsked(LinkIdentifier, PairingQuestion)
    /// Pairing information for the pairing agent to show.
    indirect case pairingShown(LinkIdentifier, PairingDisplay)
    /// The peer has lost the keys of its bond, or is a different device. The link is disconnected, but the bond remains
    /// until it is removed.
    indirect case bondRefused(LinkIdentifier, PeerID)

    // MARK: The GATT client

    /// The peer notified or indicated a value.
    case value(LinkIdentifier, AttributeHandle, Payload)
    /// The subscription requested with this token has begun: the write of the peer's descriptor has been sent. Values
    /// before this event belong to an earlier subscription or to none. The end of the call follows.
    case subscriptionBegan(LinkIdentifier, CallToken)

    /// An event of a channel of this user.
    case channel(LinkIdentifier, Channel)

    // MARK: The GATT server, for the user that published the service

    case written(LinkIdentifier, AttributeHandle, Payload)
    case readRequested(ServerRequest, AttributeHandle, offset: Int)
    case writeRequested(ServerRequest, AttributeHandle, Payload)
    indirect case executeRequested(ServerRequest, GATTPreparedWrites)
    /// The peer requests access to an attribute that requires consent: one of this user's attributes, or the key
    /// material. Answer it with `HostCall.Kind.authorize` or `refuse`.
    case authorizationRequested(ServerRequest, AttributeHandle, GATTAccess)
    /// The user did not answer in time; the peer received an error.
    case requestExpired(ServerRequest)
    /// A peer subscribed to a value, unsubscribed, or changed its subscription.
    indirect case subscriptionChanged(LinkIdentifier, GATTSubscriptionChange)
}

extension UserEvent {
    /// An event of an L2CAP channel.
    public enum Channel: Sendable {
        /// The peer sent octets, in one SDU or in several that arrived together. Never empty. Call
        /// `ChannelCall.consume` with their share of the channel's window once they have been processed.
        case received(CreditBasedChannel.ID, Payload, share: Int)
        /// This number of SDUs has been sent, so the user may send this number of additional ones. Several may be
        /// reported together.
        case credit(CreditBasedChannel.ID, Int)
        /// A peer opened a channel to a service of this user.
        indirect case opened(CreditBasedChannel.ID, ChannelInformation)
        case closed(CreditBasedChannel.ID, ChannelEnd)
    }
}

/// The outcome of a successful pairing.
public struct PairingOutcome: Equatable, Sendable {
    /// The association model of the pairing, whether it used LE Secure Connections, and the size of the keys.
    public var strength: KeyStrength
    /// Whether the keys are stored as a bond.
    public var isBonded: Bool
}

/// The events of one turn for one user, in order.
public struct EventBatch: Sendable {
    /// The user that the events are for.
    public internal(set) var user: UserID
    /// The events of the turn, in the order in which they occurred.
    public internal(set) var events: [UserEvent]
    /// The sightings of the turn, for all users. `UserEvent.sightings` refers to those for this user.
    public internal(set) var sightings: [Sighting] = []
    /// The number of sightings of the host in earlier turns. A sighting's number is this plus its index.
    public internal(set) var earlierSightings: UInt64 = 0
    /// The host's own buffer while the batch is delivered. Octets are copied only once, by the user.
    @usableFromInline var octets = ByteWriter()

    init(user: UserID, events: [UserEvent] = []) {
        self.user = user
        self.events = events
    }

    /// The octets of an event.
    @inlinable
    @_lifetime(borrow self)
    public func octets(of payload: Payload) -> Span<UInt8> {
        octets.span.extracting(payload.start..<(payload.start &+ payload.count))
    }
}
