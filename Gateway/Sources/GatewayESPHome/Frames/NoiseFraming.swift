import Crypto

/// Encrypted frames: the octet 1, the length in two octets, most significant first, and the contents. Each side first
/// sends a hello and a handshake. After that, each frame contains an encrypted message.
struct NoiseFraming: Framing {
    static let longestPayload = 65_535 - NoiseCipher.tagLength - headerLength
    /// The length of the header of a message in a frame: its number and its length, two octets each.
    private static let headerLength = 4

    private enum State {
        case hello
        case handshake(prologue: [UInt8])
        case ready(receiving: NoiseCipher, sending: NoiseCipher)
    }

    private let key: SymmetricKey
    private let hello: [UInt8]
    private let makeEphemeral: @Sendable () -> Curve25519.KeyAgreement.PrivateKey
    private var state = State.hello
    private var input = InputBuffer()

    /// - Parameters:
    ///   - name: the proxy's name. Clients use it to detect that they have reached another proxy.
    ///   - address: the proxy's address, as twelve digits.
    ///   - makeEphemeral: makes a new key for each handshake.
    init(
        key: SymmetricKey, name: String, address: String,
        makeEphemeral: @escaping @Sendable () -> Curve25519.KeyAgreement.PrivateKey = { .init() }
    ) {
        self.key = key
        self.makeEphemeral = makeEphemeral
        // The protocol's number, then two zero-terminated strings.
        hello = Self.frame([1] + Array(name.utf8.prefix(64)) + [0] + Array(address.utf8.prefix(64)) + [0])
    }

    mutating func append(_ octets: some Sequence<UInt8>) { input.append(octets) }

    mutating func next() throws(ProtocolFailure) -> FramingEvent? {
        guard input.count > 0 else { return nil }
        guard input[0] == 1 else {
            throw input[0] == 0
                ? rejection("it does not use encryption, but this gateway requires a key", "Bad indicator byte")
                : rejection("it does not speak ESPHome's API", "Bad indicator byte")
        }
        guard input.count >= 3 else { return nil }
        let length = Int(input[1]) << 8 | Int(input[2])
        let limit = isReady ? FrameLimits.payload + Self.headerLength + NoiseCipher.tagLength : FrameLimits.handshake
        guard length <= limit else {
            throw rejection("a frame of \(length) octets is too long", "Bad handshake packet len")
        }
        guard input.count >= 3 + length else { return nil }
        return try take(input.take(length, after: 3))
    }

    mutating func send(_ frame: Frame, into output: inout [UInt8]) {
        guard case .ready(let receiving, var sending) = state, frame.payload.count <= Self.longestPayload else {
            return
        }
        let (type, length) = (frame.type.rawValue, frame.payload.count)
        let header = [UInt8(type >> 8), UInt8(type & 0xFF), UInt8(length >> 8), UInt8(length & 0xFF)]
        output += Self.frame(sending.seal(header + frame.payload))
        state = .ready(receiving: receiving, sending: sending)
    }

    private var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    private mutating func take(_ octets: [UInt8]) throws(ProtocolFailure) -> FramingEvent {
        switch state {
        case .hello:
            // The client's hello is part of the prologue: the handshake fails unless both sides agree on it.
            let prologue = Array("NoiseAPIInit".utf8) + [UInt8(octets.count >> 8), UInt8(octets.count & 0xFF)] + octets
            state = .handshake(prologue: prologue)
            return .reply(hello)
        case .handshake(let prologue):
            guard octets.first == 0 else { throw rejection("its handshake is malformed", "Bad handshake error byte") }
            let answer = NoiseResponder.answer(
                Array(octets.dropFirst()), psk: key, prologue: prologue, ephemeral: makeEphemeral())
            guard let answer else { throw rejection("it has a different key", "Handshake MAC failure") }
            state = .ready(receiving: answer.receiving, sending: answer.sending)
            return .reply(Self.frame([0] + answer.message))
        case .ready(var receiving, let sending):
            guard let message = receiving.open(octets) else {
                throw rejection("one of its frames cannot be authenticated", "")
            }
            state = .ready(receiving: receiving, sending: sending)
            guard message.count >= Self.headerLength else { throw leave("a message has no number") }
            let length = Int(message[2]) << 8 | Int(message[3])
            guard length <= message.count - Self.headerLength else { throw leave("a message is truncated") }
            let type = MessageType(rawValue: UInt16(message[0]) << 8 | UInt16(message[1]))
            // Octets after the payload are padding.
            return .frame(Frame(type, Array(message[Self.headerLength..<(Self.headerLength + length)])))
        }
    }

    private static func frame(_ octets: [UInt8]) -> [UInt8] {
        [1, UInt8(octets.count >> 8), UInt8(octets.count & 0xFF)] + octets
    }

    /// Until the handshake is finished, the client receives the reason unencrypted.
    private mutating func rejection(_ reason: String, _ explanation: String) -> ProtocolFailure {
        isReady ? leave(reason) : ProtocolFailure(reason, farewell: Self.frame([1] + Array(explanation.utf8)))
    }

    private mutating func leave(_ reason: String) -> ProtocolFailure {
        var farewell: [UInt8] = []
        send(Frame(.disconnectRequest), into: &farewell)
        return ProtocolFailure(reason, farewell: farewell)
    }
}
