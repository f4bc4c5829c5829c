import BluetoothATT
import BluetoothBase

/// Everything between two devices that speak the Attribute Protocol, seen from one of them: our client, our server's view of
/// the peer, and the channels that carry both (Core 5.4, Vol 3, Part F and G).
///
/// One for each peer. It is independent of the transport, which must keep PDUs whole and in order: the fixed channel of
/// a link, a credit-based channel, a `SOCK_SEQPACKET` descriptor. It is driven by calls, like the layers below: a call
/// appends at most one PDU to the writer, for the channel it names or returns. Afterwards the caller
///
/// 1. sends the PDU, if there is one,
/// 2. acts on the outcome, if the call has one,
/// 3. takes out `events`,
/// 4. ensures that `fire` is called at `nextDeadline`.
///
/// A request that waits for the application holds up its own channel only.
public struct AttributeEndpoint: Sendable {
    /// The state of our server for the peer.
    public internal(set) var peer: GATTPeer
    /// The open channels, in the order they were opened.
    public internal(set) var channels: [AttributeChannel]
    /// The ends of our client's operations, oldest first. The caller takes them out, `keepingCapacity`.
    public var events: [GATTClientEvent] = []

    private let maximumWaiting: Int
    private var lastChannel = AttributeChannel.ID.first.rawValue

    /// An endpoint with one channel, `AttributeChannel.ID.first`.
    ///
    /// - Parameters:
    ///   - bearer: by default that of a link's fixed channel.
    ///   - peer: the stored state of a bonded peer.
    ///   - maximumWaiting: how many operations may wait on each channel behind the one being carried out.
    public init(
        bearer: ATTBearer = ATTBearer(), peer: GATTPeer = GATTPeer(),
        maximumWaiting: Int = GATTClient.defaultMaximumWaiting
    ) {
        self.peer = peer
        self.maximumWaiting = maximumWaiting
        channels = [AttributeChannel(id: .first, bearer: bearer, maximumWaiting: maximumWaiting)]
    }

    /// The current security of the link to the peer.
    public var security: LinkSecurity {
        get { peer.security }
        set { peer.security = newValue }
    }

    /// Takes over what a bonded client configured on an earlier link (Vol 3, Part G, 2.4), as far as the server still has
    /// it.
    ///
    /// - Returns: what has changed by that.
    public mutating func restore(
        _ subscriptions: [GATTSubscription], features: GATTClientSupportedFeatures, from server: GATTServer
    ) -> [GATTSubscriptionChange] {
        peer.restore(subscriptions, features: features, in: server.database)
    }

    // MARK: - Channels

    /// Adds a channel.
    public mutating func open(_ bearer: ATTBearer) -> AttributeChannel.ID {
        repeat { lastChannel &+= 1 } while index(of: AttributeChannel.ID(rawValue: lastChannel)) != nil
        let id = AttributeChannel.ID(rawValue: lastChannel)
        open(bearer, as: id)
        return id
    }

    /// Adds a channel under a name that the caller chooses, and by which it knows what carries the channel. No channel may have had
    /// that name before.
    public mutating func open(_ bearer: ATTBearer, as id: AttributeChannel.ID) {
        channels.append(AttributeChannel(id: id, bearer: bearer, maximumWaiting: maximumWaiting))
    }

    /// Notes that a channel is gone. The queued writes of the peer go with its last channel (Vol 3, Part F, 3.4.6.1).
    ///
    /// The operation that was under way on it fails with `bearerClosed`, and those that waited with `notBegun`; with the last
    /// channel all fail with `disconnected`.
    ///
    /// - Returns: The request that the application need no longer answer, if any.
    @discardableResult
    public mutating func close(_ channel: AttributeChannel.ID) -> GATTRequestToken? {
        channels.count > 1 ? close(channel, .bearerClosed, waiting: .notBegun) : close(channel, .disconnected)
    }

