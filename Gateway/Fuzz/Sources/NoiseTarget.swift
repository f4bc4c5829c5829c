import Crypto
import FuzzDriver
@testable import GatewayESPHome

private let key = Array(0..<32 as Range<UInt8>)
private let theirs = privateKey(0x40..<0x60)
private let ours = privateKey(0x80..<0xA0)

private func privateKey(_ octets: Range<UInt8>) -> Curve25519.KeyAgreement.PrivateKey {
    guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: Array(octets)) else {
        fatalError("no key")
    }
    return key
}

/// An encrypted conversation. A handshake with the key is answered, and any other is not; what was changed on the way
/// is never taken for a message; either side understands what the other sends.
func fuzzNoise(_ script: inout Script) throws {
    var server = NoiseFraming(
        key: SymmetricKey(data: key), name: "attic", address: "02AABBCCDDEE", makeEphemeral: { ours })
    if script.choice(of: 4) == 3 { return try strangers(&server, &script) }
    var client = NoiseClient(key: key, ephemeral: theirs, hello: script.chunk())
    let hello = client.opening
    guard hello[1] == 0 else { return }
    let events = try outcome(&server, hello)
    guard events.failure == nil, events.replies.count == 2 else {
        throw Violation(description: "an honest handshake is refused: \(events.failure?.reason ?? "")")
    }
    try client.finish(Array(events.replies[1].dropFirst(4)))

    var conversation = Conversation()
    for _ in 0..<Script.limit where !script.isEmpty && conversation.isOpen {
        let step = script.choice(of: 4)
        if step == 1 {
            let answer = Frame(messageTypes[script.choice(of: messageTypes.count)], script.chunk())
            var octets: [UInt8] = []
            server.send(answer, into: &octets)
            try require(message(client.open(octets)) == answer, "the client reads another answer")
            continue
        }
        let frame = Frame(messageTypes[script.choice(of: messageTypes.count)], script.chunk())
        // What is encrypted: an honest message, or only something that is none.
        var octets = step == 2 ? client.seal(frame.payload) : client.seal(frame)
        var isChanged = false
        if step == 3 {
            let place = 3 + script.choice(of: octets.count - 3), change = script.byte()
            octets[place] ^= change
            isChanged = change != 0
        }
        let events = try outcome(&server, octets)
        try require(!isChanged || events.frames.isEmpty, "a frame that was changed is taken")
        if step == 0 { try require(events.frames == [frame], "something else arrives") }
        for frame in events.frames { try conversation.receive(frame) }
        guard let failure = events.failure else { continue }
        try require(message(client.open(failure.farewell)) == Frame(.disconnectRequest), "another farewell")
        break
    }
    try conversation.end(limit: NoiseFraming.longestPayload)
}

/// Somebody without the key, who says anything.
private func strangers(_ server: inout NoiseFraming, _ script: inout Script) throws {
    for _ in 0..<Script.limit where !script.isEmpty {
        let events = try outcome(&server, script.chunk())
        try require(events.frames.isEmpty, "a message of somebody without the key is taken")
        // The proxy's hello, and no answer to a handshake.
        try require(events.replies.allSatisfy { $0.dropFirst(3).first == 1 }, "a stranger's handshake is answered")
        guard let failure = events.failure else { continue }
        let length = failure.farewell.count - 3
        try require(
            length > 0 && failure.farewell.starts(with: [1, 0, UInt8(length), 1]), "another farewell")
        return
    }
}

private func outcome(
    _ server: inout NoiseFraming, _ octets: [UInt8]
) throws -> (frames: [Frame], replies: [[UInt8]], failure: ProtocolFailure?) {
    var frames: [Frame] = [], replies: [[UInt8]] = []
    server.append(octets)
    do throws(ProtocolFailure) {
        while let event = try server.next() {
            switch event {
            case .frame(let frame): frames.append(frame)
            case .reply(let reply): replies.append(reply)
            }
        }
    } catch {
        try require(!error.reason.isEmpty, "a failure without a reason")
        return (frames, replies, error)
    }
    return (frames, replies, nil)
}

/// What a client finds in a decrypted frame.
private func message(_ octets: [UInt8]?) -> Frame? {
    guard let octets, octets.count >= 4, Int(octets[2]) << 8 | Int(octets[3]) == octets.count - 4 else { return nil }
    return Frame(MessageType(rawValue: UInt16(octets[0]) << 8 | UInt16(octets[1])), Array(octets[4...]))
}

let noiseSeeds: [[UInt8]] = [
    [0, 0] + honestMessages, [0, 2, 1, 2] + [1, 3, 2, 9, 9] + honestMessages,
    [0, 0, 2, 0, 3, 0, 5, 1], [0, 0, 3, 0, 7, 0x0A, 1, 0x78, 0x10, 1, 0x18, 14, 5, 1],
    [3, 3, 1, 0, 0, 53, 1, 0, 49, 0] + [UInt8](repeating: 9, count: 48),
]
