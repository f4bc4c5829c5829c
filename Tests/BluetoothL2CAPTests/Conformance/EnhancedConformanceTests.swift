import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP conformance: enhanced mode only")
struct EnhancedConformanceTests {
    var scene = ChannelScene()

    @Test("L2CAP/ECFC/BV-17: channels up to the limit are opened and carry data, and the rest are refused")
    mutating func noRoom() throws {
        scene.signalling = SignallingChannel(role: .central, channelLimit: 3)
        _ = try scene.accept(.enhanced)
        #expect(
            scene.receive("17 02 0E 00 80 00 64 00 40 00 02 00 51 00 52 00 53 00")
                == .frames("18 02 0E 00 00 01 40 00 04 00 04 00 41 00 42 00 00 00"))
        let opened = scene.events().compactMap { if case .opened(let id, by: .peer) = $0 { id } else { nil } }
        #expect(opened.map(\.cid.rawValue) == [0x41, 0x42])
        for id in opened { #expect(scene.send(bytes("07 08"), on: id) == .frames("02 00 07 08")) }
    }

    @Test("L2CAP/ECFC/BV-27: the minimum MTU is accepted")
    mutating func leastMTU() {
        #expect(
            scene.receive("17 01 0A 00 80 00 40 00 40 00 02 00 50 00")
                == .frames("18 01 0A 00 00 01 40 00 04 00 00 00 40 00"))
    }

    @Test("L2CAP/ECFC/BV-29: a destination CID that is already in use closes both channels")
    mutating func duplicateDestination() throws {
        let (first, _) = try scene.open(.enhanced)
        _ = scene.events()
        let (second, _) = try scene.open(.enhanced)
        #expect(
            scene.events() == [.openingFailed(second, .invalidResponse), .closed(first, .violated(.cidReused))])
        #expect(scene.send([1], on: first) == [] && scene.send([1], on: second) == [])
        #expect(scene.frame(bytes("01 00 AA"), on: first.cid) == .ignored)
        #expect(scene.frame(bytes("01 00 AA"), on: second.cid) == .unknown)
    }

    // MARK: Reconfiguration

    @Test("L2CAP/ECFC/BV-22: SDUs as long as the MTU are received before and after this device raises it")
    mutating func raisedMTU() throws {
        scene.admission = .accepted(ChannelParameters(mtu: 64, mps: 100, window: 8))
        let id = try scene.accept(.enhanced)
        for _ in 0..<2 { #expect(scene.bring(ChannelDataTests.octets(64), framesOf: 100) == .sdu(2..<66)) }
        #expect(try scene.reconfigure([id], mtu: 98, mps: 100) == bytes("19 01 06 00 62 00 64 00 40 00"))
        #expect(scene.receive("1A 01 02 00 00 00") == [])
        for _ in 0..<2 { #expect(scene.bring(ChannelDataTests.octets(98), framesOf: 100) == .sdu(2..<100)) }
        #expect(scene.events() == [.reconfigured([id], nil)])
    }

    @Test("L2CAP/ECFC/BV-23: SDUs as long as the peer's MTU are sent before and after the peer raises it")
    mutating func raisedMTUOfPeer() throws {
        let id = try scene.accept(.enhanced, credits: 100)
        for _ in 0..<2 { expectSent(ChannelDataTests.octets(100), on: id, inFramesOf: [64, 38]) }
        #expect(scene.receive("19 02 06 00 C8 00 40 00 50 00") == .frames("1A 02 02 00 00 00"))
        for _ in 0..<2 { expectSent(ChannelDataTests.octets(200), on: id, inFramesOf: [64, 64, 64, 10]) }
    }

    @Test(
        "L2CAP/ECFC/BV-24: K-frames as long as the MPS are received before and after this device raises and lowers it")
    mutating func changedMPS() throws {
        scene.admission = .accepted(ChannelParameters(mtu: 256, mps: 100, window: 60))
        let id = try scene.accept(.enhanced)
        // So long that a K-frame behind the first one is full as well: its length is limited by the MPS to the octet.
        let sdu = ChannelDataTests.octets(250)
        for (number, mps) in [100, 101, 99].enumerated() {
            if number > 0 {
                let request = try scene.reconfigure([id], mtu: 256, mps: UInt16(mps))
                #expect(request.dropFirst(2) == bytes("06 00 00 01 \(hexadecimal(UInt8(mps))) 00 40 00")[...])
                #expect(scene.receive("1A \(hexadecimal(request[1])) 02 00 00 00") == [])
                #expect(scene.events() == [.reconfigured([id], nil)])
            }
            for _ in 0..<5 {
                #expect(scene.bring(sdu, framesOf: mps) == .reassembled)
                #expect(scene.completed[0x40] == sdu)
            }
        }
        #expect(scene.frame(bytes("FA 00") + sdu.prefix(100)) == .violated(.frameTooLong))
    }

    @Test(
        "L2CAP/ECFC/BV-25: K-frames as long as the peer's MPS are sent before and after the peer raises and lowers it")
    mutating func changedMPSOfPeer() throws {
        let id = try scene.accept(.enhanced, mps: 70, credits: 100)
        for mps in [70, 71, 69] {
            if mps != 70 {
                #expect(
                    scene.receive("19 02 06 00 64 00 \(hexadecimal(UInt8(mps))) 00 50 00")
                        == .frames("1A 02 02 00 00 00"))
            }
            for _ in 0..<5 { expectSent(ChannelDataTests.octets(100), on: id, inFramesOf: [mps, 102 - mps]) }
        }
    }

    /// An SDU goes out whole, with its length in front, in K-frames of these lengths.
    private mutating func expectSent(
        _ sdu: [UInt8], on id: CreditBasedChannel.ID, inFramesOf lengths: [Int],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let frames = scene.send(sdu, on: id)
        #expect(frames.map(\.count) == lengths, sourceLocation: sourceLocation)
        #expect(Array(frames.joined()) == [UInt8(sdu.count), 0] + sdu, sourceLocation: sourceLocation)
    }

    @Test("L2CAP/ECFC/BI-04: an MPS that would lower that of either of two channels changes neither")
    mutating func lowerForTwo() throws {
        let ids = scene.acceptEnhanced(2)
        #expect(scene.receive("19 02 08 00 64 00 64 00 50 00 51 00") == .frames("1A 02 02 00 00 00"))
        #expect(scene.receive("19 03 08 00 64 00 50 00 50 00 51 00") == .frames("1A 03 02 00 02 00"))
        #expect(scene.receive("19 04 06 00 64 00 78 00 50 00") == .frames("1A 04 02 00 00 00"))
        #expect(scene.receive("19 05 08 00 64 00 6E 00 50 00 51 00") == .frames("1A 05 02 00 02 00"))
        #expect(scene.signalling.channels.open == ids)
        #expect(ids.map { scene.signalling.channels[$0]?.peerMPS } == [120, 100])
    }

    @Test(
        "L2CAP/ECFC/BI-07: an MPS that would lower that of one of several channels changes none",
        arguments: [65, 80, 99])
    mutating func lowerForOne(_ mps: UInt8) throws {
        let ids = scene.acceptEnhanced(2)
        #expect(scene.receive("19 02 06 00 64 00 64 00 50 00") == .frames("1A 02 02 00 00 00"))
        #expect(
            scene.receive("19 03 08 00 64 00 \(hexadecimal(mps)) 00 50 00 51 00") == .frames("1A 03 02 00 02 00"))
        #expect(scene.signalling.channels.open == ids)
        #expect(ids.map { scene.signalling.channels[$0]?.peerMPS } == [100, 64])
    }
}
