import BluetoothATT
import BluetoothBase

/// The GATT server of a device. It answers the requests of its clients from a database (Core 5.4, Vol 3, Part F and G).
///
/// One server serves every link. An `AttributeEndpoint` holds the state of a client (`GATTServedClient`) and of its
/// channels, and drives the server. The server reads no clock: a request that waits for the application has a deadline.
public struct GATTServer: Sendable {
    /// The attributes that the server serves to all clients.
    public var database: GATTDatabase
    /// The longest PDU this device receives, in octets: its answer to an Exchange MTU Request (Vol 3, Part F, 3.4.2.2).
    public var maximumMTU: Int
    /// The time that the application has to answer. Clients time out after 30 s and must then disconnect, so the server
    /// responds in its place before that.
    public var applicationTimeout: Duration

    /// Creates a server. By default its database is empty.
    /// - Parameter maximumMTU: The longest PDU this device receives, in octets.
    public init(
        database: GATTDatabase = GATTDatabase(), maximumMTU: Int = 517, applicationTimeout: Duration = .seconds(25)
    ) {
        self.database = database
        self.maximumMTU = maximumMTU
        self.applicationTimeout = applicationTimeout
    }

    /// Handles a PDU from a client.
    ///
    /// - Parameters:
    ///   - pdu: The whole PDU, opcode first.
    ///   - writer: Receives the response, if there is one: never more than one PDU of at most ATT_MTU octets.
    /// - Returns: The effect of the PDU, besides the response.
    @inline(__always)
    mutating func receive(
        _ pdu: Span<UInt8>, client: inout GATTServedClient, transaction: inout GATTServerTransaction,
        bearer: inout ATTBearer,
        at now: Instant, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        let start = writer.count
        let outcome = dispatch(
            pdu, client: &client, transaction: &transaction, bearer: &bearer, at: now, into: &writer)
        switch outcome {
        case .none, .valueWritten: return outcome
        case .refused(let error) where error.code == .insufficientAuthorization: break
        case .dropped(.refused(.insufficientAuthorization)): break
        default: return outcome
        }
        return hold(pdu, outcome, &transaction, at: now, from: start, into: &writer)
    }

