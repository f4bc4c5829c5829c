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
        case bondNotStored(BondStoreError?)
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
        case messageIncomplete(octetsReceived: Int, MessageInterruption)
        case messageTooLong(maximum: Int)
    }

    /// A capability that the controller, the peer or a characteristic lacks. A later version may add capabilities.
    @nonexhaustive
    public enum Unsupported: Hashable, Sendable {
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

// MARK: - Details

extension BluetoothError {
    /// The error of another module that caused this one.
    public var underlyingError: (any Error)? {
        switch kind {
        case .transport(let error): error
        case .adapter(let failure): failure
        case .att(let error): error
        case .refusedByController(let status): status
        case .bondNotStored(let error?): error
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

    /// What is not supported, with `.notSupported`.
    public var unsupported: Unsupported? { if case .notSupported(let what) = kind { what } else { nil } }

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

/// Why a chunked message was interrupted.
@nonexhaustive
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
