import Testing
@testable import GatewayESPHome

/// Frames in the clear, to the byte.
@Suite struct PlaintextFramingTests {
    /// All that follows from a stream that comes in pieces.
    static func events(_ pieces: [[UInt8]]) throws(ProtocolFailure) -> [FramingEvent] {
        var framing = PlaintextFraming()
        var events: [FramingEvent] = []
        for piece in pieces {
            framing.append(piece)
            while let event = try framing.next() { events.append(event) }
        }
        return events
    }

    static let frames: [(Frame, [UInt8])] = [
        (Frame(.pingRequest), [0, 0, 7]),
        (Frame(.helloRequest, [0x0A, 1, 0x78]), [0, 3, 1, 0x0A, 1, 0x78]),
        (Frame(.setConnectionParameters, [8, 1]), [0, 2, 0x91, 0x01, 8, 1]),
        (
            Frame(.writeRequest, [UInt8](repeating: 7, count: 200)),
            [0, 0xC8, 0x01, 75] + [UInt8](repeating: 7, count: 200)
        ),
        (Frame(MessageType(rawValue: 0xFFFF)), [0, 0, 0xFF, 0xFF, 0x03]),
    ]

    @Test(arguments: frames) func bothWays(frame: Frame, octets: [UInt8]) throws {
        var output: [UInt8] = []
        var framing = PlaintextFraming()
        framing.send(frame, into: &output)
        #expect(output == octets)
        #expect(try Self.events([octets]) == [.frame(frame)])
    }

    @Test func cutAtEveryOctet() throws {
        let stream = Self.frames.flatMap(\.1)
        let expected = Self.frames.map { FramingEvent.frame($0.0) }
        for place in 0...stream.count {
            #expect(try Self.events([Array(stream[..<place]), Array(stream[place...])]) == expected)
        }
        #expect(try Self.events(stream.map { [$0] }) == expected)
    }

    @Test func longest() throws {
        let octets = [0, 0x80, 0x20, 73] + [UInt8](repeating: 0, count: 4096)
        #expect(try Self.events([octets]) == [.frame(Frame(.readRequest, [UInt8](repeating: 0, count: 4096)))])
        var output: [UInt8] = []
        var framing = PlaintextFraming()
        framing.send(Frame(.readResponse, [UInt8](repeating: 0, count: 65_536)), into: &output)
        #expect(output.isEmpty)
    }

    static let refusals: [([UInt8], String)] = [
        ([1], "it uses encryption, but this gateway has no key"),
        ([0x47, 0x45, 0x54], "it does not speak ESPHome's API"),
        ([0, 0x81, 0x20], "a message of 4097 octets is too long"),
        ([0, 0xFF, 0xFF, 0xFF, 0xFF], "a number of more than four octets is too long"),
        ([0, 0, 0x80, 0x80, 0x04], "message 65536 does not exist"),
    ]

    @Test(arguments: refusals) func refused(octets: [UInt8], reason: String) {
        // A client that speaks encrypted goes by the first zero; any other is asked to leave.
        #expect(throws: ProtocolFailure(reason, farewell: [0, 0, 5])) { try Self.events([octets]) }
        #expect(throws: ProtocolFailure(reason, farewell: [0, 0, 5])) { try Self.events(octets.map { [$0] }) }
    }
}
