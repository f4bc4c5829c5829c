import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP

/// Identifies one user of a shared host: an adapter of the asynchronous API, a Core Bluetooth manager, or a gateway.
public struct UserID: Hashable, Sendable {
    /// The number of the user, unique among the users of a shared host.
    public let number: UInt32

    /// Creates the ID of the user with this number.
    public init(number: UInt32) { self.number = number }
}

/// Identifies a call within its user. The user chooses the token and must not reuse it while it is in use.
public struct CallToken: Hashable, Sendable {
    /// The number that the user chose; 0 for `none`.
    public let rawValue: UInt64

    /// Creates a token from a number other than 0, which stands for `none`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The token of a call whose result is not needed: no event reports it.
    public static let none = CallToken(rawValue: 0)
}

/// A request from a user to a shared host.
///
/// A call is a value, so it can be made on any thread and carried out on another. It ends with exactly one
/// `UserEvent.ended` with its token, unless the token is `.none`.
public struct HostCall: Sendable {
    /// The user that makes the call, and receives its result.
    public var user: UserID
    /// The token that the result carries; `.none` if the result is not needed.
    public var token: CallToken
    /// The operation to carry out, with its arguments.
    public var kind: Kind
    /// Whether a GATT client call keeps the order of its user's calls on the link. If true, it starts when the earlier
    /// calls have ended. If false, it starts immediately; on a link with several ATT bearers, only operations on the
    /// same attribute then keep their order. A caller that waits for each call before it makes the next one needs no
    /// ordering.
    public var keepsOrder: Bool
    /// The number of `UserEvent.servicesChanged` events of the link that the user knew of when it made the call,
    /// including those before it attached (`LinkInformation.serviceChanges`). A call and a change may cross: if the
    /// call concerns attributes that have changed since, it is not carried out and ends with `servicesChanged`. Nil if
    /// the user does not count.
    public var knownChanges: UInt32?

    /// Creates a call. By default, its result is not reported, and it keeps the order of the calls on its link.
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
    /// The operations that a user can request. The comment of a case states the result with which the call ends.
    public enum Kind: Sendable {
        // MARK: Users

        /// Attaches the user. It receives a snapshot: the adapter's status, the links, and known names.
        case attach
        /// Detaches the user and ends its calls, scans, advertising, services and use of links. No event follows.
        case detach
        /// Cancels what the token identifies: a scan, an advertisement, a subscription, or a call, which ends with
        /// `.cancelled` if it has not ended yet. No other event follows.
        case cancel

        // MARK: Ongoing activities

        /// Scans until the token is cancelled. `UserEvent.sightings` follows with the matching devices. The call ends
        /// only with an error.
        indirect case scan(ScanFilter, ScanParameters)
        /// Advertises together with other users, until the token is cancelled or the same user advertises again. Ends
        /// with `.done` once it is on the air.
        indirect case advertise(AdvertisingRequest)

        /// Advertises with the user's own advertising set, independently of all others, until the token is cancelled.
        /// Ends with `.done` once it is on the air. `UserEvent.advertisingSetEnded` follows if the set ends without
        /// being cancelled. More than one set requires a controller that supports the extended advertising commands.
        indirect case advertiseSet(AdvertisingParameters)

        /// Changes what an advertising set of this user advertises; ends with `.done` once it is on the air. If only
        /// the periodic advertising data changes, scanners stay synchronized; see `AdvertisingParameters.periodic`.
        indirect case changeSet(CallToken, AdvertisingParameters)
        /// Sets the data of subevents of a set, see `Host.setSubeventData`; ends with `.done`.
        indirect case setSubeventData(CallToken, [PeriodicSubeventData])

        /// Synchronizes to periodic advertising, see `Host.synchronize`; ends with `.sync`. `UserEvent.periodic`
        /// follows until the sync ends or the token is cancelled.
        indirect case synchronize([PeriodicAdvertiser], PeriodicSyncParameters, timeout: Duration?)
        indirect case sync(PeriodicSyncIdentifier, SyncCall)

        // MARK: Links

