import BluetoothATT
import BluetoothBase

/// Everything between two devices that speak the Attribute Protocol, seen from one of them: the local client, the local
/// server's view of the peer, and the channels that carry both (Core 5.4, Vol 3, Part F and G).
///
/// Each peer has its own endpoint. It is independent of the transport, which must keep PDUs whole and in order: the
/// fixed channel of a link, a credit-based channel, or a `SOCK_SEQPACKET` descriptor. Like the layers below, it is
/// driven by calls. A call appends at most one PDU to the writer, for the channel that it names or returns. Afterwards
/// the caller
///
/// 1. sends the PDU, if there is one,
/// 2. acts on the outcome, if the call has one,
/// 3. removes the `events`,
/// 4. ensures that `fire` is called at `nextDeadline`.
///
/// A request that waits for the application holds up only its own channel.
public struct AttributeEndpoint: Sendable {
    /// The local server's state for the peer.
    public internal(set) var servedClient: GATTServedClient
    /// The open channels, in the order they were opened.
    public internal(set) var channels: [AttributeChannel]
    /// The local client's finished operations, oldest first. The caller removes them, `keepingCapacity`.
    public var events: [GATTClientEvent] = []

    private let maximumWaiting: Int
    private var lastChannel = AttributeChannel.ID.first.rawValue

    /// Creates an endpoint with one channel, `AttributeChannel.ID.first`.
    ///
    /// - Parameters:
    ///   - bearer: The bearer of the channel; by default, that of a link's fixed channel.
    ///   - servedClient: The stored state of a bonded peer.
    ///   - maximumWaiting: The maximum number of operations that wait on each channel behind the current one.
    public init(
        bearer: ATTBearer = ATTBearer(), servedClient: GATTServedClient = GATTServedClient(),
        maximumWaiting: Int = GATTClient.defaultMaximumWaiting
    ) {
        self.servedClient = servedClient
        self.maximumWaiting = maximumWaiting
        channels = [AttributeChannel(id: .first, bearer: bearer, maximumWaiting: maximumWaiting)]
    }

    /// The current security of the link to the peer.
    public var security: LinkSecurity {
        get { servedClient.security }
        set { servedClient.security = newValue }
    }

    /// Restores what a bonded client configured on an earlier link (Vol 3, Part G, 2.4), as far as the server still has
    /// it.
    ///
    /// - Returns: The subscriptions that changed.
    public mutating func restore(
        _ subscriptions: [GATTSubscription], features: GATTClientSupportedFeatures, from server: GATTServer
    ) -> [GATTSubscriptionChange] {
        servedClient.restore(subscriptions, features: features, in: server.database)
    }

    // MARK: - Channels

    /// Adds a channel.
    public mutating func open(_ bearer: ATTBearer) -> AttributeChannel.ID {
        repeat { lastChannel &+= 1 } while index(of: AttributeChannel.ID(rawValue: lastChannel)) != nil
        let id = AttributeChannel.ID(rawValue: lastChannel)
        open(bearer, as: id)
        return id
    }

    /// Adds a channel with a caller-chosen ID that identifies the transport. The ID must not have been used before.
    public mutating func open(_ bearer: ATTBearer, as id: AttributeChannel.ID) {
        channels.append(AttributeChannel(id: id, bearer: bearer, maximumWaiting: maximumWaiting))
    }

