import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT

/// Whether anything can be done with the adapter.
public enum AdapterStatus: Equatable, Sendable {
    /// It is being opened and brought up for the first time.
    case opening
    /// It could not be opened, and is tried again.
    case unavailable
    case ready
    /// The controller failed and is being reset: links are gone. Scanning and advertising resume by themselves.
    case resetting(HostResetCause)
    /// The controller is gone, and waited for: links, scans and calls have ended. What was advertised resumes.
    case lost
    /// It is over for good.
    case closed
}

/// Something a shared host tells one of its users, in the order in which it happened. Octets that belong to an event lie
/// in the batch it came with.
// The rare cases are indirect, so that the frequent ones are small values.
public enum UserEvent: Sendable {
    /// The first event of every user, and then each change.
    case adapter(AdapterStatus)
    /// A call has ended, or a scan has failed.
    case ended(CallToken, Result<CallResult, HostError>)
    /// A scan has seen a device: `EventBatch.sightings` has it at this index.
    case sighting(CallToken, Int)

    // MARK: Links, whoever made them

    indirect case linkBegan(LinkIdentifier, LinkInformation)
    /// The link is gone. What was pending on it has ended before this, and its peer's subscriptions too.
    case linkEnded(LinkIdentifier, DisconnectReason)
    /// ATT_MTU, in octets.
    case mtuChanged(LinkIdentifier, Int)
    indirect case parametersChanged(LinkIdentifier, CurrentConnectionParameters)
    /// So many more values may be sent on this link without being answered: writes without response, notifications,
    /// updates. Each takes one credit; a user that has none waits for this event.
    case sendCredit(LinkIdentifier, Int)
    /// Something was lost between the events before and those behind this one.
    indirect case lost(LinkIdentifier, LinkLoss)
    /// The peer is one that is known under another name, which later links will carry.
    case peerIdentified(LinkIdentifier, PeerID)
    /// The peer's Device Name, where it was read for the first time or is another now.
    indirect case nameChanged(PeerID, String)
    /// The primary services the peer is known to have, once Service Changed is watched, so that a change is not missed.
    case servicesKnown(LinkIdentifier, [BluetoothUUID])
    /// The peer's services in these handles are others now, and subscriptions in there are over.
    case servicesChanged(LinkIdentifier, ClosedRange<AttributeHandle>)

    // MARK: The GATT client

    /// The peer has notified or indicated a value.
    case value(LinkIdentifier, AttributeHandle, Payload)

    // MARK: The GATT server, for the user who published the service

    case written(LinkIdentifier, AttributeHandle, Payload)
    case readRequested(ServerRequest, AttributeHandle, offset: Int)
    case writeRequested(ServerRequest, AttributeHandle, Payload)
    indirect case executeRequested(ServerRequest, GATTPreparedWrites)
    /// The user did not answer in time; the peer was answered Unlikely Error.
    case requestExpired(ServerRequest)
    /// A peer began or ceased to listen to a value, or changed how.
    indirect case subscriptionChanged(LinkIdentifier, GATTSubscriptionChange)
}

/// What a shared host tells one user at a time: the events of one turn, in their order.
public struct EventBatch: Sendable {
    /// Whom the events are for.
    public let user: UserID
    public let events: [UserEvent]
    /// What `UserEvent.sighting` speaks of.
    public let sightings: [Sighting]
    @usableFromInline let arena: ByteWriter

    init(user: UserID, events: [UserEvent], sightings: [Sighting], arena: ByteWriter) {
        self.user = user
        self.events = events
        self.sightings = sightings
        self.arena = arena
    }

    /// The octets of an event.
    @inlinable
    @_lifetime(borrow self)
    public func bytes(of payload: Payload) -> Span<UInt8> {
        arena.span.extracting(payload.start..<(payload.start &+ payload.count))
    }
}
