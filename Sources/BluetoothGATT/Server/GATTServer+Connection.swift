import BluetoothATT
import BluetoothBase

// The server of a client with a single channel, whose bearer the caller keeps. `AttributeEndpoint` has the same for any
// number of channels, and the client's side with it.

extension GATTServer {
    /// Handles a PDU that a client sent.
    ///
    /// - Parameters:
    ///   - pdu: The whole PDU, opcode first.
    ///   - security: How well the link is protected at this moment.
    ///   - writer: Gets the response, if there is one; never more than one PDU of at most ATT_MTU octets.
    /// - Returns: What else happened.
    public mutating func receive(
        _ pdu: Span<UInt8>, connection: inout GATTServerConnection, bearer: inout ATTBearer, security: LinkSecurity,
        at now: Instant, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        connection.peer.security = security
        return receive(
            pdu, peer: &connection.peer, transaction: &connection.transaction, bearer: &bearer, at: now,
            into: &writer)
    }

    /// Writes a notification of a value.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: `notSubscribed`, `insufficientSecurity`, `valueTooLong` where the value is longer than ATT_MTU - 3 octets,
    ///   `bearerClosed`. Nothing has been written then.
    public func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, connection: borrowing GATTServerConnection,
        bearer: borrowing ATTBearer, security: LinkSecurity, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        var peer = connection.peer
        peer.security = security
        try notify(handle, value: value, peer: peer, bearer: bearer, into: &writer)
    }

    /// Writes one notification of several values, for a client that understands it (Core 5.4, Vol 3, Part F, 3.4.7.4).
    ///
    /// - Throws: as `notify`, and `multipleNotificationsNotSupported`. `valueTooLong` says how many octets there are for
    ///   all values and four octets for each of them.
    public func notify(
        _ values: [GATTHandleValue], connection: borrowing GATTServerConnection, bearer: borrowing ATTBearer,
        security: LinkSecurity, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        var peer = connection.peer
        peer.security = security
        try notify(values, peer: peer, bearer: bearer, into: &writer)
    }

    /// Writes an indication of a value. `confirmationReceived` follows when the client has it.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: as `notify`, and `indicationPending`.
    public func indicate(
        _ handle: AttributeHandle, value: Span<UInt8>, connection: inout GATTServerConnection,
        bearer: inout ATTBearer, security: LinkSecurity, at now: Instant, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        connection.peer.security = security
        try indicate(
            handle, value: value, peer: connection.peer, transaction: &connection.transaction, bearer: &bearer,
            at: now, into: &writer)
    }

    /// Answers a read of a dynamic value.
    ///
    /// - Parameter value: The value from the offset on that was asked for. What does not fit into the response is left
    ///   out, and the client asks for it by a further read.
    /// - Returns: `none`, or `readRequested` where a Read Multiple Request asks for one more value.
    /// - Throws: `staleToken` where the request is no longer open; `wrongAnswer` where it is not a read; `valueTooLong`
    ///   where the value is longer than an attribute's can be. The request stays open in the last two cases.
    public mutating func answer(
        _ token: GATTRequestToken, value: Span<UInt8>, connection: inout GATTServerConnection, bearer: ATTBearer,
        at now: Instant, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        try answer(
            token, value: value, peer: connection.peer, transaction: &connection.transaction, bearer: bearer, at: now,
            into: &writer)
    }

    /// Accepts a write of a dynamic value, or the execution of queued writes.
    ///
    /// - Parameter security: How well the link is protected at this moment.
    /// - Returns: `preparedWritesExecuted` for queued writes, or `refused` where a value that the database keeps has
    ///   changed in the meantime so that a part no longer suits it.
    /// - Throws: `staleToken` where the request is no longer open, `wrongAnswer` where it is a read.
    public mutating func accept(
        _ token: GATTRequestToken, connection: inout GATTServerConnection, bearer: ATTBearer, security: LinkSecurity,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        connection.peer.security = security
        return try accept(
            token, peer: &connection.peer, transaction: &connection.transaction, bearer: bearer, into: &writer)
    }

    /// Refuses a read, a write or the execution of queued writes, which are then forgotten.
    ///
    /// - Parameter handle: The attribute to blame where several were to be written; of other requests it is known.
    /// - Throws: `staleToken` where the request is no longer open.
    public func refuse(
        _ token: GATTRequestToken, with code: ATTErrorCode, at handle: AttributeHandle? = nil,
        connection: inout GATTServerConnection, bearer: ATTBearer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        try refuse(
            token, with: code, at: handle, transaction: &connection.transaction, bearer: bearer, into: &writer)
    }

    /// Answers in the application's place where its time is over (`GATTServerConnection.nextDeadline`).
    ///
    /// - Returns: `requestExpired`, or `none` where there was still time. On a dead bearer nothing is written.
    public func fire(
        at now: Instant, connection: inout GATTServerConnection, bearer: ATTBearer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        fire(at: now, transaction: &connection.transaction, bearer: bearer, into: &writer)
    }
}