    /// Records that a channel was closed. With the last channel, the peer's queued writes are discarded (Vol 3, Part F,
    /// 3.4.6.1).
    ///
    /// The current operation on the channel fails with `bearerClosed`, and waiting operations fail with `notBegun`. If
    /// it was the last channel, all of them fail with `disconnected`.
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
        servedClient.channelClosed(channel)
        if channels.isEmpty { servedClient.preparedWrites.removeAll() }
        return request
    }

    /// Records that the peer is gone, and closes all channels.
    public mutating func closeAll() {
        while let channel = channels.first?.id { _ = close(channel, .disconnected) }
    }

    /// Records that the MTU of an enhanced channel has grown because the peer reconfigured it (Vol 3, Part F, 3.2.8).
    public mutating func setMTU(_ channelMTU: Int, of channel: AttributeChannel.ID) {
        guard let index = index(of: channel) else { return }
        channels[index].bearer.channelMTUChanged(to: channelMTU)
    }

    /// The rules and the MTU of a channel; nil if it is closed.
    public func bearer(of channel: AttributeChannel.ID) -> ATTBearer? {
        index(of: channel).map { channels[$0].bearer }
    }

    /// The index of a channel in `channels`.
    @inline(__always)
    func index(of channel: AttributeChannel.ID) -> Int? {
        // Nearly always the first one. Channels are compared in place, without a copy.
        var index = 0
        while index < channels.count {
            if channels[index].id == channel { return index }
            index &+= 1
        }
        return nil
    }

    // MARK: - The peer's side

    /// Handles a PDU from the peer, of any kind.
    ///
    /// - Parameters:
    ///   - pdu: The whole PDU, opcode first.
    ///   - channel: The channel that it arrived on.
    ///   - writer: Receives the PDU to send on this channel, if any: a response, a confirmation, or the next request of
    ///     the local client.
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

    // Inlined because it runs for each notification, and a call would copy the endpoint.
    /// Whether `length` octets fit into the ATT_MTU of the channel. False if the channel is not open.
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
        let outcome = channels[index].serve(pdu, &servedClient, &server, at: now, into: &writer)
        if channels.count > 1, case .subscriptionChanged(let change) = outcome {
            servedClient.setChannel(channel, of: change.characteristic)
        }
        return outcome
    }

    /// Handles the beginning of a PDU that is longer than this device can receive. A request is refused with Invalid
    /// PDU; everything else is dropped (Vol 3, Part F, 3.4.1.1).
    ///
    /// - Parameter opcode: The first octet of the PDU.
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
        return server.commitSigned(value, to: handle, &servedClient, &channels[index].transaction, at: now)
    }

    /// Whether a PDU with this opcode comes from a client, and so is for the local server. The opcodes of clients are
    /// even, and those of servers are odd (Vol 3, Part F, 3.4.8).
    @inlinable @inline(__always)
    public static func isForServer(_ opcode: UInt8) -> Bool { opcode & 1 == 0 }

    // MARK: - Time

    /// When to call `fire` next.
    public var nextDeadline: Instant? {
        var deadline: Instant?
        for index in channels.indices { deadline = earliest(deadline, channels[index].nextDeadline) }
        return deadline
    }

    /// A channel whose deadline has passed: call `fire` for it.
    public func dueChannel(at now: Instant) -> AttributeChannel.ID? {
        for index in channels.indices {
            if let deadline = channels[index].nextDeadline, deadline <= now { return channels[index].id }
        }
        return nil
    }

    /// Handles the timeouts of a channel. The outcome is `channelDied` if the peer did not answer, or the server's
    /// `requestExpired` if the application did not. Call it while `dueChannel` returns a channel.
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

    /// Moves finished operations from the client of a channel to `events`.
    @inline(__always)
    mutating func collectEvents(_ index: Int) {
        // Checked in place: this runs for every response, and most end no operation.
        guard !channels[index].client.events.isEmpty else { return }
        if events.isEmpty { return swap(&events, &channels[index].client.events) }
        events.append(contentsOf: channels[index].client.events)
        channels[index].client.events.removeAll(keepingCapacity: true)
    }
}

// Channels are used in place, through one access to the endpoint's list. Code that needs two parts of a channel at once
// is therefore a method of the channel.
extension AttributeChannel {
    var nextDeadline: Instant? { earliest(bearer.nextDeadline, transaction.nextDeadline) }

    @inline(__always)
    mutating func serve(
        _ pdu: Span<UInt8>, _ servedClient: inout GATTServedClient, _ server: inout GATTServer, at now: Instant,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        server.receive(pdu, client: &servedClient, transaction: &transaction, bearer: &bearer, at: now, into: &writer)
    }

    mutating func refuse(
        tooLong opcode: UInt8, _ server: GATTServer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        server.refuse(tooLong: opcode, transaction: &transaction, bearer: bearer, into: &writer)
    }

    mutating func resume(
        _ held: GATTHeldPDU, _ servedClient: inout GATTServedClient, _ server: inout GATTServer,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        server.resume(held, client: &servedClient, transaction: &transaction, bearer: &bearer, into: &writer)
    }

    mutating func receive(response pdu: Span<UInt8>, at now: Instant, into writer: inout ByteWriter) {
        client.receive(pdu, bearer: &bearer, at: now, into: &writer)
    }

    /// The transaction of the local client or server that the peer left unanswered.
    mutating func expire(at now: Instant) -> ATTBearer.Expiry? { client.fire(bearer: &bearer, at: now) }
}
