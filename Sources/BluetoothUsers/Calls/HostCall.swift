import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP

/// Names one user of a shared host: an adapter of the asynchronous API, a manager of Core Bluetooth, a gateway.
public struct UserID: Hashable, Sendable {
    public let number: UInt32

    public init(number: UInt32) { self.number = number }
}

/// Names a call among those of its user. The user chooses it, and does not reuse it while it is in use.
public struct CallToken: Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// For a call without a result: no event is sent.
    public static let none = CallToken(rawValue: 0)
}

/// A request of a user to a shared host.
///
/// A call is a value, so it can be made on any thread and carried out on another. It ends with exactly one
/// `UserEvent.ended` with its token, unless the token is `.none`.
public struct HostCall: Sendable {
    public var user: UserID
    public var token: CallToken
    public var kind: Kind
    /// Whether a call of the GATT client keeps the order of the user's calls on its link: it begins when the earlier ones have
    /// ended. If not, it begins at once, and only operations with the same attribute keep their order, where a link has several
    /// ATT bearers. A caller that waits for each call before it makes the next one needs no other order.
    public var keepsOrder: Bool
    /// How many `UserEvent.servicesChanged` of the link the user knew of when it made the call, those before it attached included
    /// (`LinkInformation.serviceChanges`). What concerns attributes that have changed since is not carried out, and ends with
    /// `servicesChanged`: a call and a change may cross. Nil where the user does not count.
    public var knownChanges: UInt32?

    public init(
        user: UserID, token: CallToken = .none, kind: Kind, keepsOrder: Bool = true, knownChanges: UInt32? = nil
    ) {
        self.user = user
        self.token = token
        self.kind = kind
        self.keepsOrder = keepsOrder
        self.knownChanges = knownChanges
    }

    // The rare cases are indirect, which keeps the frequent ones small.
    public enum Kind: Sendable {
        // MARK: The user itself

        /// The user begins. It receives a snapshot: the adapter's status, the links, known names.
        case attach
        /// The user ends, with its calls, scans, advertising, services and its use of links. No event follows.
        case detach
        /// Cancels what the token stands for: a call, which ends with `.cancelled` unless it has ended; a scan; an
        /// advertisement; a subscription. No other event follows.
        case cancel

        // MARK: Until further notice

        /// Scans. `UserEvent.sighting` follows for each matching device, until the token is cancelled. It ends only
        /// with an error.
        indirect case scan(ScanFilter, ScanParameters)
        /// Advertises together with other users, until the token is cancelled or the same user advertises something
        /// else. Ends with `.done` once it is on the air.
        indirect case advertise(AdvertisingRequest)

        /// Advertises a set of the user's own, beside all others, until the token is cancelled. Ends with `.done` once it is on the
        /// air; `UserEvent.advertisingSetEnded` follows where it ends by itself. More than one takes a controller with the extended
        /// commands.
        indirect case advertiseSet(AdvertisingParameters)

        /// Changes what a set of this user advertises; ends with `.done` once it is on the air. Who is synchronized to its periodic
        /// advertising stays so where only that data changes, see `AdvertisingParameters.periodic`.
        indirect case changeSet(CallToken, AdvertisingParameters)
        /// Sets what subevents of a set say, see `Host.setSubeventData`; ends with `.done`.
        indirect case setSubeventData(CallToken, [PeriodicSubeventData])

        /// Receives periodic advertising, see `Host.synchronize`. Ends with `.sync`; `UserEvent.periodic` follows until it ends, or
        /// the token is cancelled.
        indirect case synchronize([PeriodicAdvertiser], PeriodicSyncParameters, timeout: Duration?)
        indirect case sync(PeriodicSyncIdentifier, SyncCall)

        // MARK: Links

