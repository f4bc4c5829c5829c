import BluetoothBase

/// The signalling channel of one LE link, in either role. It is a pure state machine that processes payloads received
/// on channel 0x0005 and writes payloads to send, without the L2CAP header (Core 5.4, Vol 3, Part A, 4).
///
/// Each call writes at most one PDU. A command is refused as specifically as possible: with its own response if its
/// parameters are unacceptable, with a Command Reject if the command itself is, and not at all if it is a response.
public struct SignallingChannel: Sendable {
    /// The longest C-frame payload accepted and sent, in octets: the minimum that every LE device supports (Table 4.1).
    public static let mtu: UInt16 = 23
    /// The initial value of the response timeout, RTX: 1 to 60 seconds are allowed (6.2.1).
    public static let defaultResponseTimeout: Duration = .seconds(30)
    /// How much longer a peer may take after it has reported that its answer is pending, ERTX: 60 to 300 seconds are
    /// allowed (6.2.2).
    public static let extendedTimeout: Duration = .seconds(60)

    /// The local role on the link.
    public let role: LinkRole
    /// The parameters that a central grants a peripheral on request. Not used by a peripheral.
    public var acceptableParameters: AcceptableConnectionParameters
    /// How long local requests wait for a response.
    public let responseTimeout: Duration
    /// The credit-based channels of the link.
    public var channels: CreditBasedChannels

    /// The local request for connection parameters that waits for its response.
    private var outstanding: Outstanding?
    /// The identifier of the next local command: 1 to 255, then 1 again.
    private var nextIdentifier: UInt8 = 1

    private struct Outstanding {
        var identifier: UInt8
        var deadline: Instant
    }

    /// Creates the signalling channel of a new link.
    ///
    /// - Parameter channelLimit: The maximum number of simultaneous credit-based channels, at most 64.
    public init(
        role: LinkRole, acceptableParameters: AcceptableConnectionParameters = .init(),
        responseTimeout: Duration = defaultResponseTimeout, channelLimit: Int = 32
    ) {
        self.role = role
        self.acceptableParameters = acceptableParameters
        self.responseTimeout = responseTimeout
        channels = CreditBasedChannels(capacity: channelLimit)
    }

    /// An identifier that no pending local request uses. There are always fewer pending requests than identifiers.
    private mutating func makeIdentifier() -> UInt8 {
        while true {
            let identifier = nextIdentifier
            nextIdentifier = identifier == .max ? 1 : identifier &+ 1
            let isInUse =
                outstanding?.identifier == identifier || channels.requests.contains { $0.identifier == identifier }
            if !isInUse { return identifier }
        }
    }
}

// MARK: - Local requests

extension SignallingChannel {
    /// Whether a Connection Parameter Update Request is waiting for its response. While it is, another request throws
    /// `.requestOutstanding`.
    public var isRequestOutstanding: Bool { outstanding != nil }

    /// Writes a Connection Parameter Update Request; a later call returns the outcome `connectionParameterUpdateEnded`.
    public mutating func requestConnectionParameterUpdate(
        _ parameters: ConnectionParameters, at now: Instant, into writer: inout ByteWriter
    ) throws(ConnectionParameterUpdateError) {
        guard role == .peripheral else { throw .notPeripheral }
        guard parameters.isValid else { throw .invalidParameters }
        guard outstanding == nil else { throw .requestOutstanding }
        let identifier = makeIdentifier()
        outstanding = Outstanding(identifier: identifier, deadline: now.advanced(by: responseTimeout))
        ConnectionParameterUpdateRequest(parameters).encode(identifier: identifier, into: &writer)
    }

    /// Requests an LE credit-based channel to a service. `ChannelEvent.opened` or `.openingFailed` follows.
    public mutating func openChannel(
        to spsm: UInt16, parameters: ChannelParameters, at now: Instant, into writer: inout ByteWriter
    ) throws(ChannelRequestError) -> CreditBasedChannel.ID {
        try channels.open(
            spsm, parameters, as: makeIdentifier(), until: now.advanced(by: responseTimeout), into: &writer)
    }

