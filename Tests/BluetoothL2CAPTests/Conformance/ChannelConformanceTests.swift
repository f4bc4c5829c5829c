import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP conformance: credit-based channels in both modes")
struct ChannelConformanceTests {
    var scene = ChannelScene()

    // MARK: Opening and closing

    @Test(
        "L2CAP/LE/CFC/BV-02, L2CAP/ECFC/BV-02: a channel that this device requests carries the peer's data",
        arguments: ChannelMode.allCases)
    mutating func opened(_ mode: ChannelMode) throws {
        let (id, request) = try scene.open(mode)
        #expect(
            request
                == bytes(
                    mode == .enhanced
                        ? "17 01 0A 00 80 00 00 01 40 00 04 00 40 00" : "14 01 0A 00 80 00 40 00 00 01 40 00 04 00"))
        #expect(scene.events() == [.opened(id, by: .thisDevice)])
        #expect(scene.frame(bytes("03 00 01 02 03"), on: id.cid) == .sdu(2..<5))
    }

    @Test(
        "L2CAP/LE/CFC/BV-03, L2CAP/ECFC/BV-03: a channel that the peer requests carries data to it",
        arguments: ChannelMode.allCases)
    mutating func accepted(_ mode: ChannelMode) throws {
        let (request, response) =
            mode == .enhanced
            ? ("17 01 0A 00 80 00 64 00 40 00 02 00 50 00", "18 01 0A 00 00 01 40 00 04 00 00 00 40 00")
            : ("14 01 0A 00 80 00 50 00 64 00 40 00 02 00", "15 01 0A 00 40 00 00 01 40 00 04 00 00 00")
        #expect(scene.receive(request) == .frames(response))
        let id = try #require(scene.signalling.channels.open.first)
        #expect(scene.events() == [.opened(id, by: .peer)])
        #expect(scene.signalling.channels[id]?.remote == 0x50)
        #expect(scene.send(bytes("01 02 03"), on: id) == .frames("03 00 01 02 03"))
    }

    @Test(
        "L2CAP/LE/CFC/BV-01, L2CAP/ECFC/BV-01: a peer without such channels rejects the command, and no channel opens",
        arguments: ChannelMode.allCases)
    mutating func legacyPeer(_ mode: ChannelMode) throws {
        let id = try mode == .enhanced ? scene.requestEnhanced(1).0[0] : scene.request().0
        #expect(scene.receive("01 01 02 00 00 00") == [])
        #expect(scene.events() == [.openingFailed(id, .notSupported)])
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test(
        "L2CAP/LE/CFC/BV-29, L2CAP/ECFC/BV-38: each channel has a unique source CID in the dynamic range",
        arguments: ChannelMode.allCases)
    mutating func sources(_ mode: ChannelMode) throws {
        var endpoints: Set<UInt16> = []
        var ids: [CreditBasedChannel.ID] = []
        for number in 0..<UInt8(scene.signalling.channels.room) {
            let (id, request) = try scene.open(mode, at: 0x40 + number)
            let place = mode == .enhanced ? 12 : 6
            endpoints.insert(UInt16(request[place]) | UInt16(request[place + 1]) << 8)
            ids.append(id)
        }
        #expect(ids.count > 1 && endpoints.count == ids.count)
        #expect(endpoints.allSatisfy { (0x40...0x7F).contains($0) })
        #expect(scene.events() == ids.map { .opened($0, by: .thisDevice) })
        for (number, id) in ids.enumerated() {
            let pair = "\(hexadecimal(UInt8(id.cid.rawValue))) 00 \(hexadecimal(UInt8(0x40 + number))) 00"
            #expect(scene.receive("06 07 04 00 " + pair) == .frames("07 07 04 00 " + pair))
        }
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test("L2CAP/LE/CFC/BV-08, L2CAP/ECFC/BV-08: this device closes a channel", arguments: ChannelMode.allCases)
    mutating func closed(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        scene.signalling.close(id, at: scene.now)
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.receive("07 01 04 00 50 00 40 00") == [])
        #expect(scene.events() == [.closed(id, .byThisDevice)])
    }

    @Test("L2CAP/LE/CFC/BV-09, L2CAP/ECFC/BV-09: the peer closes a channel", arguments: ChannelMode.allCases)
    mutating func closedByPeer(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        #expect(scene.receive("06 07 04 00 40 00 50 00") == .frames("07 07 04 00 40 00 50 00"))
        #expect(scene.events() == [.closed(id, .byPeer)])
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test(
        "L2CAP/LE/CFC/BV-23, L2CAP/ECFC/BV-30: a request to close an unknown channel is rejected",
        arguments: ChannelMode.allCases)
    mutating func unknownDestination(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        #expect(scene.receive("06 07 04 00 41 00 50 00") == .frames("01 07 06 00 02 00 41 00 50 00"))
        #expect(scene.signalling.channels.open == [id])
    }

    // MARK: Credits

    @Test(
        "L2CAP/LE/CFC/BV-06, L2CAP/ECFC/BV-06: the peer's credits limit how many K-frames are sent",
        arguments: ChannelMode.allCases)
    mutating func creditsOfPeer(_ mode: ChannelMode) throws {
        let initial: UInt8 = mode == .enhanced ? 1 : 0
        let id = try scene.accept(mode, credits: initial)
        for octet in 0..<(7 + initial) {
            #expect(scene.send([octet], on: id) == (octet < initial ? [[1, 0, octet]] : []))
        }
        #expect(scene.waiting(id) == [])
        var next = initial
        for count in [1, 1, 2, 2] as [UInt8] {
            #expect(scene.receive("16 01 04 00 50 00 \(hexadecimal(count)) 00") == [])
            #expect(scene.waiting(id) == (next..<(next + count)).map { [1, 0, $0] })
            #expect(scene.waiting(id) == [])
            next += count
        }
    }

    @Test(
        "L2CAP/LE/CFC/BV-07, L2CAP/ECFC/BV-07: a peer that has used up its credits gets more",
        arguments: ChannelMode.allCases)
    mutating func creditsToPeer(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        for _ in 0..<4 { #expect(scene.frame(bytes("01 00 AA")) == .sdu(2..<3)) }
        #expect(scene.signalling.channels[id]?.receiveCredits == 0)
        #expect(scene.consume(1, on: id) == [])
        #expect(scene.consume(1, on: id) == bytes("16 01 04 00 40 00 02 00"))
        for _ in 0..<2 { #expect(scene.frame(bytes("01 00 AA")) == .sdu(2..<3)) }
    }

    @Test(
        "L2CAP/LE/CFC/BI-01, L2CAP/ECFC/BI-01: zero credits are ignored, and credits beyond 65535 close the channel",
        arguments: ChannelMode.allCases)
    mutating func creditOverflow(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        #expect(scene.receive("16 01 04 00 50 00 00 00") == [])
        #expect(scene.signalling.channels[id]?.sendCredits == 2)
        #expect(scene.send([1], on: id).count == 1)
        #expect(scene.receive("16 02 04 00 50 00 FF FF") == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.events() == [.closed(id, .violated(.creditOverflow))])
    }

    @Test("L2CAP/ECFC/BI-02: a K-frame without a credit closes the channel", arguments: ChannelMode.allCases)
    mutating func withoutCredit(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        for _ in 0..<4 { #expect(scene.frame(bytes("01 00 AA")) == .sdu(2..<3)) }
        #expect(scene.frame(bytes("01 00 AA")) == .violated(.creditExceeded))
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.events() == [.closed(id, .violated(.creditExceeded))])
    }

    // MARK: K-frames

    @Test(
        "L2CAP/COS/CFC/BV-01, L2CAP/COS/ECFC/BV-01: an SDU longer than the peer's MPS is segmented",
        arguments: ChannelMode.allCases)
    mutating func segmented(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode, credits: 4)
        let sdu = ChannelDataTests.octets(100)
        #expect(scene.send(sdu, on: id) == [bytes("64 00") + sdu[0..<62], Array(sdu[62...])])
    }

    @Test(
        "L2CAP/COS/CFC/BV-03, L2CAP/COS/ECFC/BV-02: an SDU in several K-frames is reassembled",
        arguments: ChannelMode.allCases)
    mutating func reassembled(_ mode: ChannelMode) throws {
        _ = try scene.accept(mode)
        let sdu = ChannelDataTests.octets(150)
        #expect(scene.bring(sdu, framesOf: 64) == .reassembled)
        #expect(scene.completed[0x40] == sdu)
    }

    @Test(
        "L2CAP/COS/CFC/BV-05, L2CAP/COS/ECFC/BV-03: SDUs of two channels with interleaved K-frames are reassembled",
        arguments: ChannelMode.allCases)
    mutating func interleaved(_ mode: ChannelMode) throws {
        if mode == .enhanced {
            let (_, request) = try scene.requestEnhanced(2)
            _ = scene.receive("18 \(hexadecimal(request[1])) 0C 00 64 00 40 00 02 00 00 00 50 00 51 00")
        } else {
            for endpoint in [0x50, 0x51] as [UInt8] { _ = try scene.open(mode, at: endpoint) }
        }
        #expect(scene.events().count == 2)
        #expect(scene.frame(bytes("06 00 01 02"), on: 0x40) == .incomplete(needsCredits: false))
        #expect(scene.frame(bytes("06 00 11 12"), on: 0x41) == .incomplete(needsCredits: false))
        #expect(scene.frame(bytes("03 04"), on: 0x40) == .incomplete(needsCredits: true))
        #expect(scene.frame(bytes("13 14"), on: 0x41) == .incomplete(needsCredits: true))
        #expect(scene.frame(bytes("05 06"), on: 0x40) == .reassembled)
        #expect(scene.frame(bytes("15 16"), on: 0x41) == .reassembled)
        #expect(scene.completed == [0x40: bytes("01 02 03 04 05 06"), 0x41: bytes("11 12 13 14 15 16")])
    }

    @Test(
        "L2CAP/COS/ECFC/BV-04: if MTU and MPS are equal, an SDU of that length may come in one K-frame or two",
        arguments: ChannelMode.allCases)
    mutating func equalLimits(_ mode: ChannelMode) throws {
        scene.admission = .accepted(ChannelParameters(mtu: 64, mps: 64, window: 4))
        _ = try scene.accept(mode)
        let sdu = ChannelDataTests.octets(64)
        #expect(scene.frame(bytes("40 00") + sdu) == .sdu(2..<66))
        #expect(scene.bring(sdu, framesOf: 64) == .reassembled)
        #expect(scene.completed[0x40] == sdu)
        #expect(scene.owed() == [])
    }

    @Test(
        "L2CAP/LE/CFC/BV-32, L2CAP/ECFC/BV-80: SDUs of about the MPS, twice that, or the MTU do not close the channel",
        arguments: ChannelMode.allCases, [64, 63, 65, 128, 129, 256])
    mutating func lengths(_ mode: ChannelMode, _ length: Int) throws {
        let (id, _) = try scene.open(mode, ChannelParameters(mtu: 256, mps: 64, window: 20))
        _ = scene.events()
        let sdu = ChannelDataTests.octets(length)
        // The peer may count the length of the SDU against the MPS, or not.
        #expect(scene.bring(sdu, framesOf: 64, firstOf: 66) == (length > 64 ? .reassembled : .sdu(2..<(length + 2))))
        if length > 64 { #expect(scene.completed[0x40] == sdu) }
        #expect(scene.bring(sdu, framesOf: 64) == .reassembled)
        #expect(scene.completed[0x40] == sdu)
        #expect(scene.owed() == [] && scene.events() == [])
        #expect(scene.signalling.channels.open == [id])
    }

    @Test(
        """
        L2CAP/LE/CFC/BV-26, BV-27, BV-28, L2CAP/ECFC/BV-33, BV-34, BV-35: an SDU above the MTU, an information payload \
        above the MPS, and K-frames with more data than their SDU close the channel
        """, arguments: ChannelMode.allCases,
        [
            (["01 01 AA"], .sduTooLong), (["41 00" + String(repeating: "AA", count: 65)], .frameTooLong),
            (["C8 00 AA", String(repeating: "AA", count: 65)], .frameTooLong),
            (["04 00 01 02", "03 04 05"], .sduExceeded),
        ] as [([String], ChannelViolation)])
    mutating func violated(_ mode: ChannelMode, _ row: (frames: [String], violation: ChannelViolation)) throws {
        let id = try scene.accept(mode)
        for frame in row.frames.dropLast() { #expect(scene.frame(bytes(frame)) == .incomplete(needsCredits: false)) }
        #expect(scene.frame(bytes(row.frames.last ?? "")) == .violated(row.violation))
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.events() == [.closed(id, .violated(row.violation))])
    }
}
