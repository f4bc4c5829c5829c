import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP

/// The status of the adapter.
public enum AdapterStatus: Equatable, Sendable {
    /// It is being opened and brought up for the first time.
    case opening
    /// It could not be opened; another attempt follows.
    case unavailable
    case ready
    /// The controller failed and is being reset: links are gone. Scanning and advertising resume by themselves.
    case resetting(HostResetCause)
    /// The controller is gone, and the adapter waits for it: links, scans and calls have ended. Advertising resumes.
    case lost
    /// It is closed for good.
    case closed
}

/// An event that a shared host sends to one of its users, in order. The octets of an event lie in its batch.
// The rare cases are indirect, which keeps the frequent ones small.
public enum UserEvent: Sendable {
    /// The first event of every user, and then each change.
    case adapter(AdapterStatus)
    /// A call has ended, or a scan has failed.
    case ended(CallToken, Result<CallResult, HostError>)
    /// A scan has seen a device: `EventBatch.sightings` has it at this index.
    case sighting(CallToken, Int)

    /// An advertising set that was on the air has ended: its time is over, or with an error, the controller no longer takes it.
    indirect case advertisingSetEnded(CallToken, HostError?)

    /// Something about periodic advertising that this user receives.
    indirect case periodic(PeriodicSyncIdentifier, Periodic)
    /// Something about the subevents of an advertising set of this user.
    indirect case subevents(CallToken, HostEvent.Subevents)

    // MARK: Links of all users

    indirect case linkBegan(LinkIdentifier, LinkInformation)
    /// The link is gone. Its pending calls and its peer's subscriptions have ended before this.
    case linkEnded(LinkIdentifier, DisconnectReason)
    /// ATT_MTU, in octets.
    case mtuChanged(LinkIdentifier, Int)
    indirect case parametersChanged(LinkIdentifier, CurrentConnectionParameters)
    /// The PHYs of a link have changed.
    case phyChanged(LinkIdentifier, LinkPHYs)
    /// For the user who watches this with the token: see `PowerCall`.
    indirect case power(LinkIdentifier, CallToken, LinkPowerEvent)
    /// This many more unacknowledged values may be sent on this link: writes without response, notifications, updates.
    /// Each takes one credit; a user without credits waits for this event.
    case sendCredit(LinkIdentifier, Int)
    /// Data was lost between the events before and after this one.
    indirect case lost(LinkIdentifier, LinkLoss)
    /// The peer is known under another identity, which later links will have.
    case peerIdentified(LinkIdentifier, PeerID)
    /// The peer's Device Name was read for the first time, or has changed.
    indirect case nameChanged(PeerID, String)
    /// The peer's primary services, once Service Changed is watched and no change can be missed.
    case servicesKnown(LinkIdentifier, [BluetoothUUID])
    /// The peer's services in these handles have changed, and subscriptions there are over.
    case servicesChanged(LinkIdentifier, ClosedRange<AttributeHandle>)

    // MARK: Security

    /// The link is protected in another way than before.
    indirect case securityChanged(LinkIdentifier, LinkSecurity)
    /// Pairing has succeeded, with keys of this strength, which are kept as a bond or not; or has failed.
    indirect case pairingEnded(LinkIdentifier, Result<PairingOutcome, PairingError>)
    /// For the user who answers for the person: to be answered with `HostCall.Kind.answerPairing`.
    indirect case pairingAsked(LinkIdentifier, PairingQuestion)
    /// For the user who answers for the person: to be shown.
    indirect case pairingShown(LinkIdentifier, PairingDisplay)
    /// The peer has lost the keys of its bond, or is another device: the link ends, the bond stays until it is removed.
    indirect case bondRefused(LinkIdentifier, PeerID)

    // MARK: The GATT client

    /// The peer has notified or indicated a value.
    case value(LinkIdentifier, AttributeHandle, Payload)
    /// The subscription that was asked for with this token has begun: the write of the peer's descriptor has been sent. Values
    /// before this event belong to an earlier subscription, or to nobody. The end of the call follows.
    case subscriptionBegan(LinkIdentifier, CallToken)

    /// Something about a channel of this user.
    case channel(LinkIdentifier, Channel)

    // MARK: The GATT server, for the user who published the service

    case written(LinkIdentifier, AttributeHandle, Payload)
    case readRequested(ServerRequest, AttributeHandle, offset: Int)
    case writeRequested(ServerRequest, AttributeHandle, Payload)
    indirect case executeRequested(ServerRequest, GATTPreparedWrites)
    /// The peer wants to access an attribute that needs consent, one of this user's or the key material: to be answered with `HostCall.Kind.authorize` or `refuse`.
    case authorizationRequested(ServerRequest, AttributeHandle, GATTAccess)
    /// The user did not answer in time; the peer received an error.
    case requestExpired(ServerRequest)
    /// A peer subscribed to a value, unsubscribed, or changed its subscription.
    indirect case subscriptionChanged(LinkIdentifier, GATTSubscriptionChange)
}

extension UserEvent {
    /// What happened to an L2CAP channel.
    public enum Channel: Sendable {
        /// The peer sent an SDU: to be answered with `ChannelCall.consume` once it has been taken.
        case received(CreditBasedChannel.ID, Payload)
        /// So many SDUs have left, and as many more may be sent.
        case credit(CreditBasedChannel.ID, Int)
        /// A peer has opened a channel to a service of this user.
        indirect case opened(CreditBasedChannel.ID, ChannelInformation)
        case closed(CreditBasedChannel.ID, ChannelEnd)
    }
}

/// What a pairing has led to.
public struct PairingOutcome: Equatable, Sendable {
    public var strength: KeyStrength
    /// Whether the keys are kept as a bond.
    public var isBonded: Bool
}

/// The events of one turn for one user, in order.
public struct EventBatch: Sendable {
    /// The user that the events are for.
    public let user: UserID
    public let events: [UserEvent]
    /// The sightings that `UserEvent.sighting` refers to.
    public let sightings: [Sighting]
    /// The host's own buffer: octets are copied once, by the user.
    @usableFromInline let octets: ByteWriter

    init(user: UserID, events: [UserEvent], sightings: [Sighting], octets: ByteWriter) {
        self.user = user
        self.events = events
        self.sightings = sightings
        self.octets = octets
    }

    /// The octets of an event.
    @inlinable
    @_lifetime(borrow self)
    public func bytes(of payload: Payload) -> Span<UInt8> {
        octets.span.extracting(payload.start..<(payload.start &+ payload.count))
    }
}
