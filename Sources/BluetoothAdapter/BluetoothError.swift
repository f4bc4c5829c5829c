import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP
import HCITransport

/// The error of a call that did not return its result.
///
/// `code` identifies the failure, and the other properties give the details that belong to the code. A later version
/// may add codes, so a switch over them needs a `default`.
///
///     do throws(BluetoothError) {
///         try await connection.write([1], to: "2A39")
///     } catch {
///         switch error.code {
///         case .disconnected: print("the link is gone:", error.disconnectReason!)
///         case .att: print("the peer answered", error.attError!)
///         default: print(error)
///         }
///     }
public struct BluetoothError: Error, Equatable, Sendable {
    package let kind: Kind

    package init(kind: Kind) { self.kind = kind }

    /// The failure with its details. This module and those above it switch over it.
    package indirect enum Kind: Equatable, Sendable {
        case transport(TransportError)
        case adapter(HostFailure)
        case adapterClosed
        case adapterRemoved
        case disconnected(DisconnectReason)
        case timedOut
        case answerLost
        case peerNotResponding
        case cancelled
        case att(ATTError)
        case notReady
        case alreadyConnected
        case connectionFailed
        case refusedByController(HCIStatus)
        case refusedByPeer
        case invalidParameters
        case tooManyPending
        case notSubscribed(AttributeHandle)
        case insufficientSecurity(ATTErrorCode)
        case pairingFailed(PairingError)
        case bondNotStored
        case notBonded
        case channelRefused(ChannelOpeningFailure)
        case channelReconfigurationFailed(ChannelReconfigurationFailure)
        case channelClosed(ChannelEnd)
        case syncEnded(PeriodicSyncEnd)
        case requestExpired
        case invalidResponse(GATTClientError.InvalidResponse)
        case servicesChanged
        case dataLost
        case notFound(BluetoothUUID)
        case notSupported(Unsupported)
        case valueTooLong(maximum: Int)
        case malformedValue(BluetoothUUID, DecodingFailure)
        case invalidDefinition(GATTDatabaseError)
        case advertisingDataTooLong(ExcessiveAdvertisement)
        case overflow
        case messageIncomplete(bytesReceived: Int, MessageInterruption)
        case messageTooLong(maximum: Int)
    }

    /// A capability that is not supported.
    package enum Unsupported: Equatable, Sendable {
        /// The controller lacks a feature.
        case feature(ControllerFeature)
        /// The characteristic neither notifies nor indicates.
        case subscriptions
        /// A descriptor can be written neither without a response nor with a signature.
        case descriptorCommands
        /// The peer does not support Multiple Handle Value Notifications.
        case multipleNotifications
        /// The peer has not been informed yet that the services have changed.
        case outdatedPeer
    }

    /// The limit that advertising data exceeds.
    package enum ExcessiveAdvertisement: Equatable, Sendable {
        case payload(AdvertisingPayloadError)
        /// The controller accepts at most this number of octets.
        case controller(limit: Int)
    }
}

// MARK: - Codes

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

        /// A change of a bond could not be stored.
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

        /// The controller, the peer or the characteristic does not support this: see `missingFeature`.
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

// MARK: - Details

extension BluetoothError {
    /// The error of another module that caused this one.
    public var underlyingError: (any Error)? {
        switch kind {
        case .transport(let error): error
        case .adapter(let failure): failure
        case .att(let error): error
        case .refusedByController(let status): status
        case .pairingFailed(let error): error
        case .channelRefused(let failure): failure
        case .channelReconfigurationFailed(let failure): failure
        case .malformedValue(_, let failure): failure
        case .invalidDefinition(let error): error
        case .advertisingDataTooLong(.payload(let error)): error
        default: nil
        }
    }

    /// Why the link ended, with `.disconnected`.
    public var disconnectReason: DisconnectReason? {
        if case .disconnected(let reason) = kind { reason } else { nil }
    }

    /// The peer's Error Response, with `.att`.
    public var attError: ATTError? { if case .att(let error) = kind { error } else { nil } }

    /// How the peer violated the protocol: with `.invalidResponse`.
    public var invalidResponse: GATTClientError.InvalidResponse? {
        if case .invalidResponse(let what) = kind { what } else { nil }
    }

