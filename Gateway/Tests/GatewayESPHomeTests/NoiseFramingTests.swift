import BluetoothBase
import BluetoothLE
import Crypto
import Testing
@testable import GatewayESPHome

/// Encrypted frames. What is expected was computed by another implementation, the Python package noiseprotocol 0.3.1.
@Suite struct NoiseFramingTests {
    static let key = Array(0..<32 as Range<UInt8>)
    static let theirs = privateKey(0x40..<0x60)
    static let ours = privateKey(0x80..<0xA0)

    /// The client's handshake, and the answer to it.
    static let first = octets(
        "79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51af6140b42e9427aa9d3e7d6d9506e1613")
    static let second = octets(
        "493e82fc74464a59268817623d2053c5eb8e2cc4a988b4fee179ec6b010d531df8dd769f6865dda59e90b81a8de78a4c")
    static let hash = octets("fbcf628d666fa7a894ddb6c04a5633e92130786639a8f34d95cef2e0fc57e096")
    static let hello: [UInt8] = [1, 0, 20, 1] + Array("attic".utf8) + [0] + Array("02AABBCCDDEE".utf8) + [0]

    static func octets(_ text: String) -> [UInt8] { [UInt8](hexadecimal: text) ?? [] }

    /// Every 32 octets are a key. With another one, no frame would be as expected.
    private static func privateKey(_ octets: Range<UInt8>) -> Curve25519.KeyAgreement.PrivateKey {
        (try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: Array(octets))) ?? .init()
    }

    static func framing() -> NoiseFraming {
        NoiseFraming(
            key: SymmetricKey(data: key), name: "attic", address: "02AABBCCDDEE", makeEphemeral: { ours })
    }

    static func events(_ framing: inout NoiseFraming, _ octets: [UInt8]) throws(ProtocolFailure) -> [FramingEvent] {
        framing.append(octets)
        var events: [FramingEvent] = []
        while let event = try framing.next() { events.append(event) }
        return events
    }

    /// A framing behind its handshake, and its client.
    static func ready() throws -> (NoiseFraming, NoiseClient) {
        var framing = framing(), client = NoiseClient(key: key, ephemeral: theirs)
        _ = try events(&framing, client.opening)
        try client.finish(second)
        return (framing, client)
    }

    @Test func knownAnswers() throws {
        let answer = try #require(
            NoiseResponder.answer(
                Self.first, psk: SymmetricKey(data: Self.key), prologue: Array("NoiseAPIInit".utf8) + [0, 0],
                ephemeral: Self.ours))
        #expect(answer.message == Self.second)
        #expect(answer.hash == Self.hash)
        var receiving = answer.receiving, sending = answer.sending
        #expect(receiving.open(Self.octets("e72abac202f2d6c9248704e5f3bfae568e0b06eab3")) == Array("hello".utf8))
        #expect(receiving.open(Self.octets("f80c959068d4f4159efe6abbf3e5ad30")) == [])
        #expect(sending.seal(Array("world".utf8)) == Self.octets("9b8ea2c17076e947c736ab6f5f4e55b5e4453633b3"))
        #expect(sending.seal(Array("again".utf8)) == Self.octets("227df9fd220e507b3dd860a1c65023194d56c82359"))
        // The tests' own client is the other side of it.
        var client = NoiseClient(key: Self.key, ephemeral: Self.theirs)
        #expect(client.opening == [1, 0, 0, 1, 0, 49, 0] + Self.first)
        try client.finish(Self.second)
        #expect(client.hash == Self.hash)
    }

    @Test func handshake() throws {
        var framing = Self.framing()
        #expect(try Self.events(&framing, [1, 0, 0]) == [.reply(Self.hello)])
        #expect(try Self.events(&framing, [1, 0, 49, 0] + Self.first) == [.reply([1, 0, 49, 0] + Self.second)])
    }

    @Test func cutAtEveryOctet() throws {
        var (_, client) = try Self.ready()
        let stream =
            client.opening + client.seal(Frame(.pingRequest))
            + client.seal(Frame(.writeRequest, [UInt8](repeating: 1, count: 300)))
        let expected: [FramingEvent] = [
            .reply(Self.hello), .reply([1, 0, 49, 0] + Self.second), .frame(Frame(.pingRequest)),
            .frame(Frame(.writeRequest, [UInt8](repeating: 1, count: 300))),
        ]
        for place in 0...stream.count {
            var framing = Self.framing()
            let before = try Self.events(&framing, Array(stream[..<place]))
            #expect(try before + Self.events(&framing, Array(stream[place...])) == expected)
        }
        var framing = Self.framing()
        #expect(try stream.flatMap { try Self.events(&framing, [$0]) } == expected)
    }

    @Test func sending() throws {
        var (framing, client) = try Self.ready()
        var output: [UInt8] = []
        framing.send(Frame(.setConnectionParameters, [8, 1]), into: &output)
        // A number and a length of two octets each, the message, and a tag of 16.
        #expect(Array(output.prefix(3)) == [1, 0, 22])
        #expect(client.open(output) == [0, 0x91, 0, 2, 8, 1])
        output = []
        framing.send(Frame(.readResponse, [UInt8](repeating: 0, count: NoiseFraming.longestPayload)), into: &output)
        #expect(output.count == 65_538)
        #expect(client.open(output)?.count == NoiseFraming.longestPayload + 4)
        framing.send(Frame(.readResponse, [UInt8](repeating: 0, count: NoiseFraming.longestPayload + 1)), into: &output)
        #expect(output.count == 65_538)
    }

    @Test func nothingIsSentBeforeTheHandshake() {
        var framing = Self.framing(), output: [UInt8] = []
        framing.send(Frame(.pingRequest), into: &output)
        #expect(output.isEmpty)
    }

    static func rejection(_ text: String) -> [UInt8] { [1, 0, UInt8(text.utf8.count + 1), 1] + Array(text.utf8) }

    static let refusals: [([UInt8], String, String)] = [
        ([0, 0, 1], "it does not use encryption, but this gateway requires a key", "Bad indicator byte"),
        ([0x47], "it does not speak ESPHome's API", "Bad indicator byte"),
        ([1, 1, 1], "a frame of 257 octets is too long", "Bad handshake packet len"),
        ([1, 0, 0, 1, 0xFF, 0xFF], "a frame of 65535 octets is too long", "Bad handshake packet len"),
        ([1, 0, 0, 1, 0, 1, 9], "its handshake is malformed", "Bad handshake error byte"),
        ([1, 0, 0, 1, 0, 0], "its handshake is malformed", "Bad handshake error byte"),
        ([1, 0, 0, 1, 0, 1, 0], "it has a different key", "Handshake MAC failure"),
        // A key from which nothing secret follows.
        ([1, 0, 0, 1, 0, 49] + [UInt8](repeating: 0, count: 49), "it has a different key", "Handshake MAC failure"),
        (
            NoiseClient(key: [UInt8](repeating: 9, count: 32), ephemeral: theirs).opening, "it has a different key",
            "Handshake MAC failure"
        ),
        // Both sides have to agree on what was said before.
        ([1, 0, 1, 7] + [1, 0, 49, 0] + first, "it has a different key", "Handshake MAC failure"),
    ]

    @Test(arguments: refusals) func refused(octets: [UInt8], reason: String, told: String) {
        #expect(throws: ProtocolFailure(reason, farewell: Self.rejection(told))) {
            var framing = Self.framing()
            _ = try Self.events(&framing, octets)
        }
    }

    @Test func helloWithContents() throws {
        let client = NoiseClient(key: Self.key, ephemeral: Self.theirs, hello: [7, 8])
        var framing = Self.framing()
        #expect(try Self.events(&framing, client.opening).count == 2)
    }

    /// What comes behind the handshake and cannot be right, and what is said of it.
    static let brokenStreams: [(@Sendable (inout NoiseClient) -> [UInt8], String)] = [
        ({ _ in [1, 0, 16] + [UInt8](repeating: 0, count: 16) }, "one of its frames cannot be authenticated"),
        ({ _ in [1, 0, 0] }, "one of its frames cannot be authenticated"),
        ({ $0.seal([0, 7, 0]) }, "a message has no number"),
        ({ $0.seal([0, 7, 0, 1]) }, "a message is truncated"),
        ({ _ in [1, 0x20, 0] }, "a frame of 8192 octets is too long"),
        ({ _ in [0, 0, 7] }, "it does not use encryption, but this gateway requires a key"),
        (
            {
                var octets = $0.seal(Frame(.pingRequest))
                octets[5] ^= 1
                return octets
            }, "one of its frames cannot be authenticated"
        ),
    ]

    @Test(arguments: brokenStreams) func broken(make: @Sendable (inout NoiseClient) -> [UInt8], reason: String) throws {
        var (framing, client) = try Self.ready()
        let octets = make(&client)
        let failure = #expect(throws: ProtocolFailure.self) { _ = try Self.events(&framing, octets) }
        #expect(failure?.reason == reason)
        // It is asked to leave in a way that it can read.
        #expect(client.open(failure?.farewell ?? []) == [0, 5, 0, 0])
    }

    @Test func repeatedFrame() throws {
        var (framing, client) = try Self.ready()
        let octets = client.seal(Frame(.pingRequest))
        #expect(try Self.events(&framing, octets) == [.frame(Frame(.pingRequest))])
        #expect(throws: ProtocolFailure.self) { _ = try Self.events(&framing, octets) }
    }

    @Test func padding() throws {
        var (framing, client) = try Self.ready()
        let octets = client.seal([0, 7, 0, 0, 1, 2, 3])
        #expect(try Self.events(&framing, octets) == [.frame(Frame(.pingRequest))])
    }
}
