import BluetoothATT
import BluetoothBase

// The application's answers to requests that `receive` reported. Each request gets exactly one response.

extension GATTServer {
    /// Answers a read of a dynamic value.
    ///
    /// - Parameter value: The value from the requested offset on. If it does not fit in the response, it is truncated,
    ///   and the client reads the rest with further requests.
    /// - Returns: `none`, `readRequested` if a Read Multiple Request needs one more value, or `refused` if one of its
    ///   other attributes has been removed.
    /// - Throws: `staleToken` if the request is no longer open; `wrongAnswer` if it is not a read; `valueTooLong` if
    ///   the value is longer than an attribute value can be. In the last two cases, the request stays open.
    mutating func answer(
        _ token: GATTRequestToken, value: Span<UInt8>, client: borrowing GATTServedClient,
        channel: inout AttributeChannel,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        let pending = try Self.pendingRequest(token, channel)
        guard value.count <= GATTAttributeValue.maximumLength else {
            throw .valueTooLong(maximum: GATTAttributeValue.maximumLength)
        }
        let mtu = channel.bearer.mtu
        switch pending.kind {
        case .write, .execute: throw .wrongAnswer
        case .read:
            channel.transaction.pending = nil
            ReadResponse(value: value.extracting(first: mtu &- 1)).encode(into: &writer)
        case .readBlob:
            channel.transaction.pending = nil
            ReadBlobResponse(value: value.extracting(first: mtu &- 1)).encode(into: &writer)
        case .readByType(let handle):
            channel.transaction.pending = nil
            let length = Self.listedLength(of: value.count, mtu: mtu)
            ReadByTypeResponse.begin(elementLength: UInt8(truncatingIfNeeded: 2 &+ length), into: &writer)
            ReadByTypeResponse.append(handle: handle, value: value.extracting(first: length), into: &writer)
        case .readMultiple:
            channel.transaction.pending = nil
            let count = channel.transaction.collected.beginValue(ofLength: value.count, limit: mtu &- 1)
            channel.transaction.collected.writer.append(value.extracting(first: count))
            return collect(client, &channel.transaction, mtu: mtu, until: pending.deadline, into: &writer)
        }
        return .none
    }

    /// Accepts a write of a dynamic value, or the execution of queued writes.
    ///
    /// - Returns: `none` for a write; `preparedWritesExecuted` for queued writes, or `refused` if a value in the
    ///   database has changed in the meantime and a part no longer fits.
    /// - Throws: `staleToken` if the request is no longer open, `wrongAnswer` if it is a read.
    mutating func accept(
        _ token: GATTRequestToken, client: inout GATTServedClient, channel: inout AttributeChannel,
        into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        let pending = try Self.pendingRequest(token, channel)
        switch pending.kind {
        case .read, .readBlob, .readByType, .readMultiple: throw .wrongAnswer
        case .write:
            channel.transaction.pending = nil
            WriteResponse().encode(into: &writer)
            return .none
        case .execute:
            channel.transaction.pending = nil
            return executeAccepted(&client, &channel.transaction, into: &writer)
        }
    }

    /// Refuses a read, a write, an access that needs authorization, or the execution of queued writes, which are then
    /// discarded.
    ///
    /// - Parameter handle: The attribute that the Error Response names; nil for the requested one. For queued writes,
    ///   name the attribute at fault. Ignored for an access that needs authorization.
    /// - Throws: `staleToken` if the request is no longer open.
    func refuse(
        _ token: GATTRequestToken, with code: ATTErrorCode, at handle: AttributeHandle? = nil,
        channel: inout AttributeChannel, into writer: inout ByteWriter
    ) throws(GATTServerError) -> GATTServerOutcome {
        if let outcome = refuseHeld(token, with: code, &channel.transaction, into: &writer) { return outcome }
        let pending = try Self.pendingRequest(token, channel)
        return end(pending.kind, with: code, at: handle ?? pending.kind.handle, &channel.transaction, into: &writer)
    }

    /// Responds in place of the application when its time is up (`GATTServerTransaction.nextDeadline`).
    ///
    /// - Returns: `requestExpired`, or `none` if time is left. On a dead bearer, nothing is written.
    func fire(
        at now: Instant, channel: inout AttributeChannel, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let pending = channel.transaction.pending, pending.deadline <= now else {
            return fireHeld(at: now, channel: &channel, into: &writer)
        }
        guard !channel.bearer.isDead else {
            channel.transaction.pending = nil
            return .requestExpired(pending.token)
        }
        _ = end(pending.kind, with: .unlikelyError, at: pending.kind.handle, &channel.transaction, into: &writer)
        return .requestExpired(pending.token)
    }

    /// Refuses the PDUs that have waited too long for the application's authorization.
    private func fireHeld(
        at now: Instant, channel: inout AttributeChannel, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let first = channel.transaction.held.first, first.deadline <= now, let token = first.token
        else { return .none }
        if channel.bearer.isDead {
            _ = channel.transaction.release(token)
        } else {
            _ = refuseHeld(token, with: .insufficientAuthorization, &channel.transaction, into: &writer)
        }
        return .requestExpired(token)
    }

    /// The request that the token identifies.
    private static func pendingRequest(
        _ token: GATTRequestToken, _ channel: borrowing AttributeChannel
    ) throws(GATTServerError) -> GATTPendingRequest {
        guard let pending = channel.transaction.pending, pending.token == token else {
            throw channel.transaction.held.contains { $0.token == token } ? .wrongAnswer : .staleToken
        }
        guard !channel.bearer.isDead else { throw .bearerClosed }
        return pending
    }

    private func end(
        _ request: GATTPendingRequest.Kind, with code: ATTErrorCode, at handle: AttributeHandle,
        _ transaction: inout GATTServerTransaction, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        transaction.pending = nil
        if request == .execute { transaction.executing.removeAll() }
        let opcode = request.opcode(isVariable: transaction.collected.isVariable)
        return refuse(code, opcode, at: handle, into: &writer)
    }
}
