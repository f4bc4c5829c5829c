import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP
import HCITransport

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
    public static func bondNotStored(_ cause: BondStoreError?) -> Self { Self(kind: .bondNotStored(cause)) }
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
    /// See `Code.notSupported`.
    public static func notSupported(_ what: Unsupported) -> Self { Self(kind: .notSupported(what)) }
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
    public static func messageIncomplete(octetsReceived: Int, interruption: MessageInterruption) -> Self {
        Self(kind: .messageIncomplete(octetsReceived: octetsReceived, interruption))
    }
    /// See `Code.messageTooLong`.
    public static func messageTooLong(maximum: Int) -> Self { Self(kind: .messageTooLong(maximum: maximum)) }

    package static func advertisingDataTooLong(_ what: ExcessiveAdvertisement) -> Self {
        Self(kind: .advertisingDataTooLong(what))
    }
}
