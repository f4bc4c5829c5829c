import BluetoothATT
import BluetoothBase

// The local server's side: notifications and indications, and the application's answers to the peer's requests.
//
// The caller owns the server itself, because one server serves every peer.

extension AttributeEndpoint {
    // MARK: - Notifications and indications

    /// Writes a notification of a value for the channel on which the client subscribed to it, so that two notifications
    /// of a value cannot overtake each other. If the MTU of that channel is smaller than that of the first channel, the
    /// first channel is used.
    ///
    /// - Parameters:
    ///   - handle: The handle of the characteristic's value.
    ///   - headroom: The number of octets to leave before a PDU for any channel but the first, at most 5. The caller
    ///     overwrites them.
    /// - Returns: The channel to send the PDU on.
    /// - Throws: The same errors as the other `notify`.
    public mutating func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, headroom: Int, from server: GATTServer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> AttributeChannel.ID {
        guard channels.count > 1, let subscription = servedClient.index(of: handle), channels[0].id == .first,
            servedClient.subscriptionChannels[subscription] != .first,
            let other = index(of: servedClient.subscriptionChannels[subscription]),
            channels[other].bearer.mtu >= channels[0].bearer.mtu
        else {
            try notify(handle, value: value, from: server, into: &writer)
            return .first
        }
        try server.notify(
            handle, value: value, subscription, client: &servedClient, bearer: channels[other].bearer,
            headroom: headroom,
            into: &writer)
        return channels[other].id
    }

