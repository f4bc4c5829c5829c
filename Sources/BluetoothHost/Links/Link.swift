import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// One connection: everything the host keeps per peer. Both GATT roles share its attribute endpoint.
struct Link: Sendable {
    let identifier: LinkIdentifier
    /// False once the link is gone; see `LinkTable`.
    var isInUse = true
    let handle: ConnectionHandle
    let role: LinkRole
    /// When the controller reported it.
    let beginning: Instant
    /// The address the peer uses on this link, or its identity address if the controller has resolved that.
    let address: DeviceAddress
    /// The address this host uses on this link.
    let localAddress: DeviceAddress
    /// The peer, under the name it had when the link was made.
    let peer: PeerID
    /// The peer, under the name later links will have; differs from `peer` once that proves to be another name of it.
    var lastingPeer: PeerID
    var life: LinkLife
    /// What the peer's link layer can do, once it has said so.
    var remoteFeatures: LEFeatures = []
    var parameterNegotiation: ParameterNegotiation
    var phyNegotiation = PHYNegotiation()
    /// How long data packets are.
    var dataLength = LinkDataLength()
    var power = LinkPower()

    var reassembler: ACLReassembler
    var receiveCredit = ReceiveCredit()
    /// Whole L2CAP frames that wait for the controller's buffers.
    var sendQueue = PacketQueue(reservingCapacity: 0)
    /// How much of the first frame in `sendQueue` has gone to the controller.
    var sentOfFirst = 0
    /// Whether a send was refused since the queue was last short enough.
    var mustSignalReady = false

    var signalling: SignallingChannel
    /// The credit-based channel that sent last of those that wait.
    var lastSendingChannel: ChannelIdentifier = 0
    /// Both GATT roles. Its first channel is the link's fixed one, the others are those of `enhanced`.
    var endpoint = AttributeEndpoint()
    /// The enhanced ATT bearers.
    var enhanced = EnhancedBearers()
    /// How far this host is in asking the peer for some.
    var negotiation = BearerNegotiation()
    var protection: LinkProtection
    /// The handle of the peer's Service Changed value, if its caller has told it; zero otherwise.
    var serviceChanged: AttributeHandle = 0
    /// What its caller has discovered of the peer's server and wants to be kept with a bond.
    var attributes: DiscoveredAttributes?
    /// The exchange of the MTU that the host began by itself.
    var automaticExchange: GATTClient.OperationID?
    /// The indications of changes in the database.
    var serviceChange = ServiceChangeIndication()
    /// The indications of the Encrypted Data Key Material.
    var keyMaterial = KeyMaterialIndication()

    init(
        identifier: LinkIdentifier, connection: NewConnection, localAddress: DeviceAddress, peer: PeerID,
        life: LinkLife, at now: Instant, configuration: HostConfiguration
    ) {
        self.identifier = identifier
        beginning = now
        handle = connection.handle
        role = connection.role
        address = connection.address
        self.localAddress = localAddress
        protection = LinkProtection(
            pairing: Pairing(role: connection.role, local: localAddress, peer: connection.airAddress))
        self.peer = peer
        lastingPeer = peer
        parameterNegotiation = ParameterNegotiation(connection.parameters)
        self.life = life
        reassembler = ACLReassembler(maximumFrameLength: Self.maximumFrameLength)
        signalling = SignallingChannel(
            role: connection.role, acceptableParameters: configuration.acceptableParameters,
            channelLimit: configuration.maximumChannels)
    }

    /// The largest ATT_MTU: the longest value there can be, in the PDU with the longest header (Vol 3, Part F, 3.2.9).
    static let maximumMTU = 517
    /// No channel of this host takes more: a K-frame of the greatest MPS, with the length of its SDU.
    static let maximumFrameLength = L2CAPFrame.headerLength + 2 + Int(Host.greatestMPS)
    /// How many frames more than values may wait: answers, which are never refused. A peer that keeps to the protocol
    /// waits for each, so that more than a few show that it does not, or that the controller sends nothing.
    static let answerReserve = 32

    var information: LinkInformation {
        LinkInformation(
            role: role, peer: peer, address: address, mtu: endpoint.bearer(of: .first)?.mtu ?? ATTBearer.defaultMTU,
            parameters: parameters, phys: phys, dataLength: dataLength, security: endpoint.security)
    }

    /// The connection parameters that the link has now.
    var parameters: CurrentConnectionParameters { parameterNegotiation.current }

    /// The PHYs that the link uses now.
    var phys: LinkPHYs { phyNegotiation.phys }

    /// The requests about the link that an event of the controller, or a time-out, would end.
    var pendingRequests: [RequestIdentifier] {
        [parameterNegotiation.request].compactMap { $0 } + phyNegotiation.requests + power.requests
    }

    /// Whether it ends as soon as it has begun, before a peer could have made use of it, and not at this host's wish.
    func isShortLived(at now: Instant) -> Bool {
        !life.isEnding && beginning.duration(to: now) < LinkInformation.shortestUse
    }

