import BluetoothATT
import BluetoothBase

// The application's answers to what `receive` asked of it. Each request gets exactly one response.

extension GATTServer {
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
        let pending = try Self.pendingRequest(token, connection, bearer)
        guard value.count <= GATTAttributeValue.maximumLength else {
            throw .valueTooLong(maximum: GATTAttributeValue.maximumLength)
        }
        let mtu = bearer.mtu
        switch pending.kind {
        case .write, .execute: throw .wrongAnswer
        case .read:
            connection.pending = nil
            ReadResponse(value: value.extracting(first: mtu &- 1)).encode(into: &writer)
        case .readBlob:
            connection.pending = nil
            ReadBlobResponse(value: value.extracting(first: mtu &- 1)).encode(into: &writer)
        case .readByType(let handle):
            connection.pending = nil
            let length = Self.listedLength(of: value.count, mtu: mtu)
            ReadByTypeResponse.begin(elementLength: UInt8(truncatingIfNeeded: 2 &+ length), into: &writer)
            ReadByTypeResponse.append(handle: handle, value: value.extracting(first: length), into: &writer)
        case .readMultiple:
            connection.pending = nil
            let count = connection.collected.beginValue(ofLength: value.count, limit: mtu &- 1)
            connection.collected.writer.append(value.extracting(first: count))
            return collect(&connection, mtu: mtu, at: now, into: &writer)
        }
        return .none
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
        let pending = try Self.pendingRequest(token, connection, bearer)
        switch pending.kind {
        case .read, .readBlob, .readByType, .readMultiple: throw .wrongAnswer
        case .write:
            connection.pending = nil
            WriteResponse().encode(into: &writer)
            return .none
        case .execute:
            connection.pending = nil
            return executeAccepted(&connection, security, into: &writer)
        }
    }

    /// Refuses a read, a write or the execution of queued writes, which are then forgotten.
    ///
    /// - Parameter handle: The attribute to blame where several were to be written; of other requests it is known.
    /// - Throws: `staleToken` where the request is no longer open.
    public func refuse(
        _ token: GATTRequestToken, with code: ATTErrorCode, at handle: AttributeHandle? = nil,
        connection: inout GATTServerConnection, bearer: ATTBearer, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        let pending = try Self.pendingRequest(token, connection, bearer)
        return end(pending.kind, with: code, at: handle ?? pending.kind.handle, &connection, into: &writer)
    }

    /// Answers in the application's place where its time is over (`GATTServerConnection.nextDeadline`).
    ///
    /// - Returns: `requestExpired`, or `none` where there was still time. On a dead bearer nothing is written.
    public func fire(
        at now: Instant, connection: inout GATTServerConnection, bearer: ATTBearer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let pending = connection.pending, pending.deadline <= now else { return .none }
        guard !bearer.isDead else {
            connection.pending = nil
            return .requestExpired(pending.token)
        }
        _ = end(pending.kind, with: .unlikelyError, at: pending.kind.handle, &connection, into: &writer)
        return .requestExpired(pending.token)
    }

    /// The request that waits for the answer with this token.
    private static func pendingRequest(
        _ token: GATTRequestToken, _ connection: borrowing GATTServerConnection, _ bearer: ATTBearer
    ) throws(GATTServerError) -> GATTPendingRequest {
        guard let pending = connection.pending, pending.token == token else { throw .staleToken }
        guard !bearer.isDead else { throw .bearerClosed }
        return pending
    }

    private func end(
        _ request: GATTPendingRequest.Kind, with code: ATTErrorCode, at handle: AttributeHandle,
        _ connection: inout GATTServerConnection, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        connection.pending = nil
        if request == .execute { connection.preparedWrites.removeAll() }
        let opcode = request.opcode(isVariable: connection.collected.isVariable)
        return refuse(code, opcode, at: handle, into: &writer)
    }
}
