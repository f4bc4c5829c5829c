import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP: opening LE credit-based channels")
struct ChannelOpeningTests {
    var scene = ChannelScene()

    // MARK: This device asks

    @Test("a channel opens once the peer accepts the request")
    mutating func asked() throws {
        let (id, request) = try scene.request()
        #expect(request == bytes("14 01 0A 00 80 00 40 00 00 01 40 00 04 00"))
        #expect(scene.receive("15 01 0A 00 50 00 64 00 17 00 02 00 00 00") == [])
        #expect(scene.events() == [.opened(id, by: .thisDevice)])
        let channel = try #require(scene.signalling.channels[id])
        #expect(channel.remote == 0x50 && channel.peerMTU == 100 && channel.peerMPS == 23 && channel.sendCredits == 2)
        #expect(scene.signalling.nextDeadline == nil)
    }

    @Test("L2CAP/LE/CFC/BV-01: a peer without credit-based channels rejects the request")
    mutating func unknownToPeer() throws {
        let (id, _) = try scene.request()
        #expect(scene.receive("01 01 02 00 00 00") == [])
        #expect(scene.events() == [.openingFailed(id, .notSupported)])
        #expect(scene.signalling.channels[id] == nil)
    }

    @Test(
        "a request for an SPSM outside 0x0001 to 0x00FF is refused, even if the service would be accepted",
        arguments: ["00 00", "00 01", "FF FF"])
    mutating func invalidSPSM(_ spsm: String) {
        let request = bytes("14 01 0A 00 \(spsm) 50 00 64 00 17 00 02 00")
        var writer = ByteWriter()
        _ = scene.signalling.receive(request.span, into: &writer) { _ in .accepted(ChannelScene.local) }
        let written = (writer.isEmpty ? [] : [writer.bytes]) + scene.owed()
        #expect(written == [bytes("15 01 0A 00 00 00 00 00 00 00 00 00 02 00")])
        #expect(scene.events() == [])
    }

    @Test(
        "L2CAP/LE/CFC/BV-04, BV-10, BV-12, BV-14, BV-16, BV-18, BV-19, BV-21, BV-24: each refusal is reported",
        arguments: [
            (0x02, .spsmNotSupported), (0x04, .noResourcesAvailable), (0x05, .insufficientAuthentication),
            (0x06, .insufficientAuthorization), (0x07, .encryptionKeySizeTooShort), (0x08, .insufficientEncryption),
            (0x09, .invalidSourceCID), (0x0A, .sourceCIDAlreadyAllocated), (0x0B, .unacceptableParameters),
            (0x0C, .invalidParameters), (0x77, CreditBasedConnectionResult(rawValue: 0x77)),
        ] as [(UInt8, CreditBasedConnectionResult)])
    mutating func refusedByPeer(_ code: UInt8, _ result: CreditBasedConnectionResult) throws {
        let (id, _) = try scene.request()
        #expect(scene.receive("15 01 0A 00 00 00 00 00 00 00 00 00 \(hexadecimal(code)) 00") == [])
        #expect(scene.events() == [.openingFailed(id, .refused(result))])
        #expect(scene.send([1], on: id) == [] && scene.owed() == [])
        // The endpoint is free again, and the name void.
        let (next, request) = try scene.request()
        #expect(request == bytes("14 02 0A 00 80 00 40 00 00 01 40 00 04 00"))
        #expect(next != id && next.cid == id.cid)
    }

    @Test(
        "an acceptance with invalid parameters fails the request",
        arguments: [
            ("3F 00 64 00 17 00 02 00", nil), ("80 00 64 00 17 00 02 00", nil), ("00 00 64 00 17 00 02 00", nil),
            ("50 00 16 00 17 00 02 00", "06 02 04 00 50 00 40 00"),
            ("50 00 64 00 16 00 02 00", "06 02 04 00 50 00 40 00"),
            ("50 00 64 00 FE FF 02 00", "06 02 04 00 50 00 40 00"),
        ] as [(String, String?)])
    mutating func invalidResponse(_ data: String, _ answer: String?) throws {
        let (id, _) = try scene.request()
        // A channel that the peer has is closed.
        #expect(scene.receive("15 01 0A 00 \(data) 00 00") == (answer.map { [bytes($0)] } ?? []))
        #expect(scene.events() == [.openingFailed(id, .invalidResponse)])
    }

