import BluetoothATT
import BluetoothBase

// Authorization (Core 5.4, Vol 3, Part F, 3.2.5; Part C, 10.5): the application decides, in its own time, whether a
// client may access an attribute. Meanwhile the client's PDU waits, which blocks only its own channel. It is handled
// again once it is authorized.

extension GATTServer {
    /// The error for a client that may not access an attribute; nil if it may.
    @inline(__always)
    func refusal(of access: GATTAccess, at index: Int, _ client: borrowing GATTServedClient) -> ATTErrorCode? {
        guard let code = database.rows[index].permissions.refusal(of: access, on: client.security) else { return nil }
        guard code == .insufficientAuthorization, isForApplication(access, at: index) else { return code }
        return client.authorizations.contains(GATTAuthorization(handle: database.rows[index].handle, access: access))
            ? nil : code
    }

    /// Whether the application decides about an access. Otherwise, Insufficient Authorization is the configured error
    /// of an attribute that imitates another device.
    private func isForApplication(_ access: GATTAccess, at index: Int) -> Bool {
        let permissions = database.rows[index].permissions
        switch access {
        case .read: return permissions.readNeedsAuthorization && permissions.read != .notAllowed
        case .write: return permissions.writeNeedsAuthorization && permissions.write != .notAllowed
        }
    }

    /// Holds a PDU that lacks only the application's authorization.
    ///
    /// - Parameter start: Where its response begins in the writer. The response is removed.
    /// - Returns: `authorizationRequested`, or `none` if the application has been asked already. The refusal, if too
    ///   many PDUs wait.
    @inline(never)
    func hold(
        _ pdu: Span<UInt8>, _ refusal: GATTServerOutcome, _ transaction: inout GATTServerTransaction, at now: Instant,
        from start: Int, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let opcode = ATTOpcode(rawValue: pdu[0]) else { return refusal }
        let access: GATTAccess
        switch opcode {
        case .readRequest, .readBlobRequest, .readByTypeRequest, .readMultipleRequest, .readMultipleVariableRequest:
            access = .read
        case .writeRequest, .writeCommand, .prepareWriteRequest: access = .write
        default: return refusal
        }
        let handle: AttributeHandle
        if case .refused(let error) = refusal {
            handle = error.handle
        } else {
            guard pdu.count >= 3 else { return refusal }
            handle = AttributeHandle(UInt16(pdu[1]) | UInt16(pdu[2]) << 8)
        }
        guard let index = database.index(of: handle), isForApplication(access, at: index) else { return refusal }
        let held = GATTHeldPDU(
            pdu: Array(pdu), authorization: GATTAuthorization(handle: handle, access: access),
            isRequest: opcode.kind == .request, arrival: now, deadline: now.advanced(by: applicationTimeout))
        guard let outcome = transaction.hold(held) else { return refusal }
        writer.truncate(to: start)
        return outcome
    }

    /// Writes a value whose signature has been verified, or holds it until the application authorizes the write.
    mutating func commitSigned(
        _ value: Span<UInt8>, to handle: AttributeHandle, _ client: inout GATTServedClient,
        _ transaction: inout GATTServerTransaction, at now: Instant
    ) -> GATTServerOutcome {
        guard let index = database.index(of: handle), database.rows[index].permissions.acceptsSignedWrites,
            refusal(ofLength: value.count, at: index) == nil
        else { return transaction.drop(.refused(.writeNotPermitted)) }
        let authorization = GATTAuthorization(handle: handle, access: .write)
        guard
            !database.rows[index].permissions.writeNeedsAuthorization || client.security.isAuthorized
                || client.authorizations.contains(authorization)
        else {
            var pdu = ByteWriter()
            pdu.append(ATTOpcode.signedWriteCommand.rawValue)
            pdu.append(handle)
            pdu.append(value)
            let held = GATTHeldPDU(
                pdu: pdu.bytes, authorization: authorization, isRequest: false, arrival: now,
                deadline: now.advanced(by: applicationTimeout))
            return transaction.hold(held) ?? transaction.drop(.refused(.insufficientAuthorization))
        }
        return commit(value, at: index, &client)
    }

    /// Handles a PDU that has waited for authorization as if it had just arrived, but within the time that the client
    /// waits.
    mutating func resume(
        _ held: GATTHeldPDU, client: inout GATTServedClient, transaction: inout GATTServerTransaction,
        bearer: inout ATTBearer,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        // Its signature has already been verified.
        if held.pdu[0] == ATTOpcode.signedWriteCommand.rawValue {
            let value = held.pdu.span.extracting(droppingFirst: 3)
            return commitSigned(value, to: held.authorization.handle, &client, &transaction, at: held.arrival)
        }
        return receive(
            held.pdu.span, client: &client, transaction: &transaction, bearer: &bearer, at: held.arrival, into: &writer)
    }

    /// Refuses the PDUs that wait for the same authorization as a token: a request with an error, commands silently.
    ///
    /// - Returns: Nil if nothing waits under this token.
    func refuseHeld(
        _ token: GATTRequestToken, with code: ATTErrorCode, _ transaction: inout GATTServerTransaction,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome? {
        let held = transaction.release(token)
        guard !held.isEmpty else { return nil }
        guard let request = held.first(where: \.isRequest), let opcode = ATTOpcode(rawValue: request.pdu[0]) else {
            return transaction.drop(.refused(code))
        }
        return refuse(code, opcode, at: request.authorization.handle, into: &writer)
    }
}

/// An authorization, granted or requested, to read or to write one attribute.
struct GATTAuthorization: Hashable, Sendable {
    var handle: AttributeHandle
    var access: GATTAccess
}

/// A client's PDU that waits for the application's authorization.
public struct GATTHeldPDU: Equatable, Sendable {
    /// The whole PDU, opcode first. For a signed write, without the signature.
    public let pdu: [UInt8]
    let authorization: GATTAuthorization
    let isRequest: Bool
    let arrival: Instant
    let deadline: Instant
    /// PDUs that wait for the same authorization share a token.
    var token: GATTRequestToken?

    init(pdu: [UInt8], authorization: GATTAuthorization, isRequest: Bool, arrival: Instant, deadline: Instant) {
        self.pdu = pdu
        self.authorization = authorization
        self.isRequest = isRequest
        self.arrival = arrival
        self.deadline = deadline
    }
}

extension GATTServerTransaction {
    /// The maximum number of a client's PDUs that wait for authorization on a channel: one request, and commands.
    static let heldLimit = 16

    /// Holds a PDU until the application decides.
    ///
    /// - Returns: The outcome to report; nil if no more PDUs may wait.
    mutating func hold(_ pdu: GATTHeldPDU) -> GATTServerOutcome? {
        guard held.count < Self.heldLimit else { return nil }
        var pdu = pdu
        let authorization = pdu.authorization
        if let earlier = held.first(where: { $0.authorization == authorization }) {
            // The application has been asked already. PDUs are handled in order of arrival, whatever the answer.
            pdu.token = earlier.token
            held.append(pdu)
            return GATTServerOutcome.none
        }
        let token = makeToken()
        pdu.token = token
        held.append(pdu)
        return .authorizationRequested(token, handle: authorization.handle, access: authorization.access)
    }

    /// Removes and returns the PDUs that wait for the same authorization as a token, in order of arrival.
    mutating func release(_ token: GATTRequestToken) -> [GATTHeldPDU] {
        let released = held.filter { $0.token == token }
        held.removeAll { $0.token == token }
        return released
    }
}
