import BluetoothATT
import BluetoothBase

// Our server's side: notifications and indications, and the application's answers to the peer's requests.
//
// The caller owns the server itself, since it serves every peer.

extension AttributeEndpoint {
    // MARK: - Notifications and indications

    /// Writes a notification of a value for the channel by which the client has subscribed to it, so that two of them cannot
    /// overtake each other; for the first channel where the other takes shorter values.
    ///
    /// - Parameters:
    ///   - handle: The handle of the characteristic's value.
    ///   - headroom: How many octets to leave in front of a PDU for another channel than the first, at most 5. The caller
    ///     overwrites them.
    /// - Returns: the channel.
    /// - Throws: as the other `notify`.
    public mutating func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, headroom: Int, from server: GATTServer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> AttributeChannel.ID {
        guard channels.count > 1, let subscription = peer.index(of: handle), channels[0].id == .first,
            peer.subscriptionChannels[subscription] != .first,
            let other = index(of: peer.subscriptionChannels[subscription]),
            channels[other].bearer.mtu >= channels[0].bearer.mtu
        else {
            try notify(handle, value: value, from: server, into: &writer)
            return .first
        }
        try server.notify(
            handle, value: value, subscription, peer: &peer, bearer: channels[other].bearer, headroom: headroom,
            into: &writer)
        return channels[other].id
    }

    /// Writes a notification of a value.
    ///
    /// Notifications on different channels may overtake each other: use one channel for each value.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: `notSubscribed`, `changeUnaware`, `insufficientSecurity`, `valueTooLong` if the value is longer than ATT_MTU - 3
    ///   octets, `bearerClosed`. Nothing is written then.
    @inline(__always)
    public mutating func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, on channel: AttributeChannel.ID = .first,
        from server: GATTServer, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard let index = index(of: channel) else { throw .bearerClosed }
        try server.notify(
            handle, value: value, peer.index(of: handle), peer: &peer, bearer: channels[index].bearer, into: &writer)
    }

    /// Writes one notification of several values, for a peer that understands it (Core 5.4, Vol 3, Part F, 3.4.7.4).
    ///
    /// - Throws: as the other `notify`, and `multipleNotificationsNotSupported`. `valueTooLong` gives the octets
    ///   available for all values and four octets for each of them.
    public mutating func notify(
        _ values: [GATTHandleValue], on channel: AttributeChannel.ID = .first, from server: GATTServer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard let index = index(of: channel) else { throw .bearerClosed }
        try server.notify(
            values, peer: &peer, bearer: channels[index].bearer, into: &writer)
    }

    /// A channel on which an indication may be sent now; nil if each has an unconfirmed one.
    public var channelForIndication: AttributeChannel.ID? {
        for index in channels.indices where channels[index].bearer.isReadyForIndication { return channels[index].id }
        return nil
    }

    /// Writes an indication of a value. `confirmationReceived` follows on the same channel.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: as `notify`, and `indicationPending` if an earlier one on the channel is not confirmed.
    public mutating func indicate(
        _ handle: AttributeHandle, value: Span<UInt8>, on channel: AttributeChannel.ID = .first,
        from server: GATTServer, at now: Instant, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard let index = index(of: channel) else { throw .bearerClosed }
        try server.indicate(handle, value: value, peer: &peer, channel: &channels[index], at: now, into: &writer)
    }

    // MARK: - The application's answers

    // Each request of the peer gets exactly one response, which is for the token's channel.

    /// Answers a read of a dynamic value.
    ///
    /// - Parameter value: The value from the requested offset on. What does not fit into the response is left out, and
    ///   the peer reads it with a further request.
    /// - Returns: `none`, or `readRequested` if a Read Multiple Request needs one more value.
    /// - Throws: `staleToken` if the request is no longer open; `wrongAnswer` if it is not a read; `valueTooLong` if
    ///   the value is longer than an attribute value can be. The request stays open in the last two cases.
    public mutating func answer(
        _ token: GATTRequestToken, value: Span<UInt8>, server: inout GATTServer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        guard let index = index(of: token.channel) else { throw .staleToken }
        return try server.answer(token, value: value, peer: peer, channel: &channels[index], into: &writer)
    }

    /// Accepts a write of a dynamic value, or the execution of queued writes.
    ///
    /// - Returns: `preparedWritesExecuted` for queued writes, or `refused` if a value in the database has changed
    ///   meanwhile and a part no longer fits.
    /// - Throws: `staleToken` if the request is no longer open, `wrongAnswer` if it is a read.
    public mutating func accept(
        _ token: GATTRequestToken, server: inout GATTServer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        guard let index = index(of: token.channel) else { throw .staleToken }
        return try server.accept(token, peer: &peer, channel: &channels[index], into: &writer)
    }

    /// Lets the peer access an attribute as it was asked for, from now on as long as the link lasts.
    ///
    /// - Returns: what waited for that, in the order it came: pass each of them to `resume`.
    /// - Throws: `staleToken` if nothing waits any more, `wrongAnswer` if consent was not the question.
    public mutating func authorize(_ token: GATTRequestToken) throws(GATTServerError) -> [GATTHeldPDU] {
        guard let index = index(of: token.channel) else { throw .staleToken }
        let held = channels[index].transaction.release(token)
        guard let first = held.first else {
            throw channels[index].pendingRequest == token ? .wrongAnswer : .staleToken
        }
        guard !channels[index].bearer.isDead else { throw .bearerClosed }
        peer.authorizations.insert(first.authorization)
        return held
    }

    /// Serves what `authorize` has released, on the channel of its token. The outcome is that of `serve`, with ranges of the
    /// held PDU.
    public mutating func resume(
        _ held: GATTHeldPDU, server: inout GATTServer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let channel = held.token?.channel, let index = index(of: channel) else { return .dropped(.bearerClosed) }
        let outcome = channels[index].resume(held, &peer, &server, into: &writer)
        if case .subscriptionChanged(let change) = outcome { peer.setChannel(channel, of: change.characteristic) }
        return outcome
    }

    /// Refuses a read, a write, an access that needs consent, or the execution of queued writes, which are then forgotten.
    ///
    /// - Parameter handle: The attribute at fault among queued writes; ignored for other requests.
    /// - Throws: `staleToken` if the request is no longer open.
    public mutating func refuse(
        _ token: GATTRequestToken, with code: ATTErrorCode, at handle: AttributeHandle? = nil, server: GATTServer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        guard let index = index(of: token.channel) else { throw .staleToken }
        return try server.refuse(token, with: code, at: handle, channel: &channels[index], into: &writer)
    }

    /// The queued writes that the application must accept; none if there is no such request.
    public func preparedWrites(for token: GATTRequestToken) -> GATTPreparedWrites {
        guard let index = index(of: token.channel), channels[index].pendingRequest == token else {
            return GATTPreparedWrites()
        }
        return channels[index].transaction.executing
    }

    // MARK: - The database

    /// Notes that the server's database has changed: a peer that supports robust caching is kept from using handles it knows
    /// until it has learnt of that (Core 5.4, Vol 3, Part G, 2.5.2.1).
    public mutating func databaseChanged() { peer.databaseChanged() }

    /// Notes that the peer has confirmed the last change of the database: an indication of Service Changed.
    public mutating func changeConfirmed() { peer.changeAwareness = .aware }

    /// Forgets attributes that were removed from the database.
    public mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        peer.forget(handles)
        for index in channels.indices { channels[index].transaction.forget(handles) }
    }
}