    /// The status that the controller returned, with `.refusedByController`.
    public var controllerStatus: HCIStatus? { if case .refusedByController(let status) = kind { status } else { nil } }

    /// Why pairing failed, with `.pairingFailed`.
    public var pairingError: PairingError? { if case .pairingFailed(let error) = kind { error } else { nil } }

    /// The security that the link lacks, as an ATT error code, with `.insufficientSecurity`.
    public var missingSecurity: ATTErrorCode? { if case .insufficientSecurity(let code) = kind { code } else { nil } }

    /// The local attribute that the peer has not subscribed to, with `.notSubscribed`.
    public var attribute: AttributeHandle? { if case .notSubscribed(let handle) = kind { handle } else { nil } }

    /// The UUID that was not found on the peer, with `.notFound`, or the UUID of the type that a value was decoded as,
    /// with `.malformedValue`.
    public var uuid: BluetoothUUID? {
        switch kind {
        case .notFound(let uuid), .malformedValue(let uuid, _): uuid
        default: nil
        }
    }

    /// The feature that the controller lacks, with `.notSupported`; nil if the peer or the characteristic is the
    /// reason.
    public var missingFeature: ControllerFeature? {
        if case .notSupported(.feature(let feature)) = kind { feature } else { nil }
    }

    /// The maximum length in octets, with `.valueTooLong` and `.messageTooLong`, and with `.advertisingDataTooLong` if
    /// the controller sets the limit.
    public var maximumLength: Int? {
        switch kind {
        case .valueTooLong(let maximum), .messageTooLong(let maximum): maximum
        case .advertisingDataTooLong(.controller(let limit)): limit
        default: nil
        }
    }

    /// The number of octets of a message that arrived before the interruption, with `.messageIncomplete`.
    public var octetsReceived: Int? { if case .messageIncomplete(let count, _) = kind { count } else { nil } }

    /// Why a message was interrupted, with `.messageIncomplete`.
    public var interruption: MessageInterruption? { if case .messageIncomplete(_, let why) = kind { why } else { nil } }

    /// How the channel was closed, with `.channelClosed`.
    public var channelEnd: ChannelEnd? { if case .channelClosed(let end) = kind { end } else { nil } }

    /// Why periodic advertising is no longer received, with `.syncEnded`.
    public var syncEnd: PeriodicSyncEnd? { if case .syncEnded(let end) = kind { end } else { nil } }
}

// MARK: - Making errors