    /// Requests one to five enhanced credit-based channels to a service at once. For each of them `ChannelEvent.opened`
    /// or `.openingFailed` follows.
    public mutating func openChannels(
        _ count: Int, to spsm: UInt16, parameters: ChannelParameters, at now: Instant, into writer: inout ByteWriter
    ) throws(ChannelRequestError) -> [CreditBasedChannel.ID] {
        try channels.open(
            count, spsm, parameters, as: makeIdentifier(), until: now.advanced(by: responseTimeout), into: &writer)
    }

    /// Informs the peer that this device accepts other SDU and K-frame lengths on some enhanced channels: longer ones
    /// or, on a single channel, shorter K-frames. `ChannelEvent.reconfigured` follows.
    public mutating func reconfigure(
        _ ids: [CreditBasedChannel.ID], mtu: UInt16, mps: UInt16, at now: Instant, into writer: inout ByteWriter
    ) throws(ChannelRequestError) {
        try channels.reconfigure(
            ids, mtu: mtu, mps: mps, as: makeIdentifier(), until: now.advanced(by: responseTimeout), into: &writer)
    }

    /// Closes a channel. Unless `isAbrupt`, waiting SDUs are sent first, as long as the peer accepts some of them every
    /// 30 seconds. `ChannelEvent.closed` follows once the peer has answered the command written by `writeOwed`.
    public mutating func close(_ id: CreditBasedChannel.ID, isAbrupt: Bool = false, at now: Instant) {
        channels.close(id, drains: !isAbrupt, at: now)
    }

    /// Writes credits for the peer, if `CreditBasedChannels` has reported that they are due.
    public mutating func giveCredits(on id: CreditBasedChannel.ID, into writer: inout ByteWriter) {
        let identifier = nextIdentifier
        // An indication has no response, so its identifier does not stay in use.
        nextIdentifier = identifier == .max ? 1 : identifier &+ 1
        channels.giveCredits(on: id, as: identifier, into: &writer)
    }

    /// Whether `writeOwed` has commands to write: for channels that this device has closed, for any reason.
    @inlinable public var owesCommands: Bool { !channels.owed.isEmpty }

    /// Writes the oldest owed command.
    public mutating func writeOwed(at now: Instant, into writer: inout ByteWriter) {
        guard owesCommands else { return }
        channels.writeOwed(as: makeIdentifier(), until: now.advanced(by: responseTimeout), into: &writer)
    }

    /// When to call `fire`; nil if nothing is pending.
    public var nextDeadline: Instant? { earliest(outstanding?.deadline, channels.nextDeadline) }

    /// Ends the local requests that have timed out. Nothing is written.
    public mutating func fire(at now: Instant) -> SignallingOutcome {
        while channels.expire(at: now) {}
        channels.endDrained(at: now)
        guard let deadline = outstanding?.deadline, deadline <= now else {
            return channels.events.isEmpty ? .ignored : .channelsChanged
        }
        outstanding = nil
        return .connectionParameterUpdateEnded(.timedOut)
    }
}

// MARK: - Commands from the peer

