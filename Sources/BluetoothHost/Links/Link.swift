import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// One connection: everything that the host keeps for a link. Both GATT roles share its attribute endpoint.
struct Link: Sendable {
    let identifier: LinkIdentifier
    /// False once the link has ended; see `LinkTable`.
    var isInUse = true
    let handle: ConnectionHandle
    let role: LinkRole
    /// The time at which the controller reported the link.
    let beginning: Instant
    /// The peer's address on this link; its identity address if the controller has resolved the address on the air.
    let address: DeviceAddress
    /// This host's address on this link.
    let localAddress: DeviceAddress
    /// The peer, by the name that it had when the link was made.
    let peer: PeerID
    /// The peer, by the name that its later links will have. Differs from `peer` once the peer turns out to be known by
    /// another name.
    var lastingPeer: PeerID
    var life: LinkLife
    /// The features of the peer's link layer; empty until they have been read.
    var remoteFeatures: LEFeatures = []
    var parameterNegotiation: ParameterNegotiation
    var phyNegotiation = PHYNegotiation()
    /// The maximum data length in each direction.
    var dataLength = LinkDataLength()
    var power = LinkPower()

    var reassembler: ACLReassembler
    var receiveCredit = ReceiveCredit()
    /// Complete L2CAP frames that wait for the controller's buffers.
    var sendQueue = PacketQueue(reservingCapacity: 0)
    /// The number of octets of the first frame in `sendQueue` that have been sent to the controller.
    var sentOfFirst = 0
    /// Whether `HostEvent.Link.readyToSend` must be reported, because a send was refused.
    var mustSignalReady = false

    var signalling: SignallingChannel
    /// The credit-based channel that sent last, for the round robin over waiting channels.
    var lastSendingChannel: ChannelIdentifier = 0
    /// The endpoint of both GATT roles. Its first channel is the link's fixed one, the others are those of `enhanced`.
    var endpoint = AttributeEndpoint()
    /// The enhanced ATT bearers.
    var enhanced = EnhancedBearers()
    /// The negotiation of enhanced bearers with the peer.
    var negotiation = BearerNegotiation()
    var protection: LinkProtection
    var peerServiceChanged = PeerServiceChanged.unknown
    /// The caller's discovery results for the peer's server, to be kept with a bond.
    var attributes: DiscoveredAttributes?
    /// The MTU exchange that the host has started itself.
    var automaticExchange: GATTClient.OperationID?
    /// The indications of Service Changed.
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
            pairing: Pairing(role: connection.role, localAddress: localAddress, remoteAddress: connection.airAddress))
        self.peer = peer
        lastingPeer = peer
        parameterNegotiation = ParameterNegotiation(connection.parameters)
        self.life = life
        reassembler = ACLReassembler(maximumFrameLength: Self.maximumFrameLength)
        signalling = SignallingChannel(
            role: connection.role, acceptableParameters: configuration.acceptableParameters,
            channelLimit: configuration.maximumChannels)
    }

    /// The maximum ATT_MTU: the longest attribute value, in the PDU with the longest header (Vol 3, Part F, 3.2.9).
    static let maximumMTU = 517
    /// The maximum frame length on any channel of this host: a K-frame with the greatest MPS and an SDU length field.
    static let maximumFrameLength = L2CAPFrame.headerLength + 2 + Int(Host.greatestMPS)
    /// The number of frames, in addition to the limit for values, that may wait. They are answers, which are never
    /// refused. A compliant peer waits for each answer, so more than a few mean that the peer violates the protocol, or
    /// that the controller sends nothing.
    static let answerReserve = 32

    var information: LinkInformation {
        LinkInformation(
            role: role, peer: peer, address: address, mtu: endpoint.bearer(of: .first)?.mtu ?? ATTBearer.defaultMTU,
            parameters: parameters, phys: phys, dataLength: dataLength, security: endpoint.security)
    }

    /// The current connection parameters.
    var parameters: CurrentConnectionParameters { parameterNegotiation.current }

    /// The current PHYs.
    var phys: LinkPHYs { phyNegotiation.phys }

    /// The pending requests for the link that end with a controller event or a timeout.
    var pendingRequests: [RequestIdentifier] {
        [parameterNegotiation.request].compactMap { $0 } + phyNegotiation.requests + power.requests
    }

    /// The ATT_MTU of the fixed bearer. Mutating, like `nextDeadline`.
    var mtu: Int { mutating get { endpoint.bearer(of: .first)?.mtu ?? ATTBearer.defaultMTU } }

    /// Whether the link ends as soon as it has begun, before a peer could have used it, and not at this host's request.
    func isShortLived(at now: Instant) -> Bool {
        !life.isEnding && beginning.duration(to: now) < LinkInformation.shortestUse
    }

    /// The next time at which something of this link is due.
    ///
    /// Mutating so that the value is read in place: reading a property of an array's element copies the element.
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

    /// Handles the data of an ACL packet.
    mutating func receive(_ packet: borrowing ACLDataPacket) -> ACLReassembler.Outcome {
        receiveCredit.packetReceived()
        return reassembler.receive(packet)
    }

    /// Handles the payload of a complete frame in one packet, on a channel of the dynamic range.
    @inline(__always)
    mutating func receive(_ payload: Span<UInt8>, on cid: ChannelIdentifier) -> CreditBasedChannel.Receipt {
        receiveCredit.packetReceived()
        return signalling.channels.receive(payload, on: cid)
    }

    // MARK: Sending

    /// The size of the SDU length field, which precedes an SDU.
    static var sduHeadroom: Int { 2 }

    /// Takes a credit for a PDU of `length` octets on an enhanced bearer, if the PDU fits into one K-frame and need not
    /// wait.
    ///
    /// - Parameter canSend: whether the controller has a free buffer.
    /// - Returns: the peer's endpoint to send to; nil if the PDU cannot be sent like this.
    @inline(__always)
    mutating func takeCredit(
        forWhole length: Int, on bearer: AttributeChannel.ID, _ canSend: Bool
    ) -> ChannelIdentifier? {
        guard canSend, sendQueue.isEmpty else { return nil }
        return signalling.channels.takeCredit(forWhole: length, on: bearer.channel)
    }

    /// The bearer that carries a notification, and the peer's endpoint. The endpoint is nil if the notification has to
    /// wait or is longer than a K-frame.
    typealias NotificationRoute = (bearer: AttributeChannel.ID, remote: ChannelIdentifier?)

    /// Writes a notification. On an enhanced bearer, leaves room for the SDU length field and takes a credit.
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

    /// Appends the L2CAP frame in the last `length` octets of `writer` to the queue.
    mutating func queue(frameOf length: Int, endOf writer: borrowing ByteWriter) {
        sendQueue.append(writer.span.extracting(last: length))
    }

    /// Sends fragments of the oldest frame, each with at most `length` octets, while the controller has free buffers.
    /// Returns false if it has none.
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

