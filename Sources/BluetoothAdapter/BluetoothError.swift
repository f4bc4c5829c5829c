import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP
import HCITransport

/// Why a call of this module did not give its result.
///
/// Every call ends: with its result, or with one of these when the link drops, the task is cancelled, the adapter is
/// lost or the deadline passes.
public enum BluetoothError: Error, Equatable, Sendable {
    /// The transport could not be opened, or failed later.
    case transport(TransportError)
    /// The controller could not be used, or was given up.
    case adapter(HostFailure)
    /// The adapter has been closed by this program.
    case adapterClosed
    /// The controller was unplugged, or became unreachable, during the call or before it. The adapter waits for it:
    /// `AdapterEvent.ready` reports its return. Connections that ended this way still throw this afterwards.
    case adapterRemoved
    /// The link ended while the call was pending, or was gone before it.
    case disconnected(DisconnectReason)
    /// The deadline has passed.
    case timedOut
    /// The peer closed the channel of a request before it answered, and the link goes on. Whether it has done what was asked
    /// is not known.
    case answerLost
    /// A link to the peer was made, but the peer did not answer before the deadline: the link was ended again.
    case peerNotResponding
    /// The task was cancelled.
    case cancelled
    /// The peer refused with an ATT error.
    case att(ATTError)
    /// The adapter is being opened or reset: wait for `AdapterEvent.ready`.
    case notReady
    /// There is a link to this peer already, or an attempt at one: use that.
    case alreadyConnected
    /// Every attempt to connect ended before the peer was reached: move closer to it.
    case connectionFailed
    /// The controller refused, with this status.
    case refusedByController(HCIStatus)
    /// The peer rejected the request.
    case refusedByPeer
    /// A parameter is outside what the specification allows.
    case invalidParameters
    /// Too many calls are pending: wait for some of them to end.
    case tooManyPending
    /// The peer has not subscribed to this value in this way.
    case notSubscribed(AttributeHandle)
    /// The link is not protected as the value requires; the code says what is missing.
    case insufficientSecurity(ATTErrorCode)
    /// Pairing failed.
    case pairingFailed(PairingError)
    /// The change of a bond could not be stored.
    case bondNotStored
    /// There is no bond with this peer.
    case notBonded
    /// An L2CAP channel could not be opened.
    case channelRefused(ChannelOpeningFailure)
    /// The limits of an L2CAP channel could not be changed.
    case channelReconfigurationFailed(ChannelReconfigurationFailure)
    /// The L2CAP channel has been closed.
    case channelClosed(ChannelEnd)
    /// Periodic advertising is not received any more.
    case syncEnded(PeriodicSyncEnd)
    /// The peer's request has been answered before, or was given up because no answer came in time.
    case requestExpired
    /// The peer broke the protocol in an answer.
    case invalidResponse(GATTClientError.InvalidResponse)
    /// The peer's services have changed: earlier discoveries are void, discover again.
    case servicesChanged
    /// Data of the link was lost before this point: what arrived is incomplete.
    case dataLost
    /// The peer's server has no such service or characteristic.
    case notFound(BluetoothUUID)
    /// The characteristic does not allow this.
    case notSupported(String)
    /// A value is longer than its attribute or the link allows.
    case valueTooLong(maximum: Int)
    /// A peer's value does not have the layout of the type it is decoded as; the UUID is the type's.
    case malformedValue(BluetoothUUID, DecodingFailure)
    /// A definition cannot be published; the text says why.
    case invalidDefinition(String)
    /// Advertising data does not fit; the text says by how much.
    case advertisingDataTooLong(String)
    /// The consumer of a sequence was too slow, and elements were dropped.
    case overflow
    /// A chunked message broke off after this many octets.
    case messageIncomplete(bytesReceived: Int, MessageInterruption)
    /// A chunked message is longer than the receiver allows.
    case messageTooLong(maximum: Int)
}

/// Why a chunked message broke off.
public enum MessageInterruption: Equatable, Sendable {
    /// The link ended.
    case disconnected(DisconnectReason)
    /// A part of the link's stream was lost. ATT has no sequence numbers: what followed would have looked whole.
    case dataLost
    /// No octet came for as long as the receiver waits for one.
    case stalled(Duration)
    /// The message took longer than the receiver allows.
    case tooSlow(Duration)
}