        /// Tells the peer of periodic advertising, with a value that is up to the applications; ends with `.done`.
        indirect case transfer(LinkIdentifier, TransferredPeriodicAdvertising, serviceData: UInt16)
        /// Receives the periodic advertising of which the peer tells, or with nil none; ends with `.done`. From then on
        /// `UserEvent.Periodic.transferred` follows for each.
        indirect case acceptTransfers(LinkIdentifier, PeriodicSyncParameters?)
        /// Connects to a peer, or joins the users of an existing link; ends with `.link` once ATT_MTU is settled.
        indirect case connect(PeerID, ConnectRequest)
        /// The user releases the link. The host ends a link that it made as a central after its last user.
        case release(LinkIdentifier)
        /// Drops the user's calls on a link that wait for their turn; they end with `.cancelled`, and values are not sent.
        case abandon(LinkIdentifier)
        /// Ends a link for all its users; ends with `.done` when the link is gone.
        ///
        /// - Parameter reason: the reason that `UserEvent.linkEnded` gives; nil for that of the controller.
        case disconnect(LinkIdentifier, reason: DisconnectReason?)
        /// Ends with `.rssi`.
        case readRSSI(LinkIdentifier)
        /// Ends with `.done` when the new connection parameters apply.
        indirect case updateParameters(LinkIdentifier, ConnectionParameters)
        /// Ends with `.done` when the controllers have agreed on PHYs, see `Host.setPreferredPHYs`.
        case setPreferredPHYs(LinkIdentifier, LEPHYs, LEPHYOptions)
        /// Reads or watches the power on a link, or how much of the signal is lost on its way.
        case power(LinkIdentifier, PowerCall)
        /// The user falls behind with values of this link. With controller-to-host flow control, no more are let
        /// through until all users that held the link have resumed or released it. Otherwise this has no effect.
        case holdReceiving(LinkIdentifier)
        case resumeReceiving(LinkIdentifier)

        // MARK: Security

        /// The user answers for the person in pairing, or no longer does, with nil. There is one such user: the last one that
        /// said so. What waits for an answer of the one before is called off. Without one the host does not pair.
        indirect case setPairingAgent(PairingAgentDescription?)
        /// Pairs with the peer of a link, or encrypts the link where there is a bond that gives what is asked for; ends with
        /// `.done` when the link is protected.
        indirect case pair(LinkIdentifier, PairRequest)
        /// Answers `UserEvent.pairingAsked`.
        indirect case answerPairing(LinkIdentifier, PairingAnswer)
        /// Tells the peer what the person does while entering the passkey.
        case pressKey(LinkIdentifier, KeypressNotification)
        /// Calls the pairing on a link off.
        case cancelPairing(LinkIdentifier)
        /// The user decides who may have this device's Encrypted Data Key Material, or no longer does; ends with `.done`. There is one
        /// such user: the last one that said so. `UserEvent.authorizationRequested` asks. Without one nobody gets it.
        case answerKeyMaterialRequests(Bool)
        /// Changes the Encrypted Data Key Material, see `Host.setEncryptedDataKeyMaterial`; ends with `.done`.
        case setKeyMaterial([UInt8])
        /// Ends with `.outOfBandData`: what a peer is to get of this device by another way than Bluetooth.
        case makeOutOfBandData
        /// Ends with `.bonds`.
        case bonds
        /// Forgets the keys of a peer; ends with `.done`, or with `.notBonded`.
        case removeBond(PeerID)
        /// Forgets what was discovered of a peer's server, with and without a link, so that it is discovered anew; ends with
        /// `.done`.
        case forgetAttributes(PeerID)

        // MARK: The GATT client

