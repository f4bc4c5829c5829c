import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI

/// Something the host tells its caller. Bytes that belong to an event lie in the queue it came from: see
/// `HostEventQueue.bytes(of:)`.
public enum HostEvent: Sendable {
    // MARK: The adapter

    /// The controller is up. Told after every bring-up, so also after a reset.
    case ready
    /// The controller failed and is being reset; links are gone, scanning and advertising will resume by themselves.
    case resetting(HostResetCause)
    /// The controller was given up.
    case failed(HostFailure)

    // MARK: Scanning and advertising

    case advertisement(Advertisement)
    case scanningFailed(HostError)
    case advertisingStarted
    case advertisingFailed(HostError)

    // MARK: Links

    /// A link is there and the peer was heard on it; as a central, the attempt that led to it.
    case connected(LinkIdentifier, ConnectionAttempt?)
    case connectionFailed(ConnectionAttempt, HostError)
    /// A link that was reported as connected is gone; everything that waited for it has been told before.
    case disconnected(LinkIdentifier, HCIStatus)
    case parametersChanged(LinkIdentifier, CurrentConnectionParameters)
    case rssiRead(RequestIdentifier, Int8)
    /// A request to the controller or to the peer has been carried out.
    case requestCompleted(RequestIdentifier)
    case requestFailed(RequestIdentifier, HostError)

    // MARK: The GATT client

    case mtuChanged(LinkIdentifier, Int)
    case notification(LinkIdentifier, AttributeHandle, Payload)
    case indication(LinkIdentifier, AttributeHandle, Payload)
    case operationEnded(LinkIdentifier, GATTClientEvent)

    // MARK: The GATT server

    /// A peer wrote a value; it has been answered.
    case valueWritten(LinkIdentifier, AttributeHandle, Payload)
    /// The application is to give a value from `offset` on: `Host.answer` or `.refuse`.
    case readRequested(ServerRequest, AttributeHandle, offset: Int)
    /// The application is to take or refuse a value: `Host.accept` or `.refuse`.
    case writeRequested(ServerRequest, AttributeHandle, Payload)
    /// The application is to take or refuse several writes together: `Host.accept` or `.refuse`.
    case executeRequested(ServerRequest, GATTPreparedWrites)
    /// The application did not answer in time; the peer was told Unlikely Error.
    case requestExpired(ServerRequest)
    case subscriptionChanged(LinkIdentifier, GATTSubscriptionChange)
    case indicationConfirmed(LinkIdentifier, AttributeHandle)

    /// A link whose send queue was full has room again.
    case readyToSend(LinkIdentifier)
}

/// Why the controller is being reset.
public enum HostResetCause: Equatable, Sendable {
    /// The controller reported a hardware error with this code (Core 5.4, Vol 4, Part E, 7.7.16).
    case hardwareError(UInt8)
    /// The controller did not answer this command in time.
    case commandTimedOut(HCIOpcode)
}

/// One advertising event as the controller reported it.
public struct Advertisement: Equatable, Sendable {
    public var type: AdvertisingEventType
    public var address: DeviceAddress
    /// In dBm; 127 where the controller could not tell.
    public var rssi: Int8
    /// The AD structures.
    public var data: Payload
}
