import BluetoothATT
import BluetoothBase

// The server of a client with a single channel, whose bearer the caller keeps. `AttributeEndpoint` has the same for any
// number of channels, and the client's side with it.

extension GATTServer {
    /// Handles a PDU that a client sent.
    ///
    /// - Parameters:
    ///   - pdu: The whole PDU, opcode first.
    ///   - security: The current security of the link.
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
    /// - Throws: `notSubscribed`, `insufficientSecurity`, `valueTooLong` if the value is longer than ATT_MTU - 3
    ///   octets, `bearerClosed`. Nothing is written then.
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
    /// - Throws: as `notify`, and `multipleNotificationsNotSupported`. `valueTooLong` gives the octets available for
    ///   all values and four octets for each of them.
    public func notify(
        _ values: [GATTHandleValue], connection: borrowing GATTServerConnection, bearer: borrowing ATTBearer,
        security: LinkSecurity, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        var peer = connection.peer
        peer.security = security
        try notify(values, peer: peer, bearer: bearer, into: &writer)
    }

    /// Writes an indication of a value. `confirmationReceived` follows.
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
    /// - Parameter value: The value from the requested offset on. What does not fit into the response is left out, and
    ///   the client reads it with a further request.
    /// - Returns: `none`, or `readRequested` if a Read Multiple Request needs one more value.
    /// - Throws: `staleToken` if the request is no longer open; `wrongAnswer` if it is not a read; `valueTooLong` if
    ///   the value is longer than an attribute value can be. The request stays open in the last two cases.
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
    /// - Parameter security: The current security of the link.
    /// - Returns: `preparedWritesExecuted` for queued writes, or `refused` if a value in the database has changed
    ///   meanwhile and a part no longer fits.
    /// - Throws: `staleToken` if the request is no longer open, `wrongAnswer` if it is a read.
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
    /// - Parameter handle: The attribute at fault among queued writes; ignored for other requests.
    /// - Throws: `staleToken` if the request is no longer open.
    public func refuse(
        _ token: GATTRequestToken, with code: ATTErrorCode, at handle: AttributeHandle? = nil,
        connection: inout GATTServerConnection, bearer: ATTBearer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        try refuse(
            token, with: code, at: handle, transaction: &connection.transaction, bearer: bearer, into: &writer)
    }

    /// Answers in the application's place when its time is over (`GATTServerConnection.nextDeadline`).
    ///
    /// - Returns: `requestExpired`, or `none` if there was still time. On a dead bearer nothing is written.
    public func fire(
        at now: Instant, connection: inout GATTServerConnection, bearer: ATTBearer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        fire(at: now, transaction: &connection.transaction, bearer: bearer, into: &writer)
    }
}