    @inline(__always)
    private mutating func dispatch(
        _ pdu: Span<UInt8>, client: inout GATTServedClient, transaction: inout GATTServerTransaction,
        bearer: inout ATTBearer,
        at now: Instant, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard !bearer.isDead else { return transaction.drop(.bearerClosed) }
        var reader = ByteReader(pdu)
        guard let octet = try? reader.readUInt8() else { return transaction.drop(.malformed) }
        guard let opcode = ATTOpcode(rawValue: octet) else {
            return receive(unknown: octet, &transaction, into: &writer)
        }
        let kind = opcode.kind
        if kind == .request, transaction.isBusy { return transaction.drop(.requestPending) }
        let mtu = bearer.mtu
        do {
            // A PDU longer than the ATT_MTU is also malformed, and its echo would not fit.
            guard pdu.count <= mtu else { throw DecodingFailure(.trailingBytes(count: pdu.count &- mtu), at: mtu) }
            if client.changeAwareness != .aware,
                let outcome = receiveUnaware(pdu, opcode, &client, &transaction, into: &writer)
            {
                return outcome
            }
            let link = GATTLinkView(security: client.security, mtu: mtu, now: now)
            switch opcode {
            case .readRequest:
                return read(try ReadRequest(decoding: reader), client, &transaction, link, into: &writer)
            case .writeCommand:
                return write(try WriteCommand(decoding: reader), &client, &transaction, link)
            case .writeRequest:
                return write(try WriteRequest(decoding: reader), &client, &transaction, link, into: &writer)
            case .readBlobRequest:
                return read(try ReadBlobRequest(decoding: reader), client, &transaction, link, into: &writer)
            case .readByTypeRequest:
                return read(try ReadByTypeRequest(decoding: reader), client, &transaction, link, into: &writer)
            case .readByGroupTypeRequest:
                return read(try ReadByGroupTypeRequest(decoding: reader), link, into: &writer)
            case .findInformationRequest:
                return find(try FindInformationRequest(decoding: reader), link, into: &writer)
            case .findByTypeValueRequest:
                return find(try FindByTypeValueRequest(decoding: reader), client, link, into: &writer)
            case .readMultipleRequest:
                let request = try ReadMultipleRequest(decoding: reader)
                return read(request.handles, isVariable: false, client, &transaction, link, into: &writer)
            case .readMultipleVariableRequest:
                let request = try ReadMultipleVariableRequest(decoding: reader)
                return read(request.handles, isVariable: true, client, &transaction, link, into: &writer)
            case .prepareWriteRequest:
                return prepare(try PrepareWriteRequest(decoding: reader), &client, link, into: &writer)
            case .executeWriteRequest:
                return execute(try ExecuteWriteRequest(decoding: reader), &client, &transaction, link, into: &writer)
            case .exchangeMTURequest:
                return exchangeMTU(try ExchangeMTURequest(decoding: reader), bearer: &bearer, into: &writer)
            case .handleValueConfirmation:
                _ = try HandleValueConfirmation(decoding: reader)
                return confirm(&transaction, bearer: &bearer)
            case .signedWriteCommand:
                // Enhanced bearers are always encrypted and carry no signed writes; nor do bearers over BR/EDR
                // (3.4.5.4).
                guard bearer.kind == .unenhanced else { return transaction.drop(.signatureUnneeded) }
                return receive(try SignedWriteCommand(decoding: reader), client, &transaction)
            case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
                .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse,
                .readByGroupTypeResponse, .writeResponse, .prepareWriteResponse, .executeWriteResponse,
                .handleValueNotification, .handleValueIndication, .readMultipleVariableResponse,
                .multipleHandleValueNotification:
                return transaction.drop(.notForServer)
            }
        } catch {
            guard kind == .request else { return transaction.drop(pdu.count > mtu ? .tooLong : .malformed) }
            return refuse(.invalidPDU, opcode, at: 0, into: &writer)
        }
    }

    /// Refuses a PDU that is longer than this device can receive, and of which only the opcode is known. Only a request
    /// gets a response (Vol 3, Part F, 3.4.1.1).
    func refuse(
        tooLong octet: UInt8, transaction: inout GATTServerTransaction, bearer: ATTBearer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard !bearer.isDead else { return transaction.drop(.bearerClosed) }
        guard ATTOpcode.Kind(ofOpcode: octet) == .request else { return transaction.drop(.tooLong) }
        guard let opcode = ATTOpcode(rawValue: octet) else {
            return receive(unknown: octet, &transaction, into: &writer)
        }
        guard !transaction.isBusy else { return transaction.drop(.requestPending) }
        return refuse(.invalidPDU, opcode, at: 0, into: &writer)
    }

    /// Handles a PDU with an unassigned opcode (Vol 3, Part F, 3.3.1).
    private func receive(
        unknown octet: UInt8, _ transaction: inout GATTServerTransaction, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard ATTOpcode.Kind(ofOpcode: octet) == .request else { return transaction.drop(.unknownCommand) }
        guard !transaction.isBusy else { return transaction.drop(.requestPending) }
        return refuse(ATTError(requestOpcode: octet, handle: 0, code: .requestNotSupported), into: &writer)
    }

    // MARK: - Errors

    /// Writes an Error Response (Vol 3, Part F, 3.4.1.1).
    func refuse(
        _ code: ATTErrorCode, _ request: ATTOpcode, at handle: AttributeHandle, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        refuse(ATTError(code, for: request, at: handle), into: &writer)
    }

    func refuse(_ error: ATTError, into writer: inout ByteWriter) -> GATTServerOutcome {
        ErrorResponse(error).encode(into: &writer)
        return .refused(error)
    }
}

/// The state of the link that a PDU arrived on.
struct GATTLinkView {
    var security: LinkSecurity
    var mtu: Int
    var now: Instant
}
