import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// An event that the host reports, grouped by subject. The bytes of an event are stored in the queue that it came from:
/// see `HostEventQueue.octets(of:)`.
public enum HostEvent: Sendable {
    /// An event of the controller, or of an activity that is not part of a link.
    case controller(Controller)
    /// An advertising report was received.
    case advertisement(Advertisement)
    /// An event of periodic advertising that this device receives, or tries to receive.
    case periodic(PeriodicSyncIdentifier, Periodic)
    /// An event of the subevents of this device's periodic advertising.
    case subevents(AdvertisingHandle, Subevents)
    /// An event of a link.
    case link(LinkIdentifier, Link)
    /// An event of the GATT client of a link.
    case client(LinkIdentifier, Client)
    /// An event of the GATT server of a link.
    case server(LinkIdentifier, Server)
    /// An event of a credit-based channel of a link.
    case channel(LinkIdentifier, Channel)
    /// An event of the security of a link.
    indirect case security(LinkIdentifier, Security)
    /// A bond was created or has changed. The caller must store it.
    indirect case bondChanged(Bond)
    /// A pairing has created a bond, on a host with `HostConfiguration.storesBonds`. The caller must store it, and then
    /// call `Host.bondWritten`.
    indirect case bondMade(MadeBond)
    /// A bond is void, because storing it took too long. The caller must remove it from the store.
    indirect case bondVoid(Bond)

    /// Events of the controller, and of activities that are not part of a link.
    public enum Controller: Sendable {
        /// The controller is up. Reported after every bring-up, including one after a reset.
        case ready
        /// The controller failed and is being reset. All links have ended. Scanning and advertising resume
        /// automatically.
        case resetting(HostResetCause)
        /// The controller has failed, and the host no longer uses it.
        case failed(HostFailure)
        /// The scan ended, because the controller refused it or was lost.
        case scanningFailed(HostError)
        /// The set requested by `Host.startAdvertising` is on the air. Not repeated when advertising resumes after a
        /// connection or a reset.
        case advertisingStarted(AdvertisingHandle)
        /// The set ended, because the controller refused or cannot support it, or was lost.
        case advertisingFailed(AdvertisingHandle, HostError)
        /// The set ended, because its duration or its maximum number of advertising events was reached.
        case advertisingEnded(AdvertisingHandle)
        /// An attempt to connect ended without a link.
        case connectionFailed(ConnectionAttempt, HostError)
    }

    /// Events of a link.
    public enum Link: Sendable {
        /// The link is established. On a central, by this attempt to connect.
        case connected(ConnectionAttempt?)
        /// The link has ended. All pending operations on it have ended before this event.
        case disconnected(HCIStatus)
        /// The connection parameters have changed, at the request of either side.
        case parametersChanged(CurrentConnectionParameters)
        /// The PHYs have changed, at the request of either side.
        case phyChanged(LinkPHYs)
        /// The ATT_MTU has been exchanged. Its value is in octets.
        case mtuChanged(Int)
        /// The strength of the signal that the controller receives from the peer, in dBm; 127 if it is not available.
        case rssiRead(RequestIdentifier, Int8)
        /// The transmit power of this device or of the peer, as requested.
        indirect case transmitPowerRead(RequestIdentifier, LinkTransmitPower)
        /// The transmit power, or the path loss zone, has changed.
        indirect case power(LinkPowerEvent)
        /// A request to the controller or to the peer was carried out.
        case requestCompleted(RequestIdentifier)
        /// A request to the controller or to the peer failed.
        case requestFailed(RequestIdentifier, HostError)
        /// The send queue, which was full, has room again.
        case readyToSend
        /// Data in the stream of this link was lost, between the previous event and the next one.
        case lost(LinkLoss)
        /// The peer turned out to be known already under a different `PeerID`. Later links will have this `PeerID`.
        /// This link keeps its own, and calls with either one reach the peer.
        case peerIdentified(PeerID)
    }

    /// Events of the GATT client.
    public enum Client: Sendable {
        /// The server notified a value.
        case notification(AttributeHandle, Payload)
        /// The server indicated a value, which has been confirmed.
        case indication(AttributeHandle, Payload)
        /// An operation started with `Host.start` has ended.
        case operationEnded(GATTClientEvent)
    }

    /// Events of a credit-based channel.
    public enum Channel: Sendable {
        /// The peer sent an SDU. It occupies the channel's window until `Host.consume` is called for it. A peer that
        /// has used up the window has to wait.
        case received(CreditBasedChannel.ID, Payload)
        /// The channel is open, as one side requested.
        indirect case opened(CreditBasedChannel.ID, ChannelInformation, by: ChannelOpener)
        /// The channel requested by `Host.openChannel` or `Host.openChannels` could not be opened.
        case openingFailed(CreditBasedChannel.ID, ChannelOpeningFailure)
        /// The channel, which had too much data waiting, has room again.
        case readyToSend(CreditBasedChannel.ID)
        /// The peer has changed the maximum length of SDUs or K-frames that it accepts.
        case limitsChanged(CreditBasedChannel.ID)
        /// `Host.reconfigure` has ended; nil if it succeeded.
        indirect case reconfigured([CreditBasedChannel.ID], ChannelReconfigurationFailure?)
        /// The channel is closed.
        case closed(CreditBasedChannel.ID, ChannelEnd)
    }