extension SignallingChannel {
    /// Handles the payload of one C-frame, and writes the response, if any. Whatever the outcome,
    /// `CreditBasedChannels.events` reports the effect on channels, and further commands may be owed.
    ///
    /// - Parameter admission: Decides on a peer's request for a channel to a service.
    public mutating func receive(
        _ payload: Span<UInt8>, into writer: inout ByteWriter,
        admission: (_ spsm: UInt16) -> ChannelAdmission = { _ in .refused(.spsmNotSupported) }
    ) -> SignallingOutcome {
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
            return try receiveRequest(command, as: code, into: &writer, admission)
        } catch {
            return reject(.commandNotUnderstood, identifier, into: &writer)
        }
    }

    /// Handles the beginning of a C-frame that is longer than this host can receive. It is rejected like other C-frames
    /// that are too long.
    public mutating func receiveTooLong(_ start: Span<UInt8>, into writer: inout ByteWriter) -> SignallingOutcome {
        guard start.count >= 2, start[1] != 0, SignallingCode(rawValue: start[0])?.isResponse != true else {
            return .ignored
        }
        return reject(.signallingMTUExceeded(actual: Self.mtu), start[1], into: &writer)
    }

    private mutating func receiveRequest(
        _ command: borrowing SignallingCommand, as code: SignallingCode?, into writer: inout ByteWriter,
        _ admission: (UInt16) -> ChannelAdmission
    ) throws(DecodingFailure) -> SignallingOutcome {
        let data = ByteReader(command.data)
        let identifier = command.identifier
        switch code {
        case .connectionParameterUpdateRequest where role == .central:
            let request = try ConnectionParameterUpdateRequest(decoding: data)
            return answer(request, identifier, into: &writer)
        case .leCreditBasedConnectionRequest:
            let request = try LECreditBasedConnectionRequest(decoding: data)
            channels.answer(request, admission: admission).encode(identifier: identifier, into: &writer)
        case .creditBasedConnectionRequest:
            guard let request = try? CreditBasedConnectionRequest(decoding: data) else {
                return try refuseList(command, into: &writer)
            }
            channels.answer(request, admission: admission).encode(identifier: identifier, into: &writer)
        case .creditBasedReconfigureRequest:
            guard let request = try? CreditBasedReconfigureRequest(decoding: data) else {
                return try refuseReconfiguration(command, into: &writer)
            }
            channels.answer(request).encode(identifier: identifier, into: &writer)
        case .disconnectionRequest:
            let request = try DisconnectionRequest(decoding: data)
            switch channels.answer(request) {
            case .respond:
                DisconnectionResponse(destination: request.destination, source: request.source)
                    .encode(identifier: identifier, into: &writer)
            case .ignore: return .ignored
            case .reject:
                let reason = CommandReject.Reason.invalidChannelIdentifier(
                    local: request.destination, remote: request.source)
                return reject(reason, identifier, into: &writer)
            }
        case .flowControlCredit: channels.take(try FlowControlCredit(decoding: data))
        default:
            // Commands of BR/EDR links, commands that only a peripheral may send, and unknown codes.
            return reject(.commandNotUnderstood, identifier, into: &writer)
        }
        return channels.events.isEmpty ? .ignored : .channelsChanged
    }

    /// Refuses a request for channels whose list of endpoints is empty, has more than five entries, or ends with half
    /// an entry (4.26).
    private func refuseList(
        _ command: borrowing SignallingCommand, into writer: inout ByteWriter
    ) throws(DecodingFailure) -> SignallingOutcome {
        let fixedLength = 8
        guard command.data.count >= fixedLength else {
            throw DecodingFailure(.truncated(missing: fixedLength - command.data.count), at: command.data.count)
        }
        CreditBasedConnectionResponse(
            mtu: 0, mps: 0, initialCredits: 0, result: .invalidParameters, destinations: []
        ).encode(identifier: command.identifier, into: &writer)
        return .ignored
    }

    private func refuseReconfiguration(
        _ command: borrowing SignallingCommand, into writer: inout ByteWriter
    ) throws(DecodingFailure) -> SignallingOutcome {
        let fixedLength = 4
        guard command.data.count >= fixedLength else {
            throw DecodingFailure(.truncated(missing: fixedLength - command.data.count), at: command.data.count)
        }
        CreditBasedReconfigureResponse(.otherUnacceptableParameters)
            .encode(identifier: command.identifier, into: &writer)
        return .ignored
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

    /// Ends the local request if this is its response. Any other response is dropped: one that is unsolicited, late,
    /// repeated, of another kind, or malformed.
    private mutating func receiveResponse(_ payload: Span<UInt8>, as code: SignallingCode) -> SignallingOutcome {
        guard let command = try? SignallingCommand(decoding: payload) else { return .ignored }
        if channels.receiveResponse(command, as: code) {
            return channels.events.isEmpty ? .ignored : .channelsChanged
        }
        guard let outstanding, outstanding.identifier == command.identifier, let end = end(of: command, as: code)
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
            // A reserved result is an answer as well, but not an agreement.
            return response.result == .accepted ? .accepted : .rejected
        default: return nil
        }
    }
}
