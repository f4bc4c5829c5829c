import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// Something that happened, in groups by what it is about. Bytes that belong to an event lie in the queue it came from:
/// see `HostEventQueue.bytes(of:)`.
public enum HostEvent: Sendable {
    /// Something about the controller, and what it does that is not part of a link.
    case controller(Controller)
    /// A peer was received advertising.
    case advertisement(Advertisement)
    /// Something about periodic advertising that is received, or to be received.
    case periodic(PeriodicSyncIdentifier, Periodic)
    /// Something about the subevents of this device's periodic advertising.
    case subevents(AdvertisingHandle, Subevents)
    /// Something about one link.
    case link(LinkIdentifier, Link)
    /// Something the GATT client of one link received or finished.
    case client(LinkIdentifier, Client)
    /// Something the GATT server was asked for on one link.
    case server(LinkIdentifier, Server)
    /// Something about a credit-based channel of one link.
    case channel(LinkIdentifier, Channel)
    /// Something about the security of one link.
    indirect case security(LinkIdentifier, Security)
    /// A bond was made or has changed: the caller stores it.
    indirect case bondChanged(Bond)
    /// A pairing has led to a bond, on a host with `HostConfiguration.storesBonds`: the caller stores it and calls
    /// `Host.bondWritten`.
    indirect case bondMade(MadeBond)
    /// A bond is void, since storing it took too long: the caller removes it from where it is stored.
    indirect case bondVoid(Bond)

    /// What happened to the controller, or to something it does that is not part of a link.
    public enum Controller: Sendable {
        /// The controller is up. Follows every bring-up, so also a reset.
        case ready
        /// The controller failed and is being reset. Links are gone; scanning and advertising resume by themselves.
        case resetting(HostResetCause)
        /// The controller was given up.
        case failed(HostFailure)
        /// The controller refused to scan; the scan is no longer wanted.
        case scanningFailed(HostError)
        /// What `Host.startAdvertising` asked for is on the air, as this set. Not repeated when advertising resumes after a
        /// connection or a reset.
        case advertisingStarted(AdvertisingHandle)
        /// The controller refused to advertise this set, which is no longer wanted.
        case advertisingFailed(AdvertisingHandle, HostError)
        /// The time of a set is over, or it was sent as often as it was to be.
        case advertisingEnded(AdvertisingHandle)
        /// An attempt to connect ended without a link.
        case connectionFailed(ConnectionAttempt, HostError)
    }

    /// What happened to a link.
    public enum Link: Sendable {
        /// The link is established. For a central: by this attempt.
        case connected(ConnectionAttempt?)
        /// The link is gone. Everything that was pending on it has ended before.
        case disconnected(HCIStatus)
        /// The connection parameters have changed, whichever side asked for that.
        case parametersChanged(CurrentConnectionParameters)
        /// The PHYs have changed, whichever side asked for that.
        case phyChanged(LinkPHYs)
        /// The ATT_MTU, in octets, has been exchanged.
        case mtuChanged(Int)
        /// How strongly the controller receives the peer, in dBm; 127 where it could not tell.
        case rssiRead(RequestIdentifier, Int8)
        /// The power that this device or its peer sends with, whichever was asked for.
        indirect case transmitPowerRead(RequestIdentifier, LinkTransmitPower)
        /// The power on the link, or how much of the signal is lost, has changed.
        indirect case power(LinkPowerEvent)
        /// A request to the controller or to the peer has been carried out.
        case requestCompleted(RequestIdentifier)
        /// A request to the controller or to the peer has failed.
        case requestFailed(RequestIdentifier, HostError)
        /// The send queue, which was full, has room again.
        case readyToSend
        /// Data that belongs to the stream of this link was lost, between the event before this one and the next.
        case lost(LinkLoss)
        /// The peer turned out to be one that is known under another name. Later links will have this `PeerID`; this
        /// link keeps its own, and calls with either reach the peer.
        case peerIdentified(PeerID)
    }

    /// What the GATT client received or finished.
    public enum Client: Sendable {
        /// The server sent a value.
        case notification(AttributeHandle, Payload)
        /// The server sent a value, which has been confirmed.
        case indication(AttributeHandle, Payload)
        /// An operation begun with `Host.start` has ended.
        case operationEnded(GATTClientEvent)
    }