/// The current connection parameters of a link (Core 5.4, Vol 6, Part B, 4.5.1).
public struct CurrentConnectionParameters: Hashable, Sendable {
    /// The time from one connection event to the next.
    public var interval: Duration
    /// The number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// The time without a packet after which the link is lost.
    public var supervisionTimeout: Duration

    /// Whether the parameters satisfy a request.
    func satisfy(_ wanted: ConnectionParameters) -> Bool {
        (wanted.minimumInterval...wanted.maximumInterval).contains(interval) && latency == wanted.latency
            && supervisionTimeout == wanted.supervisionTimeout
    }
}

/// The properties of a link.
public struct LinkInformation: Equatable, Sendable {
    /// This host's role.
    public var role: LinkRole
    /// The peer. Its `PeerID` does not change while the link exists.
    public var peer: PeerID
    /// The peer's address on this link; its identity address if the controller has resolved the address on the air.
    public var address: DeviceAddress
    /// The ATT_MTU of the fixed channel, in octets.
    public var mtu: Int
    /// The connection parameters.
    public var parameters: CurrentConnectionParameters
    /// The PHYs.
    public var phys = LinkPHYs()
    /// The maximum lengths of data packets on the air.
    public var dataLength = LinkDataLength()
    /// The security of the link.
    public var security: LinkSecurity
    /// The number of changes of the peer's services that happened before a user of a shared host was notified of the
    /// link: see `HostCall.knownChanges`.
    public var serviceChanges: UInt32 = 0

    /// The minimum lifetime of a link that is useful to anyone.
    package static let shortestUse = Duration.milliseconds(100)
}
