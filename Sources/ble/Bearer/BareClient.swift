import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT

/// Surveys the database of the server at the other end of a bare bearer.
struct BareClient: BearerUser, Sendable {
    var outgoing: [[UInt8]] = []
    var lines: [String] = []
    var complaints: [String] = []
    private(set) var isDead = false
    private(set) var survey = DatabaseSurvey()
    private var endpoint = AttributeEndpoint()
    /// Answers the peer's requests, with an empty database.
    private var server = GATTServer()

    var isFinished: Bool { survey.operation == nil }
    var nextDeadline: Instant? { endpoint.nextDeadline }

    mutating func begin(at now: Instant) { start(at: now) }

    mutating func receive(_ packet: [UInt8], at now: Instant) {
        var writer = ByteWriter()
        let outcome = endpoint.receive(packet.span, on: .first, server: &server, at: now, into: &writer)
        finish(writer, outcome, at: now)
    }

    mutating func enter(_ line: String, at now: Instant) {}

    mutating func fire(at now: Instant) {
        while let channel = endpoint.dueChannel(at: now), !isDead {
            var writer = ByteWriter()
            let outcome = endpoint.fire(channel, server: server, at: now, into: &writer)
            finish(writer, outcome, at: now)
        }
    }

    private mutating func finish(_ writer: ByteWriter, _ outcome: AttributeOutcome, at now: Instant) {
        if !writer.isEmpty { outgoing.append(writer.bytes) }
        if case .channelDied = outcome { isDead = true }
        let events = endpoint.events
        endpoint.events = []
        for event in events {
            switch event {
            case .completed(_, let result): survey.take(.success(result))
            case .failed(_, .att(let error)): survey.take(.failure(error))
            case .failed(_, let error):
                complaints.append("the server violated the protocol: \(error)")
                isDead = true
            }
            if !isDead { start(at: now) }
        }
    }

    private mutating func start(at now: Instant) {
        guard let operation = survey.operation else { return }
        var writer = ByteWriter()
        // There is only one operation at a time, and the channel is alive, so the operation cannot be refused.
        _ = try? endpoint.start(operation, at: now, into: &writer)
        if !writer.isEmpty { outgoing.append(writer.bytes) }
        // An operation that needs no request has already ended.
        if !endpoint.events.isEmpty { finish(ByteWriter(), .response, at: now) }
    }
}