    /// What happened to a credit-based channel.
    public enum Channel: Sendable {
        /// The peer sent an SDU. It counts until `Host.consume` is called for it: a peer that is ahead by as much as the
        /// channel's window has to wait.
        case received(CreditBasedChannel.ID, Payload)
        /// It is open, as one side asked for.
        indirect case opened(CreditBasedChannel.ID, ChannelInformation, by: ChannelOpener)
        /// What `Host.openChannel` asked for did not come about.
        case openingFailed(CreditBasedChannel.ID, ChannelOpeningFailure)
        /// The channel, which had too much to send, has room again.
        case readyToSend(CreditBasedChannel.ID)
        /// The peer takes other SDUs or K-frames from now on.
        case limitsChanged(CreditBasedChannel.ID)
        /// `Host.reconfigure` has ended; nil where what was asked for holds.
        indirect case reconfigured([CreditBasedChannel.ID], ChannelReconfigurationFailure?)
        /// It is closed.
        case closed(CreditBasedChannel.ID, ChannelEnd)
    }

    /// What happened to the security of a link.
    public enum Security: Sendable {
        /// The link is protected in another way than before.
        case changed(LinkSecurity)
        /// The peer, a peripheral, asks for protection that no bond gives: `Host.pair`, or ignore it.
        case requested(AuthenticationRequirements)
        /// The application is to answer: `Host.answerPairing`.
        case asked(PairingQuestion)
        /// A person is to see this.
        case shown(PairingDisplay)
        /// Pairing has succeeded; whether the keys are kept as a bond.
        case paired(KeyStrength, isBonded: Bool)
        case pairingFailed(PairingError)
        /// The link could not be encrypted with the key of the bond. The link ends; the bond stays.
        case encryptionFailed(HCIStatus)
    }

    /// What the GATT server was asked for.
    public enum Server: Sendable {
        /// The peer wrote a value; it has been answered.
        case valueWritten(AttributeHandle, Payload)
        /// The application is to give a value from `offset` on: `Host.answer` or `.refuse`.
        case readRequested(ServerRequest, AttributeHandle, offset: Int)
        /// The application is to take a value: `Host.accept` or `.refuse`.
        case writeRequested(ServerRequest, AttributeHandle, Payload)
        /// The application is to take several writes at once: `Host.accept` or `.refuse`.
        case executeRequested(ServerRequest, GATTPreparedWrites)
        /// The application is to say whether the peer may access an attribute: `Host.authorize` or `.refuse`.
        case authorizationRequested(ServerRequest, AttributeHandle, GATTAccess)
        /// The application did not answer in time; an answer is no longer possible.
        case requestExpired(ServerRequest)
        /// The peer has subscribed to a characteristic or unsubscribed from it.
        case subscriptionChanged(GATTSubscriptionChange)
        /// The peer has confirmed an indication.
        case indicationConfirmed(AttributeHandle)
    }
}

/// What was lost of the data that came over a link.
public enum LinkLoss: Equatable, Sendable {
    /// An L2CAP frame was still incomplete when the next one began.
    case frameInterrupted
    /// Fragments did not make up a frame: a continuation without a start, more data than the L2CAP header announced, a
    /// frame longer than any channel takes, or a packet whose length or flags are wrong.
    case fragmentInvalid
    /// An ATT PDU could not be decoded.
    case attributePDUInvalid
    /// An ATT PDU was longer than the ATT_MTU (Core 5.4, Vol 3, Part F, 3.2.8). An indication has been confirmed all the
    /// same, since its sender may send nothing more before that, and gives up the bearer after 30 seconds.
    case attributePDUTooLong
    /// An enhanced ATT bearer was closed, and the link goes on: values that waited there at the peer may never come (Core 5.4,
    /// Vol 3, Part F, 3.2.11).
    case bearerClosed
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
    /// The address the advertiser used. Of an anonymous one: `AdvertisingReport.anonymousAddress(_:sid:)`.
    public var address: DeviceAddress
    /// The advertiser.
    public var peer: PeerID
    /// In dBm; 127 where the controller could not tell.
    public var rssi: Int8
    /// The transmit power in dBm that the packet says; 127 where it says none.
    public var txPowerLevel: Int8 = 127
    /// What else the report said.
    public var details = AdvertisingDetails.legacy
    /// The AD structures.
    public var data: Payload
}
