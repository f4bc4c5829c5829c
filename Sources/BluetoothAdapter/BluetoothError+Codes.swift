extension BluetoothError {
    /// Identifies a failure.
    public struct Code: Hashable, Sendable {
        private enum Name: String, Sendable {
            case transport
            case adapter
            case adapterClosed
            case adapterRemoved
            case disconnected
            case timedOut
            case answerLost
            case peerNotResponding
            case cancelled
            case att
            case notReady
            case alreadyConnected
            case connectionFailed
            case refusedByController
            case refusedByPeer
            case invalidParameters
            case tooManyPending
            case notSubscribed
            case insufficientSecurity
            case pairingFailed
            case bondNotStored
            case notBonded
            case channelRefused
            case channelReconfigurationFailed
            case channelClosed
            case syncEnded
            case requestExpired
            case invalidResponse
            case servicesChanged
            case dataLost
            case notFound
            case notSupported
            case valueTooLong
            case malformedValue
            case invalidDefinition
            case advertisingDataTooLong
            case overflow
            case messageIncomplete
            case messageTooLong
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// The transport could not be opened, or failed later. `underlyingError` is a `TransportError`.
        public static let transport = Code(.transport)

        /// The controller could not be used, or failed permanently. `underlyingError` is a `HostFailure`.
        public static let adapter = Code(.adapter)

        /// This program closed the adapter.
        public static let adapterClosed = Code(.adapterClosed)

        /// The controller was unplugged, or became unreachable, before or during the call. The adapter waits for it and
        /// reports `AdapterEvent.ready` when it is back. Connections that ended this way keep throwing this error.
        public static let adapterRemoved = Code(.adapterRemoved)

        /// The link ended before or during the call: see `disconnectReason`.
        public static let disconnected = Code(.disconnected)

        /// The deadline has passed.
        public static let timedOut = Code(.timedOut)

        /// The peer closed the channel of a request before it responded, and the link still exists. The request may
        /// have taken effect.
        public static let answerLost = Code(.answerLost)

        /// A link to the peer was established, but the peer did not respond before the deadline. The link was
        /// disconnected.
        public static let peerNotResponding = Code(.peerNotResponding)

        /// The task was cancelled.
        public static let cancelled = Code(.cancelled)

        /// The peer rejected a request: see `attError`.
        public static let att = Code(.att)

        /// The adapter is being opened or reset. Wait for `AdapterEvent.ready`.
        public static let notReady = Code(.notReady)

        /// A link to this peer, or an attempt to establish one, already exists.
        public static let alreadyConnected = Code(.alreadyConnected)

        /// Every attempt to connect failed before the link was established. Move closer to the peer.
        public static let connectionFailed = Code(.connectionFailed)

        /// The controller rejected a command: see `controllerStatus`.
        public static let refusedByController = Code(.refusedByController)

        /// The peer rejected the request.
        public static let refusedByPeer = Code(.refusedByPeer)

        /// A parameter is outside the range that the specification allows.
        public static let invalidParameters = Code(.invalidParameters)

        /// Too many calls are pending. Wait for some of them to end.
        public static let tooManyPending = Code(.tooManyPending)

        /// The peer has not subscribed to the value in this way: see `attribute`.
        public static let notSubscribed = Code(.notSubscribed)

        /// The link does not have the security that the value requires: see `missingSecurity`.
        public static let insufficientSecurity = Code(.insufficientSecurity)

        /// Pairing failed: see `pairingError`.
        public static let pairingFailed = Code(.pairingFailed)

        /// A change of a bond could not be stored. `underlyingError` is a `BondStoreError`; nil if the adapter was
        /// closed before the store answered.
        public static let bondNotStored = Code(.bondNotStored)

        /// There is no bond with this peer.
        public static let notBonded = Code(.notBonded)

        /// An L2CAP channel could not be opened. `underlyingError` is a `ChannelOpeningFailure`.
        public static let channelRefused = Code(.channelRefused)

        /// The limits of an L2CAP channel could not be changed. `underlyingError` is a `ChannelReconfigurationFailure`.
        public static let channelReconfigurationFailed = Code(.channelReconfigurationFailed)

        /// The L2CAP channel was closed: see `channelEnd`.
        public static let channelClosed = Code(.channelClosed)

        /// Periodic advertising is no longer received: see `syncEnd`.
        public static let syncEnded = Code(.syncEnded)

        /// The peer's request was already answered, or it timed out.
        public static let requestExpired = Code(.requestExpired)

        /// The peer violated the protocol in a response.
        public static let invalidResponse = Code(.invalidResponse)

        /// The peer's services have changed. Discover them again.
        public static let servicesChanged = Code(.servicesChanged)

        /// Data on the link was lost before this point, so the received data is incomplete.
        public static let dataLost = Code(.dataLost)

        /// The peer has no such service or characteristic: see `uuid`.
        public static let notFound = Code(.notFound)

        /// The controller, the peer or the characteristic does not support this: see `unsupported`.
        public static let notSupported = Code(.notSupported)

        /// A value is longer than its attribute or the link allows: see `maximumLength`.
        public static let valueTooLong = Code(.valueTooLong)

        /// A peer's value does not have the layout of the type with this `uuid`. `underlyingError` is a
        /// `DecodingFailure`.
        public static let malformedValue = Code(.malformedValue)

        /// A service cannot be published. `underlyingError` is a `GATTDatabaseError`.
        public static let invalidDefinition = Code(.invalidDefinition)

        /// The advertising data does not fit.
        public static let advertisingDataTooLong = Code(.advertisingDataTooLong)

        /// The consumer of a sequence was too slow, and elements were dropped.
        public static let overflow = Code(.overflow)

        /// A chunked message was interrupted: see `octetsReceived` and `interruption`.
        public static let messageIncomplete = Code(.messageIncomplete)

        /// A chunked message is longer than the receiver allows: see `maximumLength`.
        public static let messageTooLong = Code(.messageTooLong)
    }

    /// Identifies the failure.
    public var code: Code {
        switch kind {
        case .transport: .transport
        case .adapter: .adapter
        case .adapterClosed: .adapterClosed
        case .adapterRemoved: .adapterRemoved
        case .disconnected: .disconnected
        case .timedOut: .timedOut
        case .answerLost: .answerLost
        case .peerNotResponding: .peerNotResponding
        case .cancelled: .cancelled
        case .att: .att
        case .notReady: .notReady
        case .alreadyConnected: .alreadyConnected
        case .connectionFailed: .connectionFailed
        case .refusedByController: .refusedByController
        case .refusedByPeer: .refusedByPeer
        case .invalidParameters: .invalidParameters
        case .tooManyPending: .tooManyPending
        case .notSubscribed: .notSubscribed
        case .insufficientSecurity: .insufficientSecurity
        case .pairingFailed: .pairingFailed
        case .bondNotStored: .bondNotStored
        case .notBonded: .notBonded
        case .channelRefused: .channelRefused
        case .channelReconfigurationFailed: .channelReconfigurationFailed
        case .channelClosed: .channelClosed
        case .syncEnded: .syncEnded
        case .requestExpired: .requestExpired
        case .invalidResponse: .invalidResponse
        case .servicesChanged: .servicesChanged
        case .dataLost: .dataLost
        case .notFound: .notFound
        case .notSupported: .notSupported
        case .valueTooLong: .valueTooLong
        case .malformedValue: .malformedValue
        case .invalidDefinition: .invalidDefinition
        case .advertisingDataTooLong: .advertisingDataTooLong
        case .overflow: .overflow
        case .messageIncomplete: .messageIncomplete
        case .messageTooLong: .messageTooLong
        }
    }
}

extension BluetoothError.Code: CustomStringConvertible {
    /// The name of the code, such as `timedOut`.
    public var description: String { name.rawValue }
}