        /// Transfers the synchronization information of periodic advertising to the peer, with application-defined
        /// service data; ends with `.done`.
        indirect case transfer(LinkIdentifier, TransferredPeriodicAdvertising, serviceData: UInt16)
        /// Accepts periodic advertising syncs that the peer transfers, or, with nil, stops accepting them; ends with
        /// `.done`. `UserEvent.Periodic.transferred` follows for each sync.
        indirect case acceptTransfers(LinkIdentifier, PeriodicSyncParameters?)
        /// Connects to a peer, or joins the users of an existing link; ends with `.link` once the ATT_MTU has been
        /// negotiated.
        indirect case connect(PeerID, ConnectRequest)
        /// Releases the link. The host disconnects a link that it established as the central when its last user
        /// releases it.
        case release(LinkIdentifier)
        /// Drops the user's calls on a link that wait for their turn. They end with `.cancelled`, and their values are
        /// not sent.
        case abandon(LinkIdentifier)
        /// Disconnects a link for all its users; ends with `.done` when the link has ended.
        ///
        /// - Parameter reason: the reason that `UserEvent.linkEnded` reports; nil for the controller's reason.
        case disconnect(LinkIdentifier, reason: DisconnectReason?)
        /// Reads the RSSI of the link; ends with `.rssi`.
        case readRSSI(LinkIdentifier)
        /// Changes the connection parameters; ends with `.done` when the new ones apply.
        indirect case updateParameters(LinkIdentifier, ConnectionParameters)
        /// Requests other PHYs; ends with `.done` when the controllers have agreed, see `Host.setPreferredPHYs`.
        case setPreferredPHYs(LinkIdentifier, LEPHYs, LEPHYOptions)
        /// Reads or monitors the transmit power or the path loss of a link.
        case power(LinkIdentifier, PowerCall)
        /// Reports that the user is falling behind with the values of this link. With controller-to-host flow control,
        /// the host lets no more values through until all users that held the link have resumed or released it.
        /// Otherwise, this has no effect.
        case holdReceiving(LinkIdentifier)
        case resumeReceiving(LinkIdentifier)

        // MARK: Security

        /// Makes the user the pairing agent, which answers pairing questions for the person, or, with nil, ends that
        /// role. Only the last user that made this call is the agent; pairings that wait for an answer from the
        /// previous one are cancelled. Without an agent, the host does not pair.
        indirect case setPairingAgent(PairingAgentDescription?)
        /// Pairs with the peer of a link, or encrypts the link if an existing bond meets the request; ends with `.done`
        /// when the link has the requested security.
        indirect case pair(LinkIdentifier, PairRequest)
        /// Answers `UserEvent.pairingAsked`.
        indirect case answerPairing(LinkIdentifier, PairingAnswer)
        /// Sends a Keypress Notification while the person enters the passkey.
        case pressKey(LinkIdentifier, KeypressNotification)
        /// Cancels the pairing on a link.
        case cancelPairing(LinkIdentifier)
        /// Makes the user decide which peers may read this device's Encrypted Data Key Material, or ends that role;
        /// ends with `.done`. Only the last user that requested the role has it. `UserEvent.authorizationRequested`
        /// asks that user. Without such a user, every peer is refused.
        case answerKeyMaterialRequests(Bool)
        /// Changes the Encrypted Data Key Material, see `Host.setEncryptedDataKeyMaterial`; ends with `.done`.
        case setKeyMaterial([UInt8])
        /// Creates out-of-band data, which a peer must receive through a channel other than Bluetooth; ends with
        /// `.outOfBandData`.
        case makeOutOfBandData
        /// Returns the host's bonds; ends with `.bonds`.
        case bonds
        /// Removes the bond with a peer; ends with `.done` or `.notBonded`.
        case removeBond(PeerID)
        /// Discards the cached attributes of a peer, whether or not it is connected, so that they are discovered again;
        /// ends with `.done`.
        case forgetAttributes(PeerID)

        // MARK: The GATT client