        /// Ends with `.gatt`. A user's operations on one link are carried out in the order of the calls, unless
        /// `HostCall.keepsOrder` is false; those of different users in any. Attributes that change while they are discovered are
        /// discovered anew, or, within a service, end with `servicesChanged`, as does what concerns attributes that change before
        /// its turn, or while they are read or written in parts.
        indirect case perform(LinkIdentifier, GATTClientOperation)
        /// Writes a value, in parts if it is longer than ATT_MTU less 3 octets; ends with `.gatt(.written)`.
        case write(LinkIdentifier, AttributeHandle, [UInt8])
        /// Writes a value without response. It takes a credit of the link, see `UserEvent.sendCredit`. A value for which the
        /// user has no credit waits for one.
        case writeWithoutResponse(LinkIdentifier, AttributeHandle, [UInt8])
        /// Writes a value without response, signed with the key of the bond where the link is not encrypted (Core 5.4, Vol 3,
        /// Part G, 4.9.2); ends with `.done` when it is on its way.
        case writeSigned(LinkIdentifier, AttributeHandle, [UInt8])
        /// Subscribes to a characteristic; ends with `.done`. From then on the token stands for the subscription. The
        /// peer's configuration is written for the first of several subscriptions, and again after the last is
        /// cancelled.
        case subscribe(LinkIdentifier, SubscriptionRequest)
        /// Ends the subscription of a token; ends with `.done` at once, or for the last one when the peer has answered.
        case unsubscribe(LinkIdentifier, CallToken)
        /// Ends all subscriptions of the user to a characteristic, by its value handle, as `unsubscribe` does.
        case unsubscribeAll(LinkIdentifier, AttributeHandle)
        /// Ends with `.done` when the user's earlier calls on the link have ended, and sends nothing.
        case awaitTurn(LinkIdentifier)

        // MARK: Channels

        /// Offers a service over L2CAP channels to all peers, with this SPSM or a free one; ends with `.listening`.
        /// `UserEvent.Channel.opened` follows for each channel that a peer opens.
        indirect case listen(UInt16?, ChannelListener)
        /// Offers a service no longer; ends with `.done`. Channels that are open stay so.
        case stopListening(UInt16)
        case channel(LinkIdentifier, ChannelCall)

        // MARK: The GATT server

        /// Adds a service to the database. The user receives its events. Ends with `.published`.
        indirect case publish(GATTServiceDefinition, at: AttributeHandle?)
        /// Adds services that may include each other, all or none of them. Ends with `.publishedAll`.
        indirect case publishAll([GATTServiceDefinition])
        /// Removes a service, by the handle of its declaration; ends with `.done`.
        case withdraw(AttributeHandle)
        /// Takes services with these declarations out of the database, all or none of them.
        case withdrawAll([AttributeHandle])
        /// Sets a value that the database keeps; ends with `.done`.
        case setValue([UInt8], of: AttributeHandle)
        /// Ends with `.value`, the one the database keeps; nil if it is dynamic.
        case readOwnValue(AttributeHandle)
        /// Sends a value to one subscriber, as a notification if it subscribed to those, otherwise as an indication. It
        /// takes a credit of the link until it is sent, or confirmed. A value too long for the link is cut.
        case update(LinkIdentifier, AttributeHandle, [UInt8])
        /// Sends a notification. It takes a credit of the link.
        case notify(LinkIdentifier, AttributeHandle, [UInt8])
        /// Sends an indication after earlier ones; ends with `.done` when the peer has confirmed it.
        case indicate(LinkIdentifier, AttributeHandle, [UInt8])
        /// Answers a request for a value; ends with `.done`, or with why the answer came too late.
        case answer(ServerRequest, [UInt8])
        case accept(ServerRequest)
        case refuse(ServerRequest, ATTErrorCode)
        /// Lets a peer access an attribute, as long as the link lasts.
        case authorize(ServerRequest)
    }
}

/// What the application that answers for the person can do.
public struct PairingAgentDescription: Equatable, Sendable {
    /// What it can show and take.
    public var ioCapability: IOCapability
    /// Whether keys are to be kept.
    public var isBonding: Bool
    /// Whether the host may begin to pair where a peer asks for it, or refuses an access that needs more protection. The peer's
    /// own wish to pair is put to the agent in any case.
    public var pairsOnDemand: Bool