    private mutating func close(
        _ channel: AttributeChannel.ID, _ error: GATTClientError, waiting waitingError: GATTClientError? = nil
    ) -> GATTRequestToken? {
        guard let index = index(of: channel) else { return nil }
        channels[index].client.failAll(error, waiting: waitingError)
        collectEvents(index)
        let request = channels[index].pendingRequest
        channels.remove(at: index)
        peer.channelClosed(channel)
        if channels.isEmpty { peer.preparedWrites.removeAll() }
        return request
    }

    /// Notes that the peer is gone, and all channels with it.
    public mutating func closeAll() {
        while let channel = channels.first?.id { _ = close(channel, .disconnected) }
    }

    /// Notes that the MTU of an enhanced channel has grown: the peer has reconfigured it (Vol 3, Part F, 3.2.8).
    public mutating func setMTU(_ channelMTU: Int, of channel: AttributeChannel.ID) {
        guard let index = index(of: channel) else { return }
        channels[index].bearer.channelMTUChanged(to: channelMTU)
    }

    /// The rules and the MTU of a channel; nil if it is closed.
    public func bearer(of channel: AttributeChannel.ID) -> ATTBearer? {
        index(of: channel).map { channels[$0].bearer }
    }

    /// The place of a channel among `channels`.
    @inline(__always)
    func index(of channel: AttributeChannel.ID) -> Int? {
        // Nearly always the first. Channels are compared in place, without a copy.
        var index = 0
        while index < channels.count {
            if channels[index].id == channel { return index }
            index &+= 1
        }
        return nil
    }

    // MARK: - The peer's side

    /// Handles a PDU of the peer, of any kind.
    ///
    /// - Parameters:
    ///   - pdu: The whole PDU, opcode first.
    ///   - channel: The channel it came over.
    ///   - writer: Gets the PDU to send on this channel, if any: a response, a confirmation, or the next request of our
    ///     client.
    public mutating func receive(
        _ pdu: Span<UInt8>, on channel: AttributeChannel.ID, server: inout GATTServer, at now: Instant,
        into writer: inout ByteWriter
    ) -> AttributeOutcome {
        guard pdu.count > 0, let index = index(of: channel) else { return .ignored }
        switch ATTOpcode(rawValue: pdu[0]) {
        case .handleValueNotification: return takes(pdu.count, on: channel) ? .notification(pdu) : .tooLong
        case .multipleHandleValueNotification:
            return takes(pdu.count, on: channel) ? .notifications(1..<pdu.count) : .tooLong
        case .handleValueIndication:
            if !channels[index].bearer.isDead { HandleValueConfirmation().encode(into: &writer) }
            return takes(pdu.count, on: channel) ? .indication(pdu) : .tooLong
        case let opcode? where opcode.kind == .response:
            channels[index].receive(response: pdu, at: now, into: &writer)
            collectEvents(index)
            return .response
        default:
            return .server(serve(pdu, on: channel, server: &server, at: now, into: &writer))
        }
    }

    /// Whether a PDU of so many octets is no longer than the ATT_MTU of its channel.
    // Asked for each notification, and so in place: a call would copy the endpoint.
    @inlinable @inline(__always)
    public func takes(_ length: Int, on channel: AttributeChannel.ID) -> Bool {
        var index = 0
        while index < channels.count {
            if channels[index].id.rawValue == channel.rawValue { return length <= channels[index].bearer.mtu }
            index &+= 1
        }
        return false
    }

    /// Handles a PDU that `isForServer`, as `receive` does, for a caller that has already checked the opcode.
    public mutating func serve(
        _ pdu: Span<UInt8>, on channel: AttributeChannel.ID, server: inout GATTServer, at now: Instant,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let index = index(of: channel) else { return .dropped(.bearerClosed) }
        let outcome = channels[index].serve(pdu, &peer, &server, at: now, into: &writer)
        if channels.count > 1, case .subscriptionChanged(let change) = outcome {
            peer.setChannel(channel, of: change.characteristic)
        }
        return outcome
    }