    @Test("a peer that assigns one endpoint to two channels loses both")
    mutating func endpointInUse() throws {
        let first = try scene.open()
        let (second, _) = try scene.request()
        #expect(scene.receive("15 02 0A 00 50 00 64 00 17 00 02 00 00 00") == .frames("06 03 04 00 50 00 40 00"))
        #expect(
            scene.events() == [.openingFailed(second, .invalidResponse), .closed(first, .violated(.cidReused))])
    }

    @Test(
        "L12: a response that does not match leaves the request pending",
        arguments: [
            // Of another identifier, another length, and other kinds.
            "15 02 0A 00 50 00 64 00 17 00 02 00 00 00",
            "15 01 09 00 50 00 64 00 17 00 02 00 00", "15 01 0B 00 50 00 64 00 17 00 02 00 00 00 00",
            "18 01 0A 00 64 00 40 00 02 00 00 00 50 00", "13 01 02 00 00 00", "07 01 04 00 50 00 40 00",
            "1A 01 02 00 00 00",
        ])
    mutating func notTheAnswer(_ response: String) throws {
        let (id, _) = try scene.request()
        #expect(scene.receive(response) == [])
        #expect(scene.events() == [])
        _ = scene.receive("15 01 0A 00 50 00 64 00 17 00 02 00 00 00")
        #expect(scene.events() == [.opened(id, by: .thisDevice)])
        // The same answer again is unsolicited.
        #expect(scene.receive("15 01 0A 00 51 00 64 00 17 00 02 00 00 00") == [])
        #expect(scene.events() == [])
    }

    @Test("a request that the peer does not answer times out")
    mutating func timeout() throws {
        scene.signalling = SignallingChannel(role: .central, responseTimeout: .seconds(20))
        let (id, _) = try scene.request()
        let deadline = Instant(nanoseconds: 20_000_000_000)
        #expect(scene.signalling.nextDeadline == deadline)
        #expect(scene.fire(at: deadline.nanoseconds - 1) == .ignored)
        #expect(scene.fire(at: deadline.nanoseconds) == .channelsChanged)
        #expect(scene.events() == [.openingFailed(id, .timedOut)])
        #expect(scene.signalling.nextDeadline == nil)
        #expect(scene.receive("15 01 0A 00 50 00 64 00 17 00 02 00 00 00") == [])
        #expect(scene.events() == [])
    }

    @Test("a channel whose request was cancelled is closed if the peer accepts it")
    mutating func calledOff() throws {
        let (id, _) = try scene.request()
        scene.signalling.close(id, at: scene.now)
        #expect(scene.events() == [.openingFailed(id, .cancelled)])
        #expect(scene.receive("15 01 0A 00 50 00 64 00 17 00 02 00 00 00") == .frames("06 02 04 00 50 00 40 00"))
        #expect(scene.events() == [])
        #expect(scene.receive("07 02 04 00 50 00 40 00") == [])
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test("a request with invalid parameters is not sent")
    mutating func refusedHere() throws {
        var writer = ByteWriter()
        for spsm in [0, 0x100, 0xFFFF] as [UInt16] {
            #expect(throws: ChannelRequestError.invalidParameters) {
                _ = try scene.signalling.openChannel(to: spsm, parameters: ChannelScene.local, at: .zero, into: &writer)
            }
        }
        for (mtu, mps, window) in [(22, 64, 1), (64, 22, 1), (64, 65534, 1), (64, 64, 0)] as [(UInt16, UInt16, UInt16)]
        {
            #expect(throws: ChannelRequestError.invalidParameters) {
                let parameters = ChannelParameters(mtu: mtu, mps: mps, window: window)
                _ = try scene.signalling.openChannel(to: 0x80, parameters: parameters, at: .zero, into: &writer)
            }
        }
        #expect(writer.isEmpty && scene.signalling.channels.isEmpty)
    }

    // MARK: The peer asks

    @Test("a peer that requests a service gets a channel to it")
    mutating func askedFor() throws {
        let answer = scene.receive("14 01 0A 00 80 00 50 00 64 00 17 00 02 00")
        #expect(answer == .frames("15 01 0A 00 40 00 00 01 40 00 04 00 00 00"))
        let id = try #require(scene.signalling.channels.open.first)
        #expect(scene.events() == [.opened(id, by: .peer)])
        #expect(scene.signalling.channels[id]?.remote == 0x50)
    }

    @Test(
        "L9, L2CAP/LE/CFC/BV-05, BV-20, BV-22: an invalid request is refused with the matching result",
        arguments: [
            ("81 00 51 00 64 00 17 00 02 00", 0x02), ("00 00 51 00 64 00 17 00 02 00", 0x02),
            ("80 01 51 00 64 00 17 00 02 00", 0x02), ("00 01 51 00 64 00 17 00 02 00", 0x02),
            ("80 00 04 00 64 00 17 00 02 00", 0x09), ("80 00 3F 00 64 00 17 00 02 00", 0x09),
            ("80 00 80 00 64 00 17 00 02 00", 0x09), ("80 00 00 00 64 00 17 00 02 00", 0x09),
            ("80 00 50 00 64 00 17 00 02 00", 0x0A),
            ("80 00 51 00 16 00 17 00 02 00", 0x0B), ("80 00 51 00 64 00 16 00 02 00", 0x0B),
            ("80 00 51 00 64 00 FE FF 02 00", 0x0B), ("80 00 51 00 00 00 00 00 02 00", 0x0B),
        ] as [(String, UInt8)])
    mutating func refused(_ data: String, _ result: UInt8) throws {
        let id = try scene.accept()
        #expect(
            scene.receive("14 02 0A 00" + data)
                == .frames("15 02 0A 00 00 00 00 00 00 00 00 00 \(hexadecimal(result)) 00"))
        #expect(scene.events() == [])
        #expect(scene.signalling.channels.open == [id])
    }

    @Test(
        "L9: the service's refusal is sent with its result",
        arguments: [0x04, 0x05, 0x06, 0x07, 0x08] as [UInt16])
    mutating func refusedByService(_ result: UInt16) {
        scene.admission = .refused(CreditBasedConnectionResult(rawValue: result))
        #expect(
            scene.receive("14 09 0A 00 80 00 50 00 64 00 17 00 02 00")
                == .frames("15 09 0A 00 00 00 00 00 00 00 00 00 \(hexadecimal(UInt8(result))) 00"))
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test("L2CAP/LE/CFC/BV-17: channels beyond the limit are refused")
    mutating func noRoom() throws {
        scene.signalling = SignallingChannel(role: .central, channelLimit: 2)
        for (source, answer) in [
            ("50", "40 00 00 01 40 00 04 00 00 00"), ("51", "41 00 00 01 40 00 04 00 00 00"),
            ("52", "00 00 00 00 00 00 00 00 04 00"),
        ] {
            #expect(
                scene.receive("14 01 0A 00 80 00 \(source) 00 64 00 17 00 02 00") == .frames("15 01 0A 00 " + answer))
        }
        #expect(scene.events().count == 2)
        #expect(throws: ChannelRequestError.noRoom) { _ = try scene.request() }
    }

    @Test("a request with the minimum parameters and no credits is accepted")
    mutating func leastOfEverything() throws {
        #expect(
            scene.receive("14 01 0A 00 80 00 7F 00 17 00 17 00 00 00")
                == .frames("15 01 0A 00 40 00 00 01 40 00 04 00 00 00"))
    }
}
