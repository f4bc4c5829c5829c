import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import HCITransport

/// Why a call of this module did not give its result.
///
/// Every call ends: with its result, or with one of these when the link drops, the task is cancelled, the adapter goes or
/// the deadline passes.
public enum BluetoothError: Error, Equatable, Sendable {
    /// The transport could not be opened, or failed later.
    case transport(TransportError)
    /// The controller could not be used, or was given up.
    case adapter(HostFailure)
    /// The adapter has been closed by this program.
    case adapterClosed
    /// The adapter was unplugged, or is no longer to be reached, while the call was pending or before it. The adapter
    /// waits for it: `AdapterEvent.ready` tells when it is back. Connections that ended so throw this even then.
    case adapterRemoved
    /// The link ended while the call was pending, or was gone before it.
    case disconnected(DisconnectReason)
    /// The deadline has passed.
    case timedOut
    /// The task was cancelled.
    case cancelled
    /// The peer refused with an ATT error.
    case att(ATTError)
    /// The adapter is being opened or reset: wait for `AdapterEvent.ready`.
    case notReady
    /// There is a link to this peer already, or an attempt at one: use that.
    case alreadyConnected
    /// Every try to connect ended before the peer was reached: move closer to it.
    case connectionFailed
    /// The controller refused, with this status.
    case refusedByController(HCIStatus)
    /// The peer did not agree to what it was asked.
    case refusedByPeer
    /// A parameter is outside what the specification allows.
    case invalidParameters
    /// More is pending than is kept: wait for some of it to end.
    case tooManyPending
    /// The peer has not subscribed to this value, in this way.
    case notSubscribed(AttributeHandle)
    /// The link is not protected as the value demands; the code says what is missing.
    case insufficientSecurity(ATTErrorCode)
    /// The peer's request has been answered before, or was given up because no answer came in time.
    case requestExpired
    /// The peer broke the protocol in an answer.
    case invalidResponse(GATTClientError.InvalidResponse)
    /// The peer's services have changed: what was discovered before is void, discover again.
    case servicesChanged
    /// Something of the link's stream was lost before this point: what has come is not all there was.
    case dataLost
    /// The peer's server has no such service or characteristic.
    case notFound(BluetoothUUID)
    /// The characteristic does not allow this.
    case notSupported(String)
    /// A value is longer than its attribute or the link allows.
    case valueTooLong(maximum: Int)
    /// The value a peer sent is not laid out as the type asks for that it was to be decoded as; the UUID is the type's.
    case malformedValue(BluetoothUUID, DecodingFailure)
    /// A definition cannot be published; the text says why.
    case invalidDefinition(String)
    /// Advertising data does not fit; the text says by how much.
    case advertisingDataTooLong(String)
    /// The consumer of a sequence was so slow that elements had to be given up.
    case overflow
    /// A chunked message broke off: the link ended, or, where the reason is nil, a part of its stream was lost.
    case messageIncomplete(bytesReceived: Int, reason: DisconnectReason?)
    /// A chunked message is longer than the receiver allows.
    case messageTooLong(maximum: Int)
}