        /// Performs an operation; ends with `.gatt`. A user's operations on one link are carried out in the order of
        /// the calls, unless `HostCall.keepsOrder` is false. Operations of different users have no particular order.
        ///
        /// If the peer's services change during a discovery of all services, the discovery starts again. A discovery
        /// within a service ends with `servicesChanged`. So does an operation on attributes that change before its
        /// turn, or while they are read or written in parts.
        indirect case perform(LinkIdentifier, GATTClientOperation)
        /// Writes a value, in parts if it is longer than ATT_MTU minus 3 octets; ends with `.gatt(.written)`.
        case write(LinkIdentifier, AttributeHandle, [UInt8])
        /// Writes a value without response. It takes a credit of the link, see `UserEvent.sendCredit`. If the user has
        /// no credit, the value waits for one.
        case writeWithoutResponse(LinkIdentifier, AttributeHandle, [UInt8])
        /// Writes a value without response, signed with the bond's key if the link is not encrypted (Core 5.4, Vol 3,
        /// Part G, 4.9.2); ends with `.done` once it is queued for sending.
        case writeSigned(LinkIdentifier, AttributeHandle, [UInt8])
        /// Subscribes to a characteristic; ends with `.done`. The token then identifies the subscription. If several
        /// users subscribe, the peer's descriptor is written for the first subscription, and again after the last one
        /// is cancelled.
        case subscribe(LinkIdentifier, SubscriptionRequest)
        /// Ends the subscription of a token; ends with `.done` immediately, or, for the last subscription, when the
        /// peer has responded.
        case unsubscribe(LinkIdentifier, CallToken)
        /// Like `unsubscribe`, but ends all subscriptions of the user to a characteristic, given its value handle.
        case unsubscribeAll(LinkIdentifier, AttributeHandle)
        /// Sends nothing; ends with `.done` when the user's earlier calls on the link have ended.
        case awaitTurn(LinkIdentifier)

        // MARK: Channels

        /// Accepts L2CAP channels from all peers on this SPSM, or on a free one with nil; ends with `.listening`.
        /// `UserEvent.Channel.opened` follows for each channel that a peer opens.
        indirect case listen(UInt16?, ChannelListener)
        /// Stops accepting channels; ends with `.done`. Open channels are not affected.
        case stopListening(UInt16)
        case channel(LinkIdentifier, ChannelCall)

        // MARK: The GATT server

        /// Adds a service to the database; ends with `.published`. The user receives the events of the service.
        indirect case publish(GATTServiceDefinition, at: AttributeHandle?)
        /// Adds services that may include each other. Either all are added, or none. Ends with `.publishedAll`.
        indirect case publishAll([GATTServiceDefinition])
        /// Removes a service, given the handle of its declaration; ends with `.done`.
        case withdraw(AttributeHandle)
        /// Removes the services with these declarations. Either all are removed, or none. Ends with `.done`.
        case withdrawAll([AttributeHandle])
        /// Sets a value that the database stores; ends with `.done`.
        case setValue([UInt8], of: AttributeHandle)
        /// Reads a value that the database stores; ends with `.value`, which is nil if the value is dynamic.
        case readOwnValue(AttributeHandle)
        /// Sends a value to one subscriber: as a notification if it has subscribed to notifications, otherwise as an
        /// indication. It takes a credit of the link until it is sent, or confirmed. A value that is too long for the
        /// link is truncated.
        case update(LinkIdentifier, AttributeHandle, [UInt8])
        /// Sends a notification. It takes a credit of the link.
        case notify(LinkIdentifier, AttributeHandle, [UInt8])
        /// Sends an indication after earlier ones; ends with `.done` when the peer has confirmed it.
        case indicate(LinkIdentifier, AttributeHandle, [UInt8])
        /// Answers a request for a value; ends with `.done`, or with an error if the request has already ended.
        case answer(ServerRequest, [UInt8])
        case accept(ServerRequest)
        case refuse(ServerRequest, ATTErrorCode)
        /// Allows a peer to access an attribute for the lifetime of the link.
        case authorize(ServerRequest)
    }
}

/// The capabilities of a pairing agent, the user that answers pairing questions for the person.
public struct PairingAgentDescription: Equatable, Sendable {
    /// The input and output capabilities of the agent.
    public var ioCapability: IOCapability
    /// Whether keys are stored as a bond.
    public var isBonding: Bool
    /// Whether the host may start pairing when a peer requests security or refuses an access for lack of security. A
    /// pairing request from the peer is put to the agent in any case.
    public var pairsOnDemand: Bool
    /// Whether this device requests MITM protection in the pairings that it starts. Peers that cannot provide it still
    /// pair, unless it is required.
    public var requestsAuthentication: Bool

