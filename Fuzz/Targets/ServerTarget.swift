import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// What happens to a server: its client sends a PDU, the application answers or notifies, the link gets better or
/// worse, time passes.
func fuzzServer(_ input: inout FuzzInput) throws(FuzzViolation) {
    var bench = ServerBench(mtu: 23 + Int(input.word()) % 600)
    while !input.isEmpty {
        switch input.choice(of: 24) {
        case 0: bench.endpoint.security = input.security()
        case 1: try bench.pass(.seconds(Int64(input.byte())))
        case 2: try bench.answer(input.chunk())
        case 3: try bench.accept()
        case 4: try bench.refuse(ATTErrorCode(rawValue: input.byte()))
        case 5: try bench.notify(AttributeHandle(rawValue: input.word()), input.chunk())
        case 6: try bench.indicate(AttributeHandle(rawValue: input.word()), input.chunk())
        default: try bench.send(input.chunk())
        }
    }
    try bench.checkDatabase()
}

/// A server with one client.
private struct ServerBench {
    var server = ServerBench.prototype
    var endpoint: AttributeEndpoint
    var now = Instant.zero
    var token: GATTRequestToken?
    /// The opcode of the request that the application must answer, and when its time is over.
    var pending: (opcode: UInt8?, deadline: Instant)?

    private static let prototype = GATTServer(database: .forFuzzing())

    init(mtu: Int) {
        var bearer = ATTBearer()
        if mtu > 23 { bearer.exchangeMTU(clientRxMTU: UInt16(mtu), serverRxMTU: UInt16(mtu)) }
        endpoint = AttributeEndpoint(bearer: bearer)
    }

    private var bearer: ATTBearer { endpoint.channels[0].bearer }

    mutating func send(_ pdu: Span<UInt8>) throws(FuzzViolation) {
        var writer = ByteWriter()
        let mtu = bearer.mtu
        let isDead = bearer.isDead
        let wasPending = pending != nil
        let outcome = endpoint.serve(pdu, on: .first, server: &server, at: now, into: &writer)
        try note(outcome, request: pdu.isEmpty ? nil : pdu[0])
        try require(writer.count <= mtu, "a response of \(writer.count) octets where \(mtu) fit")
        guard !pdu.isEmpty, !isDead else { return try require(writer.bytes.isEmpty, "an answer to nothing") }
        if ATTOpcode.Kind(ofOpcode: pdu[0]) == .request, !wasPending, pending == nil {
            try checkResponse(writer.bytes, to: pdu[0])
        } else {
            try require(writer.bytes.isEmpty, "an answer where none is due")
        }
        if case .valueWritten(_, let value) = outcome {
            try require(value.lowerBound >= 0 && value.upperBound <= pdu.count, "a value out of range")
        }
        if case .writeRequested(_, _, let value) = outcome {
            try require(value.lowerBound >= 0 && value.upperBound <= pdu.count, "a value out of range")
        }
    }

    mutating func pass(_ time: Duration) throws(FuzzViolation) {
        now = now.advanced(by: time)
        while let channel = endpoint.dueChannel(at: now) {
            var writer = ByteWriter()
            switch endpoint.fire(channel, server: server, at: now, into: &writer) {
            case .channelDied: try require(bearer.isDead, "a bearer that lives on")
            case .server(.requestExpired):
                guard let expired = pending else { throw FuzzViolation(description: "a request that is none") }
                try require(expired.deadline <= now, "a request expired too early")
                pending = nil
                if !bearer.isDead, let opcode = expired.opcode { try checkResponse(writer.bytes, to: opcode) }
            case let outcome: throw FuzzViolation(description: "nothing was due: \(outcome)")
            }
        }
        try require(pending.map { $0.deadline > now } ?? true, "a request that should have expired")
    }

    mutating func answer(_ value: Span<UInt8>) throws(FuzzViolation) {
        try settle { bench, token, writer throws(GATTServerError) in
            try bench.endpoint.answer(token, value: value, server: &bench.server, into: &writer)
        }
    }

    mutating func accept() throws(FuzzViolation) {
        try settle { bench, token, writer throws(GATTServerError) in
            try bench.endpoint.accept(token, server: &bench.server, into: &writer)
        }
    }

    mutating func refuse(_ code: ATTErrorCode) throws(FuzzViolation) {
        try settle { bench, token, writer throws(GATTServerError) in
            try bench.endpoint.refuse(token, with: code, server: bench.server, into: &writer)
        }
    }