    /// Handles the beginning of a PDU that is longer than any this device takes: a request is refused with Invalid PDU, and
    /// everything else dropped (Vol 3, Part F, 3.4.1.1).
    ///
    /// - Parameter opcode: its first octet.
    public mutating func refuse(
        tooLong opcode: UInt8, on channel: AttributeChannel.ID, server: GATTServer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let index = index(of: channel) else { return .dropped(.bearerClosed) }
        return channels[index].refuse(tooLong: opcode, server, into: &writer)
    }

    /// Writes a value whose signature has been verified (Vol 3, Part F, 3.4.5.4).
    public mutating func commitSigned(
        _ value: Span<UInt8>, to handle: AttributeHandle, on channel: AttributeChannel.ID = .first,
        server: inout GATTServer, at now: Instant
    ) -> GATTServerOutcome {
        guard let index = index(of: channel) else { return .dropped(.bearerClosed) }
        return server.commitSigned(value, to: handle, &peer, &channels[index].transaction, at: now)
    }

    /// Whether a PDU with this opcode is a client's, and so for our server: those are even, and those of servers are odd
    /// (Vol 3, Part F, 3.4.8).
    @inlinable @inline(__always)
    public static func isForServer(_ opcode: UInt8) -> Bool { opcode & 1 == 0 }

    // MARK: - Time

    /// When `fire` must be called.
    public var nextDeadline: Instant? {
        var deadline: Instant?
        for index in channels.indices { deadline = earliest(deadline, channels[index].nextDeadline) }
        return deadline
    }

    /// A channel on which something is due: call `fire` for it.
    public func dueChannel(at now: Instant) -> AttributeChannel.ID? {
        for index in channels.indices {
            if let deadline = channels[index].nextDeadline, deadline <= now { return channels[index].id }
        }
        return nil
    }

    /// Handles the timeouts of a channel: `channelDied` if the peer did not answer, the server's `requestExpired` if
    /// the application did not. Call it while there is a `dueChannel`.
    public mutating func fire(
        _ channel: AttributeChannel.ID, server: GATTServer, at now: Instant, into writer: inout ByteWriter
    ) -> AttributeOutcome {
        guard let index = index(of: channel) else { return .ignored }
        if let expiry = channels[index].expire(at: now) {
            collectEvents(index)
            return .channelDied(expiry)
        }
        return .server(server.fire(at: now, channel: &channels[index], into: &writer))
    }

    /// Moves the ends of operations from the client of a channel.
    @inline(__always)
    mutating func collectEvents(_ index: Int) {
        // Checked in place: this runs for every response, and most end no operation.
        guard !channels[index].client.events.isEmpty else { return }
        events.append(contentsOf: channels[index].client.events)
        channels[index].client.events.removeAll(keepingCapacity: true)
    }
}

// A channel is used in place, through one access to the endpoint's list; code that needs two parts of it at once is
// therefore a method of the channel.
extension AttributeChannel {
    var nextDeadline: Instant? { earliest(bearer.nextDeadline, transaction.nextDeadline) }

    @inline(__always)
    mutating func serve(
        _ pdu: Span<UInt8>, _ peer: inout GATTPeer, _ server: inout GATTServer, at now: Instant,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        server.receive(pdu, peer: &peer, transaction: &transaction, bearer: &bearer, at: now, into: &writer)
    }

    mutating func refuse(
        tooLong opcode: UInt8, _ server: GATTServer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        server.refuse(tooLong: opcode, transaction: &transaction, bearer: bearer, into: &writer)
    }

    mutating func resume(
        _ held: GATTHeldPDU, _ peer: inout GATTPeer, _ server: inout GATTServer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        server.resume(held, peer: &peer, transaction: &transaction, bearer: &bearer, into: &writer)
    }

    mutating func receive(response pdu: Span<UInt8>, at now: Instant, into writer: inout ByteWriter) {
        client.receive(pdu, bearer: &bearer, at: now, into: &writer)
    }

    /// What has timed out on the peer's side.
    mutating func expire(at now: Instant) -> ATTBearer.Expiry? { client.fire(bearer: &bearer, at: now) }
}
