import BluetoothBase

/// The signalling channel of one LE link, both roles: a pure state machine that processes the payloads received on
/// channel 0x0005 and writes those to send, without the L2CAP header (Core 5.4, Vol 3, Part A, 4).
///
/// Each call writes one PDU at most. A command is refused as specifically as possible: with its own response if its
/// parameters are unacceptable, with a Command Reject if the command is, and not at all if it is itself a response.
public struct SignallingChannel: Sendable {
    /// The longest C-frame payload accepted and sent, in octets: what every LE device must support (Table 4.1).
    public static let mtu: UInt16 = 23
    /// The initial value of the response timeout: 1 to 60 seconds are allowed (6.2.1).
    public static let defaultResponseTimeout: Duration = .seconds(30)

    /// Our role on the link.
    public let role: LinkRole
    /// Which parameters a peripheral is granted on request; only used by a central.
    public var acceptableParameters: AcceptableConnectionParameters
    /// How long our requests wait for an answer.
    public let responseTimeout: Duration

    /// The request of ours that waits for its answer.
    private var outstanding: Outstanding?
    /// The identifier of our next command: 1 to 255, then 1 again.
    private var nextIdentifier: UInt8 = 1

    private struct Outstanding {
        var identifier: UInt8
        var deadline: Instant
    }

    public init(
        role: LinkRole, acceptableParameters: AcceptableConnectionParameters = .init(),
        responseTimeout: Duration = defaultResponseTimeout
    ) {
        self.role = role
        self.acceptableParameters = acceptableParameters
        self.responseTimeout = responseTimeout
    }
}

// MARK: - Requests of ours

extension SignallingChannel {
    /// Writes a Connection Parameter Update Request; a later call returns the outcome `connectionParameterUpdateEnded`.
    public mutating func requestConnectionParameterUpdate(
        _ parameters: ConnectionParameters, at now: Instant, into writer: inout ByteWriter
    ) throws(ConnectionParameterUpdateError) {
        guard role == .peripheral else { throw .notPeripheral }
        guard parameters.isValid else { throw .invalidParameters }
        guard outstanding == nil else { throw .requestOutstanding }
        let identifier = nextIdentifier
        nextIdentifier = identifier == .max ? 1 : identifier &+ 1
        outstanding = Outstanding(identifier: identifier, deadline: now.advanced(by: responseTimeout))
        ConnectionParameterUpdateRequest(parameters).encode(identifier: identifier, into: &writer)
    }

    /// When to call `fire`; nil if nothing is pending.
    public var nextDeadline: Instant? { outstanding?.deadline }

    /// Ends our request if it has timed out. Nothing is written.
    public mutating func fire(at now: Instant) -> SignallingOutcome {
        guard let deadline = outstanding?.deadline, deadline <= now else { return .ignored }
        outstanding = nil
        return .connectionParameterUpdateEnded(.timedOut)
    }
}

// MARK: - Commands of the peer's

extension SignallingChannel {
    /// Handles the payload of one C-frame, and writes the answer, if any.
    public mutating func receive(_ payload: Span<UInt8>, into writer: inout ByteWriter) -> SignallingOutcome {
        // Without a code and a valid identifier there is nothing to answer.
        guard payload.count >= 2, payload[1] != 0 else { return .ignored }
        let code = SignallingCode(rawValue: payload[0])
        let identifier = payload[1]
        if let code, code.isResponse {
            return receiveResponse(payload, as: code)
        }
        guard payload.count <= Int(Self.mtu) else {
            return reject(.signallingMTUExceeded(actual: Self.mtu), identifier, into: &writer)
        }
        do throws(DecodingFailure) {
            let command = try SignallingCommand(decoding: payload)
            return try receiveRequest(command, as: code, into: &writer)
        } catch {
            return reject(.commandNotUnderstood, identifier, into: &writer)
        }
    }

    private mutating func receiveRequest(
        _ command: borrowing SignallingCommand, as code: SignallingCode?, into writer: inout ByteWriter
    ) throws(DecodingFailure) -> SignallingOutcome {
        let data = ByteReader(command.data)
        switch code {
        case .connectionParameterUpdateRequest where role == .central:
            let request = try ConnectionParameterUpdateRequest(decoding: data)
            return answer(request, command.identifier, into: &writer)
        case .disconnectionRequest:
            // No channel can be closed: there are only fixed channels, which last as long as the link.
            let request = try DisconnectionRequest(decoding: data)
            let reason = CommandReject.Reason.invalidChannelIdentifier(
                local: request.destination, remote: request.source)
            return reject(reason, command.identifier, into: &writer)
        case .flowControlCredit:
            // An indication for a channel that does not exist: besides responses, the only command without an answer.
            _ = try FlowControlCredit(decoding: data)
            return .ignored
        case .leCreditBasedConnectionRequest, .creditBasedConnectionRequest, .creditBasedReconfigureRequest:
            // Credit-based channels are not supported yet, so these commands are unknown.
            return reject(.commandNotUnderstood, command.identifier, into: &writer)
        default:
            // Commands of BR/EDR links, commands that only a peripheral may send, and unknown codes.
            return reject(.commandNotUnderstood, command.identifier, into: &writer)
        }
    }

    private func answer(
        _ request: ConnectionParameterUpdateRequest, _ identifier: UInt8, into writer: inout ByteWriter
    ) -> SignallingOutcome {
        guard let granted = acceptableParameters.granted(of: request.parameters) else {
            ConnectionParameterUpdateResponse(.rejected).encode(identifier: identifier, into: &writer)
            return .connectionParameterUpdateRejected(request.parameters)
        }
        ConnectionParameterUpdateResponse(.accepted).encode(identifier: identifier, into: &writer)
        return .connectionParameterUpdateAccepted(granted)
    }

    private func reject(
        _ reason: CommandReject.Reason, _ identifier: UInt8, into writer: inout ByteWriter
    ) -> SignallingOutcome {
        CommandReject(reason).encode(identifier: identifier, into: &writer)
        return .rejected(reason)
    }

    /// Ends our request if this is its response. Any other response is dropped: unsolicited, late, repeated, of another
    /// kind, or malformed.
    private mutating func receiveResponse(_ payload: Span<UInt8>, as code: SignallingCode) -> SignallingOutcome {
        guard let command = try? SignallingCommand(decoding: payload),
            let outstanding, outstanding.identifier == command.identifier,
            let end = end(of: command, as: code)
        else { return .ignored }
        self.outstanding = nil
        return .connectionParameterUpdateEnded(end)
    }

    private func end(of command: borrowing SignallingCommand, as code: SignallingCode) -> ConnectionParameterUpdateEnd?
    {
        switch code {
        case .commandReject: return .notSupported
        case .connectionParameterUpdateResponse:
            guard let response = try? ConnectionParameterUpdateResponse(decoding: ByteReader(command.data)) else {
                return nil
            }
            return response.result == .accepted ? .accepted : .rejected
        default: return nil
        }
    }
}