/// Errors as this library throws them, for comparing with a caught error, and for code that replaces this library in a
/// test.
extension BluetoothError {
    /// See `Code.transport`.
    public static func transport(_ error: TransportError) -> Self { Self(kind: .transport(error)) }
    /// See `Code.adapter`.
    public static func adapter(_ failure: HostFailure) -> Self { Self(kind: .adapter(failure)) }
    /// See `Code.adapterClosed`.
    public static let adapterClosed = Self(kind: .adapterClosed)
    /// See `Code.adapterRemoved`.
    public static let adapterRemoved = Self(kind: .adapterRemoved)
    /// See `Code.disconnected`.
    public static func disconnected(_ reason: DisconnectReason) -> Self { Self(kind: .disconnected(reason)) }
    /// See `Code.timedOut`.
    public static let timedOut = Self(kind: .timedOut)
    /// See `Code.answerLost`.
    public static let answerLost = Self(kind: .answerLost)
    /// See `Code.peerNotResponding`.
    public static let peerNotResponding = Self(kind: .peerNotResponding)
    /// See `Code.cancelled`.
    public static let cancelled = Self(kind: .cancelled)
    /// See `Code.att`.
    public static func att(_ error: ATTError) -> Self { Self(kind: .att(error)) }
    /// See `Code.notReady`.
    public static let notReady = Self(kind: .notReady)
    /// See `Code.alreadyConnected`.
    public static let alreadyConnected = Self(kind: .alreadyConnected)
    /// See `Code.connectionFailed`.
    public static let connectionFailed = Self(kind: .connectionFailed)
    /// See `Code.refusedByController`.
    public static func refusedByController(_ status: HCIStatus) -> Self { Self(kind: .refusedByController(status)) }
    /// See `Code.refusedByPeer`.
    public static let refusedByPeer = Self(kind: .refusedByPeer)
    /// See `Code.invalidParameters`.
    public static let invalidParameters = Self(kind: .invalidParameters)
    /// See `Code.tooManyPending`.
    public static let tooManyPending = Self(kind: .tooManyPending)
    /// See `Code.notSubscribed`.
    public static func notSubscribed(_ attribute: AttributeHandle) -> Self { Self(kind: .notSubscribed(attribute)) }
    /// See `Code.insufficientSecurity`.
    public static func insufficientSecurity(_ code: ATTErrorCode) -> Self { Self(kind: .insufficientSecurity(code)) }
    /// See `Code.pairingFailed`.
    public static func pairingFailed(_ error: PairingError) -> Self { Self(kind: .pairingFailed(error)) }
    /// See `Code.bondNotStored`.
    public static let bondNotStored = Self(kind: .bondNotStored)
    /// See `Code.notBonded`.
    public static let notBonded = Self(kind: .notBonded)
    /// See `Code.channelRefused`.
    public static func channelRefused(_ failure: ChannelOpeningFailure) -> Self { Self(kind: .channelRefused(failure)) }
    /// See `Code.channelReconfigurationFailed`.
    public static func channelReconfigurationFailed(_ failure: ChannelReconfigurationFailure) -> Self {
        Self(kind: .channelReconfigurationFailed(failure))
    }
    /// See `Code.channelClosed`.
    public static func channelClosed(_ end: ChannelEnd) -> Self { Self(kind: .channelClosed(end)) }
    /// See `Code.syncEnded`.
    public static func syncEnded(_ end: PeriodicSyncEnd) -> Self { Self(kind: .syncEnded(end)) }
    /// See `Code.requestExpired`.
    public static let requestExpired = Self(kind: .requestExpired)
    /// See `Code.invalidResponse`.
    public static func invalidResponse(_ what: GATTClientError.InvalidResponse) -> Self {
        Self(kind: .invalidResponse(what))
    }
    /// See `Code.servicesChanged`.
    public static let servicesChanged = Self(kind: .servicesChanged)
    /// See `Code.dataLost`.
    public static let dataLost = Self(kind: .dataLost)
    /// See `Code.notFound`.
    public static func notFound(_ uuid: BluetoothUUID) -> Self { Self(kind: .notFound(uuid)) }
    /// See `Code.notSupported`.
    public static func notSupported(_ feature: ControllerFeature) -> Self {
        Self(kind: .notSupported(.feature(feature)))
    }
    /// See `Code.valueTooLong`.
    public static func valueTooLong(maximum: Int) -> Self { Self(kind: .valueTooLong(maximum: maximum)) }
    /// See `Code.malformedValue`.
    public static func malformedValue(_ uuid: BluetoothUUID, _ failure: DecodingFailure) -> Self {
        Self(kind: .malformedValue(uuid, failure))
    }
    /// See `Code.invalidDefinition`.
    public static func invalidDefinition(_ error: GATTDatabaseError) -> Self { Self(kind: .invalidDefinition(error)) }
    /// See `Code.overflow`.
    public static let overflow = Self(kind: .overflow)
    /// See `Code.messageIncomplete`.
    public static func messageIncomplete(bytesReceived octets: Int, _ why: MessageInterruption) -> Self {
        Self(kind: .messageIncomplete(bytesReceived: octets, why))
    }
    /// See `Code.messageTooLong`.
    public static func messageTooLong(maximum: Int) -> Self { Self(kind: .messageTooLong(maximum: maximum)) }

    package static func notSupported(_ what: Unsupported) -> Self { Self(kind: .notSupported(what)) }
    package static func advertisingDataTooLong(_ what: ExcessiveAdvertisement) -> Self {
        Self(kind: .advertisingDataTooLong(what))
    }
}

/// Why a chunked message was interrupted.
public enum MessageInterruption: Equatable, Sendable {
    /// The link ended.
    case disconnected(DisconnectReason)
    /// Part of the link's data was lost. ATT has no sequence numbers, so the remaining data would have looked complete.
    case dataLost
    /// No octet arrived for this duration.
    case stalled(Duration)
    /// The message took longer than the receiver allows, which is this duration.
    case tooSlow(Duration)
}