    /// Events of the security of a link.
    public enum Security: Sendable {
        /// The link's security has changed.
        case changed(LinkSecurity)
        /// The peer, a peripheral, requests security that no bond provides. Call `Host.pair`, or ignore the request.
        case requested(AuthenticationRequirements)
        /// The application must answer with `Host.answerPairing`.
        case asked(PairingQuestion)
        /// The application must show this to the user.
        case shown(PairingDisplay)
        /// Pairing has succeeded. `isBonded` states whether the keys are kept as a bond.
        case paired(KeyStrength, isBonded: Bool)
        case pairingFailed(PairingError)
        /// The link could not be encrypted with the key of the bond. The link ends. The bond is kept.
        case encryptionFailed(HCIStatus)
    }

    /// Events of the GATT server.
    public enum Server: Sendable {
        /// The peer wrote a value, and has received the response if it needs one.
        case valueWritten(AttributeHandle, Payload)
        /// The application must provide a value, starting at `offset`: `Host.answer` or `.refuse`.
        case readRequested(ServerRequest, AttributeHandle, offset: Int)
        /// The application must accept a value or refuse it: `Host.accept` or `.refuse`.
        case writeRequested(ServerRequest, AttributeHandle, Payload)
        /// The application must accept several writes as a whole or refuse them: `Host.accept` or `.refuse`.
        case executeRequested(ServerRequest, GATTPreparedWrites)
        /// The application must decide whether the peer may access an attribute: `Host.authorize` or `.refuse`.
        case authorizationRequested(ServerRequest, AttributeHandle, GATTAccess)
        /// The application did not answer in time, or the bearer was closed. The request can no longer be answered.
        case requestExpired(ServerRequest)
        /// The peer has subscribed to a characteristic, or unsubscribed from it.
        case subscriptionChanged(GATTSubscriptionChange)
        /// The peer has confirmed an indication.
        case indicationConfirmed(AttributeHandle)
    }
}

/// A loss of data that the peer sent over a link.
public enum LinkLoss: Equatable, Sendable {
    /// An L2CAP frame was still incomplete when the next one began.
    case frameInterrupted
    /// Fragments did not form a frame: a continuation without a start, more data than the L2CAP header announced, a
    /// frame longer than any channel accepts, or a packet with a wrong length or flags.
    case fragmentInvalid
    /// An ATT PDU could not be decoded.
    case attributePDUInvalid
    /// An ATT PDU was longer than the ATT_MTU (Core 5.4, Vol 3, Part F, 3.2.8). If it was an indication, the host has
    /// confirmed it anyway. Without a confirmation, the peer must not send another indication, and its transaction
    /// times out after 30 seconds.
    case attributePDUTooLong
    /// An enhanced ATT bearer was closed, while the link continues. Values that the peer had queued on the bearer may
    /// never arrive (Core 5.4, Vol 3, Part F, 3.2.11).
    case bearerClosed
}

/// The reason why the controller is being reset.
@nonexhaustive
public enum HostResetCause: Equatable, Sendable {
    /// The controller reported a hardware error with this code (Core 5.4, Vol 4, Part E, 7.7.16).
    case hardwareError(UInt8)
    /// The controller did not answer this command in time.
    case commandTimedOut(HCIOpcode)
    /// The controller sent a malformed HCI packet, or an event whose length field is wrong.
    case malformedPacket
}

extension HostResetCause: CustomStringConvertible {
    /// The cause in words, such as "the controller reported hardware error 3".
    public var description: String {
        switch self {
        case .hardwareError(let code): "the controller reported hardware error \(code)"
        case .commandTimedOut(let opcode): "the controller did not answer \(opcode)"
        case .malformedPacket: "the controller sent a malformed HCI packet"
        }
    }
}

/// An advertising event, as reported by the controller.
public struct Advertisement: Equatable, Sendable {
    /// The properties of the advertising event, which also identify a scan response.
    public var type: AdvertisingEventType
    /// The advertiser's address. For anonymous advertising, the result of `AdvertisingReport.anonymousAddress(_:sid:)`.
    public var address: DeviceAddress
    /// The advertiser.
    public var peer: PeerID
    /// The signal strength in dBm; 127 if it is not available.
    public var rssi: Int8
    /// The transmit power in the packet, in dBm; 127 if the packet does not contain it.
    public var txPowerLevel: Int8 = 127
    /// The other contents of the report.
    public var details = AdvertisingDetails.legacy
    /// The AD structures.
    public var data: Payload
}
