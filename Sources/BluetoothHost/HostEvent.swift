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

    /// A peer was heard advertising.
    case advertisement(Advertisement)
    /// The controller refused to scan; nothing is scanned for any more.
    case scanningFailed(HostError)
    /// What `Host.startAdvertising` asked for is on the air. Not told again when it goes on after a connection or a
    /// reset.
    case advertisingStarted
    /// The controller refused to advertise; nothing is advertised any more.
    case advertisingFailed(HostError)

    // MARK: Links

    /// A link is there and the peer was heard on it; as a central, the attempt that led to it.
    case connected(LinkIdentifier, ConnectionAttempt?)
    /// An attempt to connect is over, without a link.
    case connectionFailed(ConnectionAttempt, HostError)
    /// A link that was reported as connected is gone; everything that waited for it has been told before.
    case disconnected(LinkIdentifier, HCIStatus)
    /// The connection parameters of a link have changed, whoever asked for that.
    case parametersChanged(LinkIdentifier, CurrentConnectionParameters)
    /// How strongly the controller hears the peer, in dBm; 127 where it could not tell.
    case rssiRead(RequestIdentifier, Int8)
    /// A request to the controller or to the peer has been carried out.
    case requestCompleted(RequestIdentifier)
    /// A request to the controller or to the peer has come to nothing.
    case requestFailed(RequestIdentifier, HostError)

    // MARK: The GATT client

    /// The ATT_MTU of a link, in octets, has been exchanged.
    case mtuChanged(LinkIdentifier, Int)
    /// A server sent a value.
    case notification(LinkIdentifier, AttributeHandle, Payload)
    /// A server sent a value, and was told that it arrived.
    case indication(LinkIdentifier, AttributeHandle, Payload)
    /// An operation begun with `Host.start` is over.
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
    /// A client began or ceased to listen to a value.
    case subscriptionChanged(LinkIdentifier, GATTSubscriptionChange)
    /// A client has received the indication of a value; the next may be sent.
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
    /// The controller sent something that is no HCI packet, or an event of another length than it says.
    case malformedPacket
}

extension HostResetCause: CustomStringConvertible {
    public var description: String {
        switch self {
        case .hardwareError(let code): "the controller reported hardware error \(code)"
        case .commandTimedOut(let opcode): "the controller did not answer \(opcode)"
        case .malformedPacket: "the controller sent what is no HCI packet"
        }
    }
}

/// One advertising event as the controller reported it.
public struct Advertisement: Equatable, Sendable {
    /// What was received: which kind of advertising, or a scan response.
    public var type: AdvertisingEventType
    /// The advertiser.
    public var address: DeviceAddress
    /// In dBm; 127 where the controller could not tell.
    public var rssi: Int8
    /// The AD structures.
    public var data: Payload
}
