import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT

/// Names one user of a shared host: an adapter of the asynchronous API, a manager of Core Bluetooth, a gateway.
public struct UserID: Hashable, Sendable {
    public let number: UInt32

    public init(number: UInt32) { self.number = number }
}

/// Names a call among those of its user. The user chooses it, and does not use it again while it stands for something.
public struct CallToken: Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Of a call whose result nobody wants to know: none is sent.
    public static let none = CallToken(rawValue: 0)
}

/// What a user wants of a shared host.
///
/// A call is a value, so it can be made on any thread and carried out on another. What comes of it is a
/// `UserEvent.ended` with its token, exactly once, unless the token is `.none`.
public struct HostCall: Sendable {
    public var user: UserID
    public var token: CallToken
    public var kind: Kind

    public init(user: UserID, token: CallToken = .none, kind: Kind) {
        self.user = user
        self.token = token
        self.kind = kind
    }

    // The rare cases are indirect, so that the frequent ones are small values.
    public enum Kind: Sendable {
        // MARK: The user itself

        /// The user begins. It is sent a snapshot of what there is: the adapter's status, the links, known names.
        case attach
        /// The user ends, and with it all it wanted: its calls, scans, advertising, services and its part in links. No
        /// event follows.
        case detach
        /// Calls off what the token stands for: a call, which ends with `.cancelled` unless it has ended; a scan; an
        /// advertisement; a subscription. Nothing else follows.
        case cancel

        // MARK: Until further notice

        /// Scans. `UserEvent.sighting` follows for each device that fits, until the token is cancelled. It ends only by
        /// failing.
        indirect case scan(ScanFilter, ScanParameters)
        /// Advertises beside what other users advertise, until the token is cancelled or the same user advertises
        /// something else. It ends with `.done` once it is on the air.
        indirect case advertise(AdvertisingRequest)

        // MARK: Links

        /// Connects to a peer, or joins the users of the link there is; ends with `.link` once ATT_MTU is settled.
        indirect case connect(PeerID, ConnectRequest)
        /// The user needs the link no more. The host ends a link that it made as a central after its last user.
        case release(LinkIdentifier)
        /// Ends a link for all its users; ends with `.done` when the link is gone.
        ///
        /// - Parameter reason: what `UserEvent.linkEnded` is to give as the reason; nil for that of the controller.
        case disconnect(LinkIdentifier, reason: DisconnectReason?)
        /// Ends with `.rssi`.
        case readRSSI(LinkIdentifier)
        /// Ends with `.done` when the new connection parameters hold.
        indirect case updateParameters(LinkIdentifier, ConnectionParameters)
        /// The user falls behind with values of this link: where the controller has flow control towards its host, no more
        /// are let through until all users who held the link have resumed it. Elsewhere it changes nothing.
        case holdReceiving(LinkIdentifier)
        case resumeReceiving(LinkIdentifier)

        // MARK: The GATT client

        /// Ends with `.gatt`. Operations on one link are carried out in the order of the calls.
        indirect case perform(LinkIdentifier, GATTClientOperation)
        /// Writes a value, in parts where it is longer than ATT_MTU less 3 octets; ends with `.gatt(.written)`.
        case write(LinkIdentifier, AttributeHandle, [UInt8])
        /// Writes a value that is not answered. It takes a credit of the link's, see `UserEvent.sendCredit`.
        case writeWithoutResponse(LinkIdentifier, AttributeHandle, [UInt8])
        /// Subscribes to a characteristic; ends with `.done`. The token stands for the subscription from then on. The peer
        /// is asked for the first of several subscriptions, and again after the last is cancelled.
        case subscribe(LinkIdentifier, SubscriptionRequest)
        /// Ends the subscription that a token stands for; ends with `.done` when the peer has agreed, where it was the
        /// last, or at once.
        case unsubscribe(LinkIdentifier, CallToken)

        // MARK: The GATT server

        /// Adds a service to the database. What peers do with it is sent to this user. Ends with `.published`.
        indirect case publish(GATTServiceDefinition, at: AttributeHandle?)
        /// Takes a service out, by the handle of its declaration; ends with `.done`.
        case withdraw(AttributeHandle)
        /// Sets a value that the database keeps; ends with `.done`.
        case setValue([UInt8], of: AttributeHandle)
        /// Ends with `.value`, of what the database keeps; nil for a dynamic one.
        case readOwnValue(AttributeHandle)
        /// Sends a value to one subscriber, as a notification where it asked for those, else as an indication. It takes a
        /// credit of the link's until it is sent, or confirmed. What is longer than the link carries is cut off.
        case update(LinkIdentifier, AttributeHandle, [UInt8])
        /// Sends a notification. It takes a credit of the link's.
        case notify(LinkIdentifier, AttributeHandle, [UInt8])
        /// Sends an indication after those before it; ends with `.done` when the peer has confirmed it.
        case indicate(LinkIdentifier, AttributeHandle, [UInt8])
        /// Answers a request for a value; ends with `.done`, or with why it could not be answered any more.
        case answer(ServerRequest, [UInt8])
        case accept(ServerRequest)
        case refuse(ServerRequest, ATTErrorCode)
    }
}

/// How to connect.
public struct ConnectRequest: Sendable {
    /// How long to try, from the call on; nil until the call is cancelled.
    public var timeout: Duration?
    /// How long to wait before the first try.
    public var delay: Duration

    public init(timeout: Duration? = nil, delay: Duration = .zero) {
        self.timeout = timeout
        self.delay = delay
    }
}

/// Which characteristic of a peer to subscribe to.
public struct SubscriptionRequest: Sendable {
    /// The handle of the characteristic's value.
    public var characteristic: AttributeHandle
    /// The last handle of the characteristic: its Client Characteristic Configuration is looked for up to there.
    public var end: AttributeHandle
    /// Notifications or indications.
    public var configuration: GATTClientConfiguration

    public init(characteristic: AttributeHandle, end: AttributeHandle, configuration: GATTClientConfiguration) {
        self.characteristic = characteristic
        self.end = end
        self.configuration = configuration
    }
}

/// What a user wants advertised.
public struct AdvertisingRequest: Sendable {
    public var advertisement: AdvertisementData
    public var isConnectable: Bool
    /// The range the controller takes its interval from, 20 ms to 10.24 s.
    public var interval: ClosedRange<Duration>
    /// Whether to leave out what does not fit, the end of the name and then services from the last on, instead of
    /// refusing. Where several users advertise at once, that is always done.
    public var cutsToFit: Bool

    public init(
        _ advertisement: AdvertisementData, isConnectable: Bool = true,
        interval: ClosedRange<Duration> = GAPTiming.advertisingFastInterval1, cutsToFit: Bool = false
    ) {
        self.advertisement = advertisement
        self.isConnectable = isConnectable
        self.interval = interval
        self.cutsToFit = cutsToFit
    }
}

/// What a call led to.
public enum CallResult: Sendable {
    case done
    case link(LinkIdentifier)
    /// In dBm; 127 where the controller could not tell.
    case rssi(Int8)
    case gatt(GATTClientResult)
    case published(GATTServiceHandles)
    case value([UInt8]?)
}