    /// Lets the application answer, with its last token.
    private mutating func settle(
        _ body: (inout ServerBench, GATTRequestToken, inout ByteWriter) throws(GATTServerError) -> GATTServerOutcome
    ) throws(FuzzViolation) {
        guard let token else { return }
        var writer = ByteWriter()
        let opcode = pending?.opcode
        let outcome: GATTServerOutcome
        do throws(GATTServerError) {
            outcome = try body(&self, token, &writer)
        } catch {
            return try require(writer.bytes.isEmpty, "an answer although \(error)")
        }
        guard let opcode else { throw FuzzViolation(description: "a stale token was taken") }
        pending = nil
        try note(outcome, request: opcode)
        if pending == nil { try checkResponse(writer.bytes, to: opcode) }
    }

    mutating func notify(_ handle: AttributeHandle, _ value: Span<UInt8>) throws(FuzzViolation) {
        var writer = ByteWriter()
        let configuration = endpoint.servedClient.configuration(of: handle)
        do throws(GATTServerError) {
            try endpoint.notify(handle, value: value, from: server, into: &writer)
        } catch {
            return try require(writer.bytes.isEmpty, "a notification although \(error)")
        }
        try require(configuration.contains(.notifications), "a notification without a subscription")
        try require(writer.count <= bearer.mtu && writer.count == value.count + 3, "a notification of another length")
    }

    mutating func indicate(_ handle: AttributeHandle, _ value: Span<UInt8>) throws(FuzzViolation) {
        var writer = ByteWriter()
        let isWaiting = bearer.isIndicationInFlight
        do throws(GATTServerError) {
            try endpoint.indicate(handle, value: value, from: server, at: now, into: &writer)
        } catch {
            return try require(writer.bytes.isEmpty, "an indication although \(error)")
        }
        try require(!isWaiting, "an indication before the last one was confirmed")
        try require(writer.count <= bearer.mtu && writer.count == value.count + 3, "an indication of another length")
    }

    private mutating func note(_ outcome: GATTServerOutcome, request: UInt8?) throws(FuzzViolation) {
        switch outcome {
        case .readRequested(let token, _, let offset):
            try require(offset <= 0xFFFF, "an offset of \(offset)")
            wait(token, request)
        case .writeRequested(let token, _, _), .executeRequested(let token): wait(token, request)
        default: break
        }
        let peer = endpoint.servedClient
        try require((pending != nil) == (endpoint.channels[0].pendingRequest != nil), "a request that nobody waits for")
        try require(peer.preparedWrites.count <= 64, "\(peer.preparedWrites.count) queued writes")
        try require(peer.subscriptions.count <= 4, "\(peer.subscriptions.count) subscriptions")
    }

    private mutating func wait(_ token: GATTRequestToken, _ request: UInt8?) {
        self.token = token
        pending = (request, now.advanced(by: server.applicationTimeout))
    }

    private func checkResponse(_ response: [UInt8], to request: UInt8) throws(FuzzViolation) {
        try require(response.count <= bearer.mtu, "a response of \(response.count) octets")
        guard let first = response.first else { throw FuzzViolation(description: "no response") }
        if first == ATTOpcode.errorResponse.rawValue {
            try require(response.count == 5 && response[1] == request, "an error for another request")
        } else {
            try require(first == ATTOpcode(rawValue: request)?.response?.rawValue, "a response to another request")
        }
        guard (try? ATTMessage(decoding: response.span)) != nil else {
            throw FuzzViolation(description: "a response without its proper shape: \(response)")
        }
    }

    /// Read-only values are unchanged, and values of fixed length have kept it.
    func checkDatabase() throws(FuzzViolation) {
        let original = Self.prototype.database
        for handle in original.handlesForFuzzing {
            guard let old = original.value(of: handle), let new = server.database.value(of: handle) else { continue }
            try require(new.count <= GATTAttributeValue.maximumLength, "\(handle) has \(new.count) octets")
            switch handle.rawValue {
            case ServerHandles.fixed: try require(new.count == old.count, "\(handle) has \(new.count) octets")
            case ServerHandles.short: try require(new.count <= 8, "\(handle) has \(new.count) octets")
            case ServerHandles.long, ServerHandles.protected: break
            default: try require(new == old, "\(handle) has changed")
            }
        }
    }
}

extension FuzzInput {
    @_lifetime(self: copy self)
    fileprivate mutating func security() -> LinkSecurity {
        let bits = byte()
        return LinkSecurity(
            isEncrypted: bits & 1 != 0, isAuthenticated: bits & 2 != 0, usesSecureConnections: bits & 4 != 0,
            encryptionKeySize: bits & 1 != 0 ? 7 + (bits >> 5) : 0, isBonded: bits & 8 != 0,
            isAuthorized: bits & 16 != 0)
    }
}
