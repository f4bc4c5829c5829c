import FuzzDriver

@testable import GatewayESPHome

/// Frames in the clear, and octets between them, in pieces of any size. What is sent as a frame arrives as it was sent,
/// as long as nothing else was.
func fuzzPlaintext(_ script: inout Script) throws {
    let piece = 1 + script.choice(of: 64)
    var client = PlaintextFraming(), stream: [UInt8] = []
    var honest: [Frame] = [], isHonest = true
    for _ in 0..<Script.limit where !script.isEmpty {
        if script.choice(of: 4) == 3 {
            let octets = script.chunk()
            stream += octets
            if !octets.isEmpty { isHonest = false }
        } else {
            let frame = Frame(messageTypes[script.choice(of: messageTypes.count)], script.chunk())
            client.send(frame, into: &stream)
            if isHonest { honest.append(frame) }
        }
    }
    var server = PlaintextFraming(), conversation = Conversation(), taken: [Frame] = []
    do throws(ProtocolFailure) {
        var rest = stream[...]
        while !rest.isEmpty {
            server.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let event = try server.next() {
                if case .frame(let frame) = event { taken.append(frame) }
            }
        }
    } catch {
        try checkPlain(error)
        try require(!isHonest, "what was sent as it should be is refused: \(error.reason)")
    }
    try require(taken.starts(with: honest) || honest.starts(with: taken), "something else arrives")
    try require(!isHonest || taken.count == honest.count, "\(honest.count) messages were sent, \(taken.count) arrive")
    for frame in taken where conversation.isOpen { try conversation.receive(frame) }
    try conversation.end(limit: PlaintextFraming.longestPayload)
}

/// A reason, and a farewell that is a whole frame.
private func checkPlain(_ failure: ProtocolFailure) throws {
    try require(!failure.reason.isEmpty, "a failure without a reason")
    var client = PlaintextFraming()
    client.append(failure.farewell)
    try require(try client.next() == .frame(Frame(.disconnectRequest)), "another farewell: \(failure.farewell)")
}

let plaintextSeeds: [[UInt8]] = [
    [63] + honestMessages, [0] + honestMessages, [63, 3, 6, 0, 0, 7, 0, 0, 1] + honestMessages,
    [63, 3, 6, 0, 0x80, 0x80, 0x80, 0x80, 1], [63, 3, 4, 1, 0, 1, 0],
]