    public init(ioCapability: IOCapability, isBonding: Bool = true, pairsOnDemand: Bool = true) {
        self.ioCapability = ioCapability
        self.isBonding = isBonding
        self.pairsOnDemand = pairsOnDemand
    }

    /// What this device brings into a pairing with this agent. Where no out-of-band data was made, a peer cannot have it.
    func parameters(_ request: PairRequest = PairRequest()) -> PairingParameters {
        PairingParameters(
            ioCapability: ioCapability, isBonding: isBonding, requiresAuthentication: request.requiresAuthentication,
            peerOutOfBandData: request.peerOutOfBandData, hasSentOutOfBandData: true)
    }
}

/// Which characteristic of a peer to subscribe to.
public struct SubscriptionRequest: Hashable, Sendable {
    /// The handle of the characteristic's value.
    public var characteristic: AttributeHandle
    /// The last handle of the characteristic: the search for its Client Characteristic Configuration ends there.
    public var end: AttributeHandle
    /// Notifications or indications.
    public var configuration: GATTClientConfiguration

    public init(characteristic: AttributeHandle, end: AttributeHandle, configuration: GATTClientConfiguration) {
        self.characteristic = characteristic
        self.end = end
        self.configuration = configuration
    }
}

/// The advertisement of a user.
public struct AdvertisingRequest: Sendable {
    public var advertisement: AdvertisementData
    /// The octets to send in place of `advertisement`, exactly as they are; nil to lay that out. While several users
    /// advertise, the merged data of all is laid out.
    public var octets: Octets?
    public var isConnectable: Bool
    /// The range the controller takes its interval from, 20 ms to 10.24 s.
    public var interval: ClosedRange<Duration>
    /// Whether to leave out what does not fit, the end of the name and then services from the last on, instead of
    /// refusing. This always happens while several users advertise.
    public var cutsToFit: Bool
    /// The one peer that may connect, see `AdvertisingParameters.peer`; nil for all. While other users advertise for other
    /// peers, everybody may.
    public var peer: PeerID?
    /// See `AdvertisingParameters.peerResolvesAddresses`.
    public var peerResolvesAddresses = true
    /// After how long it ends, see `AdvertisingParameters.duration`; nil for not by itself, but in limited discoverable
    /// mode.
    public var duration: Duration?

    public init(
        _ advertisement: AdvertisementData, isConnectable: Bool = true,
        interval: ClosedRange<Duration> = GAPTiming.advertisingFastInterval1, cutsToFit: Bool = false,
        peer: PeerID? = nil, duration: Duration? = nil
    ) {
        self.advertisement = advertisement
        self.isConnectable = isConnectable
        self.interval = interval
        self.cutsToFit = cutsToFit
        self.peer = peer
        self.duration = duration
    }

    /// Advertising data as it is on the air, at most 31 octets each (Core 5.4, Vol 6, Part B, 2.3.1).
    public struct Octets: Equatable, Sendable {
        public var advertisingData: [UInt8]
        public var scanResponseData: [UInt8]

        public init(advertisingData: [UInt8], scanResponseData: [UInt8] = []) {
            self.advertisingData = advertisingData
            self.scanResponseData = scanResponseData
        }
    }
}

/// The result of a call.
public enum CallResult: Sendable {
    case done
    case link(LinkIdentifier)
    /// In dBm; 127 if the controller could not measure it.
    case rssi(Int8)
    case transmitPower(LinkTransmitPower)
    case gatt(GATTClientResult)
    case published(GATTServiceHandles)
    /// In the order of the definitions.
    case publishedAll([GATTServiceHandles])
    case value([UInt8]?)
    case bonds([Bond])
    case outOfBandData(OutOfBandData)
    /// The SPSM of a service.
    case listening(UInt16)
    case channels(LinkIdentifier, [OpenedChannel])
    /// Periodic advertising that is received from now on.
    indirect case sync(PeriodicSyncIdentifier, PeriodicSyncInformation)
}
