import BluetoothBase
import BluetoothL2CAP

/// Our role, then what happens: the peer sends a C-frame, we send a request, or time passes.
func fuzzSignalling(_ input: inout FuzzInput) throws(FuzzViolation) {
    let role: LinkRole = input.choice(of: 2) == 0 ? .central : .peripheral
    var channel = SignallingChannel(role: role)
    var now = Instant.zero
    while !input.isEmpty {
        let isWaiting = channel.nextDeadline != nil
        var writer = ByteWriter()
        let outcome: SignallingOutcome
        switch input.choice(of: 8) {
        case 0:
            let parameters = ConnectionParameters(
                intervalMin: input.word(), intervalMax: input.word(), latency: input.word(), timeout: input.word())
            try? channel.requestConnectionParameterUpdate(parameters, at: now, into: &writer)
            let mayAsk = role == .peripheral && parameters.isValid && !isWaiting
            try require(!writer.bytes.isEmpty == mayAsk, "a request was sent, or was not")
            try require((channel.nextDeadline != nil) == (isWaiting || mayAsk), "the deadline of a request")
            continue
        case 1:
            now = now.advanced(by: .seconds(Int64(input.byte())))
            outcome = channel.fire(at: now)
            try require(channel.nextDeadline.map { $0 > now } ?? true, "a deadline that has passed")
        default:
            let payload = input.chunk()
            outcome = channel.receive(payload, into: &writer)
            try checkAnswer(writer.bytes, to: payload)
            try fuzzSignallingCommand(payload)
        }
        switch outcome {
        // A request about channels may be refused with its own response.
        case .ignored: try require(writer.isEmpty || writer[0] != 0x01, "a rejection of what is ignored")
        case .rejected: try require(writer.bytes.first == 0x01, "no Command Reject")
        case .connectionParameterUpdateAccepted(let parameters):
            try require(role == .central && parameters.isValid, "\(parameters) accepted")
            try require(writer.bytes.suffix(2) == [0, 0], "no accepting response")
        case .connectionParameterUpdateRejected: try require(writer.bytes.suffix(2) == [1, 0], "no rejecting response")
        case .channelsChanged: channel.channels.events = []
        case .connectionParameterUpdateEnded:
            try require(isWaiting && channel.nextDeadline == nil, "the end of no request")
            try require(writer.bytes.isEmpty, "an answer to an answer")
        }
    }
}

private func checkAnswer(_ answer: [UInt8], to payload: Span<UInt8>) throws(FuzzViolation) {
    guard !answer.isEmpty else { return }
    try require(answer.count <= Int(SignallingChannel.mtu), "an answer of \(answer.count) octets")
    guard let command = try? SignallingCommand(decoding: answer.span) else {
        throw FuzzViolation(description: "an answer that is no command")
    }
    try require(SignallingCode(rawValue: command.code)?.isResponse == true, "an answer that is no response")
    try require(command.identifier == payload[1] && command.identifier != 0, "an answer to something else")
    try require(SignallingCode(rawValue: payload[0])?.isResponse != true, "an answer to a response")
}

/// If it decodes as one of the commands, it encodes to the same bytes.
private func fuzzSignallingCommand(_ payload: Span<UInt8>) throws(FuzzViolation) {
    guard let command = try? SignallingCommand(decoding: payload) else { return }
    switch SignallingCode(rawValue: command.code) {
    case .commandReject: try recode(command, as: CommandReject.self, payload)
    case .disconnectionRequest: try recode(command, as: DisconnectionRequest.self, payload)
    case .disconnectionResponse: try recode(command, as: DisconnectionResponse.self, payload)
    case .connectionParameterUpdateRequest: try recode(command, as: ConnectionParameterUpdateRequest.self, payload)
    case .connectionParameterUpdateResponse: try recode(command, as: ConnectionParameterUpdateResponse.self, payload)
    case .leCreditBasedConnectionRequest: try recode(command, as: LECreditBasedConnectionRequest.self, payload)
    case .leCreditBasedConnectionResponse: try recode(command, as: LECreditBasedConnectionResponse.self, payload)
    case .flowControlCredit: try recode(command, as: FlowControlCredit.self, payload)
    case .creditBasedConnectionRequest: try recode(command, as: CreditBasedConnectionRequest.self, payload)
    case .creditBasedConnectionResponse: try recode(command, as: CreditBasedConnectionResponse.self, payload)
    case .creditBasedReconfigureRequest: try recode(command, as: CreditBasedReconfigureRequest.self, payload)
    case .creditBasedReconfigureResponse: try recode(command, as: CreditBasedReconfigureResponse.self, payload)
    case .connectionRequest, .connectionResponse, .configurationRequest, .configurationResponse, .echoRequest,
        .echoResponse, .informationRequest, .informationResponse, nil:
        return
    }
}

private func recode<PDU: SignallingPDU>(
    _ command: borrowing SignallingCommand, as type: PDU.Type, _ payload: Span<UInt8>
) throws(FuzzViolation) {
    guard let pdu = try? PDU(decoding: ByteReader(command.data)) else { return }
    var writer = ByteWriter()
    pdu.encode(identifier: command.identifier, into: &writer)
    // Only the reason of a reject with an unknown reason is kept.
    let isKept = PDU.code != .commandReject || writer.count == payload.count
    try require(!isKept || writer.bytes == Array(payload), "\(pdu) changes")
}