    /// Writes a notification of a value.
    ///
    /// Notifications on different channels may overtake each other: use one channel for each value.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: `notSubscribed`, `changeUnaware`, `insufficientSecurity`, `valueTooLong` if the value is longer than
    ///   ATT_MTU - 3 octets, or `bearerClosed`. Nothing is written then.
    @inline(__always)
    public mutating func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, on channel: AttributeChannel.ID = .first,
        from server: GATTServer, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard let index = index(of: channel) else { throw .bearerClosed }
        try server.notify(
            handle, value: value, servedClient.index(of: handle), client: &servedClient, bearer: channels[index].bearer,
            into: &writer)
    }

    /// Writes one notification of several values, for a peer that supports it (Core 5.4, Vol 3, Part F, 3.4.7.4).
    ///
    /// - Throws: The errors of `notify`, and `multipleNotificationsNotSupported`. The maximum in `valueTooLong` is the
    ///   number of octets available for all values plus four octets for each of them.
    public mutating func notify(
        _ values: [AttributeValue], on channel: AttributeChannel.ID = .first, from server: GATTServer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard let index = index(of: channel) else { throw .bearerClosed }
        try server.notify(
            values, client: &servedClient, bearer: channels[index].bearer, into: &writer)
    }

    /// A channel on which an indication may be sent now; nil if every channel has an unconfirmed one.
    public var channelForIndication: AttributeChannel.ID? {
        for index in channels.indices where channels[index].bearer.isReadyForIndication { return channels[index].id }
        return nil
    }

    /// Writes an indication of a value. The outcome `confirmationReceived` follows on the same channel.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: The errors of `notify`, and `indicationPending` if an earlier indication on the channel is not
    ///   confirmed.
    public mutating func indicate(
        _ handle: AttributeHandle, value: Span<UInt8>, on channel: AttributeChannel.ID = .first,
        from server: GATTServer, at now: Instant, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard let index = index(of: channel) else { throw .bearerClosed }
        try server.indicate(
            handle, value: value, client: &servedClient, channel: &channels[index], at: now, into: &writer)
    }

    // MARK: - The application's answers

    // Each request of the peer gets exactly one response, on the channel of its token.

    /// Answers a read of a dynamic value.
    ///
    /// - Parameter value: The value from the requested offset on. If it does not fit in the response, it is truncated,
    ///   and the peer reads the rest with further requests.
    /// - Returns: `none`, `readRequested` if a Read Multiple Request needs one more value, or `refused` if one of its
    ///   other attributes has been removed.
    /// - Throws: `staleToken` if the request is no longer open; `wrongAnswer` if it is not a read; `valueTooLong` if
    ///   the value is longer than an attribute value can be. In the last two cases, the request stays open.
    public mutating func answer(
        _ token: GATTRequestToken, value: Span<UInt8>, server: inout GATTServer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        guard let index = index(of: token.channel) else { throw .staleToken }
        return try server.answer(token, value: value, client: servedClient, channel: &channels[index], into: &writer)
    }

    /// Accepts a write of a dynamic value, or the execution of queued writes.
    ///
    /// - Returns: `none` for a write; `preparedWritesExecuted` for queued writes, or `refused` if a value in the
    ///   database has changed in the meantime and a part no longer fits.
    /// - Throws: `staleToken` if the request is no longer open, `wrongAnswer` if it is a read.
    public mutating func accept(
        _ token: GATTRequestToken, server: inout GATTServer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        guard let index = index(of: token.channel) else { throw .staleToken }
        return try server.accept(token, client: &servedClient, channel: &channels[index], into: &writer)
    }

    /// Authorizes the access that the peer requested, for as long as the link lasts.
    ///
    /// - Returns: The PDUs that waited for the authorization, in order of arrival. Pass each of them to `resume`.
    /// - Throws: `staleToken` if nothing waits any more, `wrongAnswer` if the token is not that of an authorization
    ///   request.
    public mutating func authorize(_ token: GATTRequestToken) throws(GATTServerError) -> [GATTHeldPDU] {
        guard let index = index(of: token.channel) else { throw .staleToken }
        let held = channels[index].transaction.release(token)
        guard let first = held.first else {
            throw channels[index].pendingRequest == token ? .wrongAnswer : .staleToken
        }
        guard !channels[index].bearer.isDead else { throw .bearerClosed }
        servedClient.authorizations.insert(first.authorization)
        return held
    }

    /// Handles a PDU that `authorize` has released, on the channel of its token. The outcome is that of `serve`; its
    /// ranges refer to the held PDU.
    public mutating func resume(
        _ held: GATTHeldPDU, server: inout GATTServer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let channel = held.token?.channel, let index = index(of: channel) else { return .dropped(.bearerClosed) }
        let outcome = channels[index].resume(held, &servedClient, &server, into: &writer)
        if case .subscriptionChanged(let change) = outcome {
            servedClient.setChannel(channel, of: change.characteristic)
        }
        return outcome
    }

    /// Refuses a read, a write, an access that needs authorization, or the execution of queued writes, which are then
    /// discarded.
    ///
    /// - Parameter handle: The attribute that the Error Response names; nil for the requested one. For queued writes,
    ///   name the attribute at fault. Ignored for an access that needs authorization.
    /// - Throws: `staleToken` if the request is no longer open.
    public mutating func refuse(
        _ token: GATTRequestToken, with code: ATTErrorCode, at handle: AttributeHandle? = nil, server: GATTServer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        guard let index = index(of: token.channel) else { throw .staleToken }
        return try server.refuse(token, with: code, at: handle, channel: &channels[index], into: &writer)
    }

    /// The queued writes that the application must accept; empty if the token is not that of such a request.
    public func preparedWrites(for token: GATTRequestToken) -> GATTPreparedWrites {
        guard let index = index(of: token.channel), channels[index].pendingRequest == token else {
            return GATTPreparedWrites()
        }
        return channels[index].transaction.executing
    }

    // MARK: - The database

    /// Records that the server's database has changed. A peer that supports robust caching may not use the handles it
    /// knows until it has learned of the change (Core 5.4, Vol 3, Part G, 2.5.2.1).
    public mutating func databaseChanged() { servedClient.databaseChanged() }

    /// Records that the peer has confirmed the last change of the database: an indication of Service Changed.
    public mutating func changeConfirmed() { servedClient.changeAwareness = .aware }

    /// Discards the state for attributes that were removed from the database.
    public mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        servedClient.forget(handles)
        for index in channels.indices { channels[index].transaction.forget(handles) }
    }
}