    /// Creates a description. By default, the agent bonds, and the host may start pairing on demand.
    public init(
        ioCapability: IOCapability, isBonding: Bool = true, pairsOnDemand: Bool = true,
        requestsAuthentication: Bool = false
    ) {
        self.ioCapability = ioCapability
        self.isBonding = isBonding
        self.pairsOnDemand = pairsOnDemand
        self.requestsAuthentication = requestsAuthentication
    }

    /// The pairing parameters of this device with this agent. `hasSentOutOfBandData` is always true: if this device
    /// created no out-of-band data, no peer can have any.
    func parameters(_ request: PairRequest = PairRequest()) -> PairingParameters {
        PairingParameters(
            ioCapability: ioCapability, isBonding: isBonding, requiresAuthentication: request.requiresAuthentication,
            requestsAuthentication: requestsAuthentication, peerOutOfBandData: request.peerOutOfBandData,
            hasSentOutOfBandData: true)
    }
}

/// Identifies the characteristic of a peer to subscribe to.
public struct SubscriptionRequest: Hashable, Sendable {
    /// The handle of the characteristic value.
    public var characteristic: AttributeHandle
    /// The last handle of the characteristic, where the search for its Client Characteristic Configuration descriptor
    /// ends.
    public var end: AttributeHandle
    /// Notifications or indications.
    public var configuration: GATTClientConfiguration

    /// Creates a request for the characteristic with this value handle.
    public init(characteristic: AttributeHandle, end: AttributeHandle, configuration: GATTClientConfiguration) {
        self.characteristic = characteristic
        self.end = end
        self.configuration = configuration
    }
}

/// A user's request to advertise.
public struct AdvertisingRequest: Sendable {
    /// The data to advertise. If it has no flags, LE General Discoverable Mode and BR/EDR Not Supported are set.
    public var advertisement: AdvertisementData
    /// The exact octets to send instead of `advertisement`; nil to encode `advertisement`. While several users
    /// advertise, their merged data is encoded instead.
    public var octets: Octets?
    /// Whether peers can connect. While several users advertise, one connectable request makes the advertising
    /// connectable for all.
    public var isConnectable: Bool
    /// The range from which the controller chooses the advertising interval, 20 ms to 10.24 s.
    public var interval: ClosedRange<Duration>
    /// Whether to omit data that does not fit instead of failing: the end of the name, then services, starting with the
    /// last one. Data is always omitted in this way while several users advertise.
    public var cutsToFit: Bool
    /// The only peer that may connect, see `AdvertisingParameters.peer`; nil for any peer. While other users advertise
    /// for other peers, any peer may connect.
    public var peer: PeerID?
    /// See `AdvertisingParameters.peerResolvesAddresses`.
    public var peerResolvesAddresses = true
    /// How long to advertise, see `AdvertisingParameters.duration`; nil for no limit, except in limited discoverable
    /// mode.
    public var duration: Duration?

    /// Creates a request. By default, advertising is connectable by any peer, with an interval of 30 to 60 ms.
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

    /// Advertising data in its format on the air, at most 31 octets each (Core 5.4, Vol 6, Part B, 2.3.1).
    public struct Octets: Equatable, Sendable {
        /// The AD structures in the advertising packets.
        public var advertisingData: [UInt8]
        /// The AD structures for active scanners, which request a scan response; empty for none.
        public var scanResponseData: [UInt8]

        /// Creates the data. Advertising fails with `.invalidParameters` if either part is longer than 31 octets.
        public init(
            advertisingData: some Collection<UInt8>, scanResponseData: some Collection<UInt8> = [UInt8]()
        ) {
            self.advertisingData = Array(advertisingData)
            self.scanResponseData = Array(scanResponseData)
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
    /// The sync with periodic advertising that has been established.
    indirect case sync(PeriodicSyncIdentifier, PeriodicSyncInformation)
}
