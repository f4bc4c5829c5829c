import BluetoothLE
import Crypto
import Synchronization
import Testing
@testable import GatewayESPHome

/// Streams that are almost right: each gives messages or a reason, and never a trap. The same in every run.
@Suite struct MutationTests {
    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ state >> 29) &* 0xBF58_476D_1CE4_E5B9
        }
    }

    /// One message of each kind that has members.
    static let frames: [Frame] =
        SessionTests.requests.map { Frame($0.0, SessionTests.device + $0.1) } + [
            Frame(.deviceRequest, SessionTests.connect), Frame(.subscribeAdvertisements, [8, 1]),
            Frame(.scannerSetMode, [8, 1]), Frame(.getServicesRequest, SessionTests.device), Frame(.pingRequest),
            Frame(.helloRequest, [0x0A, 1, 0x78, 0x10, 1, 0x18, 14]),
        ]

    static func mutate(_ octets: [UInt8], _ random: inout Generator) -> [UInt8] {
        var octets = octets
        for _ in 0..<Int.random(in: 0...3, using: &random) where !octets.isEmpty {
            let place = Int.random(in: 0..<octets.count, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: octets[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: octets[place] = UInt8.random(in: 0...255, using: &random)
            case 2: octets.remove(at: place)
            default: octets.insert(UInt8.random(in: 0...255, using: &random), at: place)
            }
        }
        return octets
    }

    @Test func plaintext() async throws {
        var random = Generator(state: 1), refused = 0, taken = 0
        for _ in 0..<5000 {
            let client = await FakeClient()
            var framing = PlaintextFraming(), stream: [UInt8] = []
            for _ in 0..<4 {
                framing.send(Self.frames.randomElement(using: &random) ?? Frame(.pingRequest), into: &stream)
            }
            framing.append(Self.mutate(stream, &random))
            do throws(ProtocolFailure) {
                while case .frame(let frame)? = try framing.next() {
                    taken += 1
                    if case .refuse = client.session.receive(frame) { refused += 1 }
                }
            } catch {
                #expect(!error.reason.isEmpty)
                refused += 1
            }
            await client.session.end()
            #expect(client.radio.places.taken.isEmpty)
        }
        #expect(refused > 500)
        #expect(taken > 10_000)
    }

    @Test func noise() throws {
        var random = Generator(state: 2), refused = 0, taken = 0
        let (_, ready) = try NoiseFramingTests.ready()
        for _ in 0..<2000 {
            var client = ready
            let stream = client.opening + client.seal(Frame(.pingRequest)) + client.seal(Frame(.readRequest, [8, 1]))
            var framing = NoiseFramingTests.framing()
            framing.append(Self.mutate(stream, &random))
            do throws(ProtocolFailure) {
                while let event = try framing.next() {
                    if case .frame = event { taken += 1 }
                }
            } catch {
                #expect(!error.reason.isEmpty)
                refused += 1
            }
        }
        #expect(refused > 500)
        #expect(taken > 500)
    }

    /// Messages that come through the encryption and are wrong inside.
    @Test func payloads() async {
        var random = Generator(state: 3), refused = 0
        let client = await FakeClient()
        for _ in 0..<20_000 {
            let frame = Self.frames.randomElement(using: &random) ?? Frame(.pingRequest)
            if case .refuse = client.session.receive(Frame(frame.type, Self.mutate(frame.payload, &random))) {
                refused += 1
            }
        }
        await client.session.end()
        #expect(client.radio.places.taken.isEmpty)
        #expect(refused > 500)
    }
}
