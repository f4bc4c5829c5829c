import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP: enhanced credit-based channels")
struct EnhancedChannelTests {
    var scene = ChannelScene()

    // MARK: Opening

    @Test("one to five channels are requested together, and opened", arguments: 1...5)
    mutating func asked(_ count: Int) throws {
        let (ids, request) = try scene.requestEnhanced(count)
        let sources = ["40", "41", "42", "43", "44"].prefix(count).map { $0 + " 00 " }.joined()
        let destinations = ["50", "51", "52", "53", "54"].prefix(count).map { $0 + " 00 " }.joined()
        let length = hexadecimal(UInt8(8 + 2 * count))
        #expect(request == bytes("17 01 \(length) 00 80 00 00 01 40 00 04 00 \(sources)"))
        #expect(scene.receive("18 01 \(length) 00 64 00 40 00 02 00 00 00 \(destinations)") == [])
        #expect(scene.events() == ids.map { .opened($0, by: .thisDevice) })
        #expect(
            ids.compactMap { scene.signalling.channels[$0]?.remote.rawValue } == (0..<count).map { 0x50 + UInt16($0) })
    }

    @Test(
        "L2CAP/ECFC/BV-16, BV-18, BV-19: the peer accepts some channels and refuses others",
        arguments: [
            (0x04, .noResourcesAvailable), (0x09, .invalidSourceCID), (0x0A, .sourceCIDAlreadyAllocated),
        ] as [(UInt8, CreditBasedConnectionResult)])
    mutating func someRefused(_ code: UInt8, _ result: CreditBasedConnectionResult) throws {
        let (ids, _) = try scene.requestEnhanced(3)
        #expect(scene.receive("18 01 0E 00 64 00 40 00 02 00 \(hexadecimal(code)) 00 50 00 00 00 52 00") == [])
        #expect(
            scene.events() == [
                .opened(ids[0], by: .thisDevice), .openingFailed(ids[1], .refused(result)),
                .opened(ids[2], by: .thisDevice),
            ])
        // Data goes over those that were opened, and over no other.
        #expect(ids.map { scene.send([1], on: $0) } == [.frames("01 00 01"), [], .frames("01 00 01")])
    }

    @Test(
        "L2CAP/ECFC/BV-04, BV-10, BV-12, BV-14, BV-21, BV-31: the peer refuses all channels, with each result",
        arguments: [0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C] as [UInt8], ["", "00 00 00 00"])
    mutating func allRefused(_ code: UInt8, _ destinations: String) throws {
        let (ids, _) = try scene.requestEnhanced(2)
        let length = destinations.isEmpty ? "08" : "0C"
        #expect(scene.receive("18 01 \(length) 00 00 00 00 00 00 00 \(hexadecimal(code)) 00 " + destinations) == [])
        let result = CreditBasedConnectionResult(rawValue: UInt16(code))
        #expect(scene.events() == ids.map { .openingFailed($0, .refused(result)) })
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test("a pending response extends the deadline, once", arguments: [0x0D, 0x0E, 0x0F] as [UInt8])
    mutating func pending(_ code: UInt8) throws {
        let (ids, _) = try scene.requestEnhanced(1)
        #expect(scene.receive("18 01 08 00 00 00 00 00 00 00 \(hexadecimal(code)) 00") == [])
        #expect(scene.events() == [])
        #expect(scene.signalling.nextDeadline == Instant(nanoseconds: 90_000_000_000))
        // Only once.
        #expect(scene.receive("18 01 08 00 00 00 00 00 00 00 \(hexadecimal(code)) 00") == [])
        #expect(scene.signalling.nextDeadline == Instant(nanoseconds: 90_000_000_000))
        #expect(scene.receive("18 01 0A 00 64 00 40 00 02 00 00 00 50 00") == [])
        #expect(scene.events() == [.opened(ids[0], by: .thisDevice)])
    }

    @Test("a response with invalid parameters fails the request, and channels that the peer opened are closed")
    mutating func invalidResponse() throws {
        let (ids, _) = try scene.requestEnhanced(4)
        // An endpoint that is none, one that is given twice, and one that is missing.
        #expect(
            scene.receive("18 01 0E 00 64 00 40 00 02 00 00 00 3F 00 51 00 51 00")
                == .frames("06 02 04 00 51 00 41 00"))
        #expect(
            scene.events() == [
                .openingFailed(ids[0], .invalidResponse), .opened(ids[1], by: .thisDevice),
                .openingFailed(ids[2], .invalidResponse), .closed(ids[1], .violated(.cidReused)),
                .openingFailed(ids[3], .invalidResponse),
            ])
        // Limits that are too low for this kind.
        let (more, _) = try scene.requestEnhanced(2)
        #expect(
            scene.receive("18 03 0C 00 3F 00 40 00 02 00 00 00 60 00 61 00")
                == .frames("06 04 04 00 60 00 40 00", "06 05 04 00 61 00 42 00"))
        #expect(scene.events() == more.map { .openingFailed($0, .invalidResponse) })
    }

    @Test("a peer gets all the channels it requests", arguments: 1...5)
    mutating func askedFor(_ count: Int) {
        let sources = ["50", "51", "52", "53", "54"].prefix(count).map { $0 + " 00 " }.joined()
        let destinations = ["40", "41", "42", "43", "44"].prefix(count).map { $0 + " 00 " }.joined()
        let length = hexadecimal(UInt8(8 + 2 * count))
        #expect(
            scene.receive("17 01 \(length) 00 80 00 64 00 40 00 02 00 " + sources)
                == .frames("18 01 \(length) 00 00 01 40 00 04 00 00 00 " + destinations))
        #expect(scene.events() == scene.signalling.channels.open.map { .opened($0, by: .peer) })
        #expect(scene.signalling.channels.open.count == count)
    }

    @Test(
        "L10, L2CAP/ECFC/BV-20, BV-26, BV-28: all or some channels are refused, with the matching result",
        arguments: [
            // Another service.
            ("81 00 64 00 40 00 02 00 51 00", "00 00 00 00 00 00 02 00 00 00"),
            ("00 01 64 00 40 00 02 00 51 00", "00 00 00 00 00 00 02 00 00 00"),
            // MTU, MPS and credits.
            ("80 00 3F 00 40 00 02 00 51 00 52 00", "00 00 00 00 00 00 0C 00 00 00 00 00"),
            ("80 00 64 00 3F 00 02 00 51 00", "00 00 00 00 00 00 0C 00 00 00"),
            ("80 00 64 00 FE FF 02 00 51 00", "00 00 00 00 00 00 0C 00 00 00"),
            ("80 00 64 00 40 00 00 00 51 00", "00 00 00 00 00 00 0C 00 00 00"),
            // Endpoints out of range, in use, and given twice.
            ("80 00 64 00 40 00 02 00 3F 00 51 00", "00 01 40 00 04 00 09 00 00 00 41 00"),
            ("80 00 64 00 40 00 02 00 51 00 80 00", "00 01 40 00 04 00 09 00 41 00 00 00"),
            ("80 00 64 00 40 00 02 00 04 00", "00 00 00 00 00 00 09 00 00 00"),
            ("80 00 64 00 40 00 02 00 50 00 51 00", "00 01 40 00 04 00 0A 00 00 00 41 00"),
            ("80 00 64 00 40 00 02 00 51 00 51 00", "00 01 40 00 04 00 0A 00 41 00 00 00"),
            // No endpoint, six, and half of one.
            ("80 00 64 00 40 00 02 00", "00 00 00 00 00 00 0C 00"),
            ("80 00 64 00 40 00 02 00 51 00 52", "00 00 00 00 00 00 0C 00"),
        ])
    mutating func refused(_ request: String, _ response: String) throws {
        #expect(scene.acceptEnhanced(1).count == 1)
        let count = { (text: String) in hexadecimal(UInt8(bytes(text).count)) }
        #expect(
            scene.receive("17 05 \(count(request)) 00 " + request)
                == .frames("18 05 \(count(response)) 00 " + response))
    }

    @Test("L10: a request for six channels exceeds the signalling MTU")
    mutating func sixEndpoints() {
        #expect(
            scene.receive("17 01 14 00 80 00 64 00 40 00 02 00 50 00 51 00 52 00 53 00 54 00 55 00")
                == .frames("01 01 04 00 01 00 17 00"))
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test(
        "the service's refusal is sent with its result",
        arguments: [0x04, 0x05, 0x06, 0x07, 0x08] as [UInt16])
    mutating func refusedByService(_ result: UInt16) {
        scene.admission = .refused(CreditBasedConnectionResult(rawValue: result))
        #expect(
            scene.receive("17 09 0C 00 80 00 64 00 40 00 02 00 50 00 51 00")
                == .frames("18 09 0C 00 00 00 00 00 00 00 \(hexadecimal(UInt8(result))) 00 00 00 00 00"))
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test("L2CAP/ECFC/BV-17: channels up to the limit are opened, and the rest are refused")
    mutating func noRoom() throws {
        scene.signalling = SignallingChannel(role: .central, channelLimit: 2)
        #expect(
            scene.receive("17 01 0E 00 80 00 64 00 40 00 02 00 50 00 51 00 52 00")
                == .frames("18 01 0E 00 00 01 40 00 04 00 04 00 40 00 41 00 00 00"))
        #expect(throws: ChannelRequestError.noRoom) { _ = try scene.requestEnhanced(1) }
    }

    @Test("a request with invalid parameters is not sent", arguments: [0, 6, -1])
    mutating func refusedHere(_ count: Int) throws {
        #expect(throws: ChannelRequestError.invalidParameters) { _ = try scene.requestEnhanced(count) }
        var writer = ByteWriter()
        for (mtu, mps) in [(63, 64), (64, 63)] as [(UInt16, UInt16)] {
            #expect(throws: ChannelRequestError.invalidParameters) {
                _ = try scene.signalling.openChannels(
                    1, to: 0x80, parameters: ChannelParameters(mtu: mtu, mps: mps), at: .zero, into: &writer)
            }
        }
        #expect(writer.isEmpty)
    }

    // MARK: Reconfiguration

    @Test("this device raises the MTU and MPS of several channels")
    mutating func reconfigured() throws {
        let ids = scene.acceptEnhanced(2)
        #expect(try scene.reconfigure(ids, mtu: 300, mps: 100) == bytes("19 01 08 00 2C 01 64 00 40 00 41 00"))
        // Until the peer has agreed, what was agreed before holds.
        #expect(scene.signalling.channels[ids[0]]?.local.mps == 64)
        #expect(scene.receive("1A 01 02 00 00 00") == [])
        #expect(scene.events() == [.reconfigured(ids, nil)])
        #expect(scene.frame(bytes("62 00") + ChannelDataTests.octets(98)) == .sdu(2..<100))
    }

    @Test(
        "a reconfiguration that the peer refuses changes nothing",
        arguments: [
            ("1A 01 02 00 01 00", .refused(.mtuReductionNotAllowed)),
            ("1A 01 02 00 04 00", .refused(.otherUnacceptableParameters)),
            ("1A 01 02 00 99 00", .refused(CreditBasedReconfigureResult(rawValue: 0x99))),
            ("01 01 02 00 00 00", .notSupported),
        ] as [(String, ChannelReconfigurationFailure)])
    mutating func reconfigurationRefused(_ response: String, _ failure: ChannelReconfigurationFailure) throws {
        let ids = scene.acceptEnhanced(1)
        _ = try scene.reconfigure(ids, mtu: 300, mps: 100)
        #expect(scene.receive(response) == [])
        #expect(scene.events() == [.reconfigured(ids, failure)])
        #expect(scene.signalling.channels[ids[0]]?.local == ChannelScene.local)
    }

    @Test("a reconfiguration that is not allowed is not sent, and an unanswered one times out")
    mutating func reconfigurationRules() throws {
        let ids = scene.acceptEnhanced(2)
        for (mtu, mps) in [(255, 64), (256, 63), (63, 64), (300, 65534)] as [(UInt16, UInt16)] {
            #expect(throws: ChannelRequestError.invalidParameters) { try scene.reconfigure(ids, mtu: mtu, mps: mps) }
        }
        #expect(throws: ChannelRequestError.invalidParameters) { try scene.reconfigure([], mtu: 300, mps: 64) }
        #expect(throws: ChannelRequestError.invalidParameters) {
            try scene.reconfigure([ids[0], ids[0]], mtu: 300, mps: 64)
        }
        _ = try scene.reconfigure(ids, mtu: 300, mps: 100)
        #expect(throws: ChannelRequestError.requestOutstanding) { try scene.reconfigure(ids, mtu: 400, mps: 100) }
        _ = scene.fire(at: 30_000_000_000)
        #expect(scene.events() == [.reconfigured(ids, .timedOut)])
        // The other kind of channel has no such request.
        _ = scene.receive("14 02 0A 00 80 00 60 00 64 00 17 00 02 00")
        let other = try #require(scene.signalling.channels.open.last)
        #expect(throws: ChannelRequestError.invalidParameters) { try scene.reconfigure([other], mtu: 400, mps: 100) }
        scene.signalling.close(ids[0], at: scene.now)
        #expect(throws: ChannelRequestError.noSuchChannel) { try scene.reconfigure([ids[0]], mtu: 400, mps: 100) }
    }

    @Test("the peer raises the limits of several channels, or lowers the MPS of one")
    mutating func reconfiguredByPeer() throws {
        let ids = scene.acceptEnhanced(2)
        // With K-frames as long as before, and then with longer ones.
        #expect(scene.receive("19 01 08 00 C8 00 40 00 50 00 51 00") == .frames("1A 01 02 00 00 00"))
        #expect(scene.events() == ids.map { .limitsChanged($0) })
        #expect(scene.receive("19 02 08 00 C8 00 64 00 50 00 51 00") == .frames("1A 02 02 00 00 00"))
        #expect(scene.events() == ids.map { .limitsChanged($0) })
        #expect(scene.send(ChannelDataTests.octets(98), on: ids[0]).map(\.count) == [100])
        #expect(scene.receive("19 03 06 00 C8 00 40 00 51 00") == .frames("1A 03 02 00 00 00"))
        #expect(scene.send(ChannelDataTests.octets(98), on: ids[1]).map(\.count) == [64, 36])
    }

    @Test(
        "L11, L2CAP/ECFC/BI-03, BI-04, BI-05, BI-06: an invalid reconfiguration is refused with the matching result",
        arguments: [
            ("63 00 40 00 50 00", 0x01), ("63 00 64 00 50 00 51 00", 0x01),
            ("64 00 40 00 50 00 51 00", 0x02),
            ("C8 00 64 00 40 00", 0x03), ("C8 00 64 00 50 00 52 00", 0x03), ("C8 00 64 00 60 00", 0x03),
            ("3F 00 64 00 50 00", 0x04), ("C8 00 3F 00 50 00", 0x04), ("C8 00 FE FF 50 00", 0x04),
            ("C8 00 64 00 50 00 50 00", 0x04), ("C8 00 64 00", 0x04), ("C8 00 64 00 50 00 51", 0x04),
            ("C8 00 64 00 50 00 51 00 52 00 53 00 54 00 55 00", 0x04),
        ] as [(String, UInt8)])
    mutating func notReconfigured(_ request: String, _ result: UInt8) throws {
        scene.signalling = SignallingChannel(role: .peripheral)
        let ids = scene.acceptEnhanced(2)
        // Both take 100 octets, in K-frames of 100 from now on.
        _ = scene.receive("19 02 08 00 64 00 64 00 50 00 51 00")
        // Of the other kind, which cannot be reconfigured.
        _ = scene.receive("14 03 0A 00 80 00 60 00 64 00 17 00 02 00")
        _ = scene.events()
        let length = hexadecimal(UInt8(bytes(request).count))
        #expect(scene.receive("19 04 \(length) 00 " + request) == .frames("1A 04 02 00 \(hexadecimal(result)) 00"))
        #expect(scene.events() == [])
        for id in ids {
            #expect(scene.signalling.channels[id]?.peerMTU == 100 && scene.signalling.channels[id]?.peerMPS == 100)
        }
    }

    // MARK: Data

    @Test("credits, data and closing of one channel do not affect the others")
    mutating func independent() throws {
        let ids = scene.acceptEnhanced(3)
        #expect(scene.send(ChannelDataTests.octets(100), on: ids[1]).map(\.count) == [64, 38])
        #expect(scene.signalling.channels[ids[0]]?.sendCredits == 2)
        #expect(scene.receive("16 01 04 00 51 00 05 00") == [])
        #expect(scene.signalling.channels[ids[1]]?.sendCredits == 5)
        #expect(scene.receive("16 02 04 00 50 00 FF FF") == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.events() == [.closed(ids[0], .violated(.creditOverflow))])
        #expect(scene.receive("06 03 04 00 42 00 52 00") == .frames("07 03 04 00 42 00 52 00"))
        #expect(scene.events() == [.closed(ids[2], .byPeer)])
        #expect(scene.frame(bytes("02 00 01 02"), on: 0x41) == .sdu(2..<4))
    }

    @Test(
        "an SDU received before a reconfiguration returns the same credits when consumed after it",
        arguments: [64, 200])
    mutating func consumedAfterwards(_ mps: UInt16) throws {
        scene.admission = .accepted(ChannelParameters(mtu: 256, mps: 128, window: 4))
        let ids = scene.acceptEnhanced(1)
        // Two K-frames of 128 octets.
        #expect(scene.frame(bytes("C800") + [UInt8](repeating: 1, count: 126)) == .incomplete(needsCredits: false))
        #expect(scene.frame([UInt8](repeating: 1, count: 74)) == .reassembled)
        _ = try scene.reconfigure(ids, mtu: 256, mps: mps)
        _ = scene.receive("1A 01 02 00 00 00")
        #expect(scene.consume(200, on: ids[0]) == bytes("16 02 04 00 40 00 02 00"))
    }

    @Test("L2CAP/COS/ECFC/BV-02: an SDU in several K-frames is reassembled")
    mutating func reassembled() {
        #expect(scene.acceptEnhanced(2).count == 2)
        #expect(scene.frame(bytes("0500 0102"), on: 0x41) == .incomplete(needsCredits: false))
        #expect(scene.frame(bytes("0100 09"), on: 0x40) == .sdu(2..<3))
        #expect(scene.frame(bytes("030405"), on: 0x41) == .reassembled)
        #expect(scene.completed[0x41] == bytes("0102030405"))
    }

    @Test("this device closes one of several channels")
    mutating func closed() {
        let ids = scene.acceptEnhanced(2)
        scene.signalling.close(ids[1], at: scene.now)
        #expect(scene.owed() == .frames("06 01 04 00 51 00 41 00"))
        #expect(scene.receive("07 01 04 00 51 00 41 00") == [])
        #expect(scene.events() == [.closed(ids[1], .byThisDevice)])
        #expect(scene.signalling.channels.open == [ids[0]])
    }
}