    /// When something of this link is due.
    ///
    /// Mutating, for then it is read in place: to read a property of an array's element copies the element.
    var nextDeadline: Instant? {
        mutating get {
            var deadline = earliest(life.deadline, parameterNegotiation.deadline)
            deadline = earliest(deadline, negotiation.deadline)
            deadline = earliest(deadline, endpoint.nextDeadline)
            deadline = earliest(deadline, protection.nextDeadline)
            deadline = earliest(deadline, phyNegotiation.deadline)
            deadline = earliest(deadline, power.readings.deadline)
            return earliest(deadline, signalling.nextDeadline)
        }
    }

    // MARK: Receiving

    /// Takes the data of an ACL packet.
    mutating func receive(_ packet: borrowing ACLDataPacket) -> ACLReassembler.Outcome {
        receiveCredit.packetReceived()
        return reassembler.receive(packet)
    }

    /// Takes the payload of a frame that is a packet, on a channel of the dynamic range.
    @inline(__always)
    mutating func receive(_ payload: Span<UInt8>, on endpoint: ChannelIdentifier) -> CreditBasedChannel.Receipt {
        receiveCredit.packetReceived()
        return signalling.channels.receive(payload, on: endpoint)
    }

    // MARK: Sending

    /// The length of an SDU, in front of it.
    static var sduHeadroom: Int { 2 }

    /// Takes a credit for a PDU of `length` octets on an enhanced bearer, where it is one K-frame and need not wait.
    ///
    /// - Parameter canSend: whether the controller has a free buffer.
    /// - Returns: the endpoint of the peer it goes to; nil where that is not so.
    @inline(__always)
    mutating func takeCredit(
        forWhole length: Int, on bearer: AttributeChannel.ID, _ canSend: Bool
    ) -> ChannelIdentifier? {
        guard canSend, sendQueue.isEmpty else { return nil }
        return signalling.channels.takeCredit(forWhole: length, on: bearer.channel)
    }

    /// Where a notification goes: the bearer, and the endpoint of the peer, which is nil where it has to wait or is longer than
    /// a K-frame.
    typealias NotificationRoute = (bearer: AttributeChannel.ID, remote: ChannelIdentifier?)

    /// Writes a notification, over an enhanced bearer behind room for the length of the SDU, and takes the credit for it.
    @inline(__always)
    mutating func notify(
        _ handle: AttributeHandle, _ value: Span<UInt8>, from server: GATTServer, _ canSend: Bool,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> NotificationRoute {
        let bearer = try endpoint.notify(
            handle, value: value, headroom: Self.sduHeadroom, from: server, into: &writer)
        guard bearer != .first else { return (bearer, .attributeProtocol) }
        let length = HandleValueNotification.headerLength &+ value.count
        return (bearer, takeCredit(forWhole: length, on: bearer, canSend))
    }

    /// Puts the L2CAP frame that makes up the last `length` octets of `writer` at the end of the queue.
    mutating func queue(frameOf length: Int, endOf writer: borrowing ByteWriter) {
        sendQueue.append(writer.span.extracting(last: length))
    }

    /// Sends fragments of the oldest frame, each at most `length` octets of it, while the controller has buffers. False
    /// where it has none.
    mutating func sendOldest(through flow: inout ACLFlowControl, length: Int, into outbox: inout PacketQueue) -> Bool {
        let total = sendQueue.first.count
        var hasSent = false
        while sentOfFirst < total, flow.takeBuffer(for: handle) {
            let start = sentOfFirst
            let end = min(total, start &+ length)
            ACLDataPacket.encodeHeader(
                handle, start == 0 ? .firstNonFlushable : .continuing, length: UInt16(truncatingIfNeeded: end &- start),
                into: &outbox.writer)
            outbox.writer.append(sendQueue.first.extracting(start..<end))
            outbox.commit()
            sentOfFirst = end
            hasSent = true
        }
        if sentOfFirst == total {
            sendQueue.removeFirst()
            sentOfFirst = 0
        }
        return hasSent
    }
}

/// The connection parameters a link has now (Core 5.4, Vol 6, Part B, 4.5.1).
public struct CurrentConnectionParameters: Hashable, Sendable {
    /// From one connection event to the next.
    public var interval: Duration
    /// How many connection events the peripheral may skip.
    public var latency: UInt16
    /// How long the link survives without a packet.
    public var supervisionTimeout: Duration

    /// Whether they are what somebody asks for.
    func satisfy(_ wanted: ConnectionParameters) -> Bool {
        (wanted.minimumInterval...wanted.maximumInterval).contains(interval) && latency == wanted.latency
            && supervisionTimeout == wanted.supervisionTimeout
    }
}

/// What a host tells of a link.
public struct LinkInformation: Equatable, Sendable {
    /// This host's role.
    public var role: LinkRole
    /// The peer. It keeps this name for as long as the link lives.
    public var peer: PeerID
    /// The address the peer uses on this link, or its identity address if the controller has resolved that.
    public var address: DeviceAddress
    /// The ATT_MTU.
    public var mtu: Int
    /// The connection parameters.
    public var parameters: CurrentConnectionParameters
    /// The PHYs.
    public var phys = LinkPHYs()
    /// How long data packets on the air are.
    public var dataLength = LinkDataLength()
    /// How well the link is protected.
    public var security: LinkSecurity
    /// How often its services had changed before a user of a shared host was told of the link: see `HostCall.knownChanges`.
    public var serviceChanges: UInt32 = 0

    /// How long a link has to last to be useful to anyone.
    package static let shortestUse = Duration.milliseconds(100)
}
