import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP: SDUs, K-frames and credits")
struct ChannelDataTests {
    var scene = ChannelScene()

    /// Octets that count up from a number.
    static func octets(_ count: Int, from first: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: first + $0) }
    }

    // MARK: Sending

    @Test("L2CAP/COS/CFC/BV-02: an SDU that fits is one K-frame")
    mutating func unsegmented() throws {
        let id = try scene.accept()
        #expect(scene.send(bytes("01"), on: id) == .frames("01 00 01"))
        #expect(scene.send(Self.octets(21), on: id) == [bytes("15 00") + Self.octets(21)])
        #expect(scene.signalling.channels[id]?.sendCredits == 0)
    }

    @Test("L2CAP/COS/CFC/BV-01: a longer SDU is segmented, and waits for credits")
    mutating func segmented() throws {
        let id = try scene.accept()
        let sdu = Self.octets(100)
        // Two credits: 21 octets and the length, then 23.
        #expect(scene.send(sdu, on: id) == [bytes("64 00") + sdu[0..<21], Array(sdu[21..<44])])
        #expect(scene.waiting(id) == [])
        #expect(scene.receive("16 01 04 00 50 00 01 00") == [])
        #expect(scene.waiting(id) == [Array(sdu[44..<67])])
        #expect(scene.receive("16 02 04 00 50 00 05 00") == [])
        #expect(scene.waiting(id) == [Array(sdu[67..<90]), Array(sdu[90..<100])])
        #expect(scene.signalling.channels[id]?.sendCredits == 3)
        #expect(scene.signalling.channels.waitingCount(on: id) == 0)
    }

    @Test("L2CAP/COS/CFC/BV-05: channels send and receive interleaved, without holding each other up")
    mutating func interleaved() throws {
        let first = try scene.accept()
        _ = scene.receive("14 02 0A 00 80 00 51 00 64 00 17 00 02 00")
        let second = try #require(scene.signalling.channels.open.last)
        _ = scene.events()
        // What waits on one channel does not hold up the other.
        #expect(scene.send(Self.octets(100), on: first).count == 2)
        #expect(scene.send(bytes("AA"), on: second) == .frames("01 00 AA"))
        #expect(scene.send(Self.octets(30), on: second).count == 1)
        #expect(scene.receive("16 01 04 00 50 00 FF 00") == [])
        _ = scene.receive("16 01 04 00 51 00 FF 00")
        #expect(scene.signalling.channels.nextToSend(after: 0x40) == second)
        #expect(scene.signalling.channels.nextToSend(after: 0x41) == first)
        // Frames of both come in turn.
        #expect(scene.frame(bytes("04 00 01 02"), on: 0x40) == .incomplete(needsCredits: false))
        #expect(scene.frame(bytes("03 00 07 08"), on: 0x41) == .incomplete(needsCredits: false))
        #expect(scene.frame(bytes("03 04"), on: 0x40) == .reassembled)
        #expect(scene.frame(bytes("09"), on: 0x41) == .reassembled)
        #expect(scene.completed[0x40] == bytes("01 02 03 04"))
        #expect(scene.completed[0x41] == bytes("07 08 09"))
    }

    @Test("K-frames that wait are sent as packets, as far as credits and room allow", arguments: 0...5)
    mutating func run(_ room: Int) throws {
        let id = try scene.accept()
        let sdu = Self.octets(50)
        #expect(scene.send(sdu, on: id).count == 2)
        #expect(scene.send(bytes("AA"), on: id) == [])
        #expect(scene.send(Self.octets(30), on: id) == [])
        // The rest of the first SDU, the second one, and the beginning of the third.
        #expect(scene.receive("16 01 04 00 50 00 03 00") == [])
        let expected = [Array(sdu[44..<50]), bytes("01 00 AA"), bytes("1E 00") + Self.octets(21)]
        var packets = PacketQueue(), sent: [[UInt8]] = []
        #expect(scene.append(on: id, upTo: 9, longest: 22, to: &packets) == 0, "frames of 23 octets do not fit")
        #expect(scene.append(on: id, upTo: room, longest: 23, to: &packets) == min(room, 3))
        packets.forEach { packet in sent.append(packet.withUnsafeBufferPointer(Array.init)) }
        #expect(sent == expected.prefix(room).map { [2, UInt8($0.count), 0, 0, 0, 0, 0, 0, 0x50] + $0 })
        #expect(scene.waiting(id) == Array(expected.dropFirst(room)))
        #expect(scene.append(on: id, upTo: 9, longest: 23, to: &packets) == 0, "there is no credit")
        #expect(scene.receive("16 02 04 00 50 00 05 00") == [])
        #expect(scene.waiting(id) == [Array(Self.octets(30)[21..<30])])
    }

    @Test("a credit is taken only for an SDU that fits in one K-frame, on an open channel with credits")
    mutating func takenCredits() throws {
        let id = try scene.accept()
        #expect(scene.signalling.channels.takeCredit(forWhole: 22, on: id) == nil)
        #expect(scene.signalling.channels.takeCredit(forWhole: 21, on: id) == 0x50)
        #expect(scene.signalling.channels[id]?.sendCredits == 1)
        #expect(scene.signalling.channels.takeCredit(forWhole: 1, on: id) == 0x50)
        #expect(scene.signalling.channels.takeCredit(forWhole: 1, on: id) == nil)
        // A name that outlives its channel, and the table that it was in.
        scene.signalling.channels.linkEnded()
        #expect(scene.signalling.channels.takeCredit(forWhole: 1, on: id) == nil)
    }

    @Test("a channel queues 32 SDUs beyond its credits, and reports when it has room again")
    mutating func bounded() throws {
        let id = try scene.accept()
        _ = scene.send([0], on: id) + scene.send([0], on: id)
        for _ in 0..<CreditBasedChannels.sendLimit {
            #expect(scene.hasRoom(on: id) == true)
            #expect(scene.send([1], on: id) == [])
        }
        #expect(scene.hasRoom(on: id) == false)
        for left in (0..<CreditBasedChannels.sendLimit).reversed() {
            _ = scene.receive("16 01 04 00 50 00 01 00")
            #expect(scene.waiting(id) == .frames("01 00 01"))
            #expect(scene.isReadyAgain(id) == (left == CreditBasedChannels.sendLimit / 2))
        }
    }

    // MARK: Receiving

    @Test("L2CAP/COS/CFC/BV-04: an SDU in one K-frame is received")
    mutating func received() throws {
        _ = try scene.accept()
        #expect(scene.frame(bytes("03 00 01 02 03")) == .sdu(2..<5))
        #expect(scene.frame(bytes("00 00")) == .sdu(2..<2))
        #expect(scene.frame(bytes("3E 00") + Self.octets(62)) == .sdu(2..<64))
    }

    @Test("L2CAP/COS/CFC/BV-03: an SDU in several K-frames is reassembled, however the peer cuts it")
    mutating func reassembled() throws {
        let id = try scene.accept()
        let sdu = Self.octets(256)
        #expect(scene.frame(bytes("00 01")) == .incomplete(needsCredits: false))
        #expect(scene.frame(Array(sdu[0..<64])) == .incomplete(needsCredits: true))
        #expect(scene.giveCredits(on: id) == bytes("16 01 04 00 40 00 02 00"))
        for start in [64, 128] {
            #expect(scene.frame(Array(sdu[start..<(start + 64)])) == .incomplete(needsCredits: start == 128))
        }
        #expect(scene.giveCredits(on: id) == bytes("16 02 04 00 40 00 02 00"))
        #expect(scene.frame([]) == .incomplete(needsCredits: false))
        #expect(scene.frame(Array(sdu[192..<256])) == .reassembled)
        #expect(scene.completed[0x40] == sdu)
    }

    @Test("L2CAP/LE/CFC/BV-07: credits return as the reader consumes SDUs; a reader that consumes none stalls the peer")
    mutating func credits() throws {
        let id = try scene.accept()
        for _ in 0..<4 { #expect(scene.frame(bytes("01 00 AA")) == .sdu(2..<3)) }
        #expect(scene.signalling.channels[id]?.receiveCredits == 0)
        #expect(scene.consume(1, on: id) == [])
        #expect(scene.consume(1, on: id) == bytes("16 01 04 00 40 00 02 00"))
        #expect(scene.consume(1, on: id) == [])
        #expect(scene.consume(1, on: id) == bytes("16 02 04 00 40 00 02 00"))
        #expect(scene.consume(1, on: id) == [])
    }

    @Test("consuming an SDU returns the credits of all its K-frames, even if there were more than necessary")
    mutating func shortFrames() throws {
        let id = try scene.accept()
        #expect(scene.frame(bytes("04 00")) == .incomplete(needsCredits: false))
        #expect(scene.frame([1]) == .incomplete(needsCredits: true))
        #expect(scene.giveCredits(on: id) == bytes("16 01 04 00 40 00 02 00"))
        #expect(scene.frame([2, 3]) == .incomplete(needsCredits: false))
        #expect(scene.frame([4]) == .reassembled)
        #expect(scene.consume(4, on: id) == bytes("16 02 04 00 40 00 02 00"))
    }

    // MARK: Violations

    @Test(
        "L14, L15: a violation closes its channel, and no other",
        arguments: [
            (["01 00 AA", "01 00 AA", "01 00 AA", "01 00 AA", "01 00 AA"], .creditExceeded),
            ([""], .lengthMissing), (["01"], .lengthMissing),
            (["01 01 AA"], .sduTooLong), (["FF FF AA"], .sduTooLong),
            (["01 00 AA BB"], .sduExceeded), (["00 00 AA"], .sduExceeded),
            (["04 00 01 02", "03 04 05"], .sduExceeded),
        ] as [([String], ChannelViolation)])
    mutating func violated(_ frames: [String], _ violation: ChannelViolation) throws {
        let other = try scene.accept()
        _ = scene.receive("14 02 0A 00 80 00 51 00 64 00 17 00 02 00")
        let id = try #require(scene.signalling.channels.open.last)
        _ = scene.events()
        for frame in frames.dropLast() { _ = scene.frame(bytes(frame), on: 0x41) }
        #expect(scene.frame(bytes(frames.last ?? ""), on: 0x41) == .violated(violation))
        #expect(scene.events() == [.closed(id, .violated(violation))])
        #expect(scene.owed() == .frames("06 01 04 00 51 00 41 00"))
        // What still comes means nothing, and the other channel works.
        #expect(scene.frame(bytes("01 00 AA"), on: 0x41) == .ignored)
        #expect(scene.receive("16 01 04 00 51 00 00 00") == [])
        #expect(scene.frame(bytes("01 00 AA")) == .sdu(2..<3))
        #expect(scene.send([7], on: other) == .frames("01 00 07"))
        #expect(scene.receive("07 01 04 00 51 00 41 00") == [])
        #expect(scene.signalling.channels.open == [other])
        #expect(scene.events() == [])
    }

    @Test("L15, L2CAP/LE/CFC/BV-27: an information payload longer than the MPS closes the channel")
    mutating func frameTooLong() throws {
        let id = try scene.accept()
        #expect(scene.frame(bytes("40 00") + Self.octets(64)) == .sdu(2..<66))
        #expect(scene.frame(bytes("41 00") + Self.octets(65)) == .violated(.frameTooLong))
        #expect(scene.events() == [.closed(id, .violated(.frameTooLong))])
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
    }

    @Test(
        "L14, L2CAP/LE/CFC/BI-01: credits beyond 65535 close the channel",
        arguments: ["FE FF", "FF FF"])
    mutating func creditOverflow(_ credits: String) throws {
        let id = try scene.accept()
        #expect(scene.receive("16 01 04 00 50 00 \(credits)") == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.events() == [.closed(id, .violated(.creditOverflow))])
    }

    @Test("65535 credits are allowed")
    mutating func mostCredits() throws {
        let id = try scene.accept()
        #expect(scene.receive("16 01 04 00 50 00 FD FF") == [])
        #expect(scene.signalling.channels[id]?.sendCredits == 65535)
        #expect(scene.events() == [])
    }

    @Test("L5, L2CAP/LE/CID/BI-01: frames and credits for an endpoint without an open channel are ignored")
    mutating func unknown() throws {
        let (_, _) = try scene.request()
        for endpoint in [0x20, 0x3F, 0x40, 0x41, 0x7F, 0x80, 0xFFFF] as [UInt16] {
            #expect(scene.frame(bytes("01 00 AA"), on: ChannelIdentifier(endpoint)) == .unknown)
        }
        #expect(scene.receive("16 01 04 00 50 00 01 00") == [])
        #expect(scene.events() == [])
    }
}
