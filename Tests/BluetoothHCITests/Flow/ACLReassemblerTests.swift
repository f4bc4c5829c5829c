import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Reassembly of L2CAP frames")
struct ACLReassemblerTests {
    static let frame = bytes("05 00 04 00 1B 03 00 01 02")

    @Test("a whole frame passes through without a copy")
    func whole() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(Self.frame, .firstFlushable) == .frame)
        #expect(Array(reassembler.buffer) == [])
        #expect(reassembler.receive(bytes("00 00 04 00"), .firstNonFlushable) == .frame)
    }

    @Test("L2: a frame is reassembled from fragments of any size", arguments: Array(1...8))
    func pieces(_ size: Int) {
        var reassembler = ACLReassembler(maximumFrameLength: Self.frame.count)
        for _ in 0..<2 {
            var outcomes: [ACLReassembler.Outcome] = []
            for start in stride(from: 0, to: Self.frame.count, by: size) {
                let piece = Self.frame[start..<min(start + size, Self.frame.count)]
                outcomes.append(
                    reassembler.receive(piece, start == 0 ? .firstFlushable : .continuing))
            }
            #expect(outcomes.dropLast().allSatisfy { $0 == .incomplete })
            #expect(outcomes.last == .reassembled)
            #expect(Array(reassembler.buffer) == Self.frame)
        }
        #expect(reassembler.drops == .init())
    }

    @Test("L2: an empty continuation changes nothing")
    func emptyContinuation() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(Self.frame[..<3], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(Self.frame[..<0], .continuing) == .incomplete)
        #expect(reassembler.receive(Self.frame[3...], .continuing) == .reassembled)
    }

    @Test("H8: a continuation without a start is dropped, also after a complete frame")
    func continuationWithoutStart() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(Self.frame, .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.receive(Self.frame, .firstFlushable) == .frame)
        #expect(reassembler.receive(Self.frame, .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.receive(Self.frame[..<5], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(Self.frame[5...], .continuing) == .reassembled)
        #expect(
            reassembler.receive(Self.frame[5...], .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.drops.continuationsWithoutStart == 3)
    }

    @Test("H8: a start while a frame is partial drops the partial one")
    func interrupted() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(Self.frame[..<5], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(Self.frame, .firstFlushable) == .frame)
        #expect(
            reassembler.receive(Self.frame[5...], .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.receive(Self.frame[..<5], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(Self.frame[..<6], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(Self.frame[6...], .continuing) == .reassembled)
        #expect(Array(reassembler.buffer) == Self.frame)
        #expect(reassembler.drops.interrupted == 2)
    }

    @Test("L1: more data than the frame claims drops it")
    func overlong() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        let long = bytes("01 00 04 00 0A 03 00")
        #expect(reassembler.receive(long, .firstFlushable) == .dropped(.overlong))
        #expect(reassembler.receive(long[..<2], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(long[2...], .continuing) == .dropped(.overlong))
        #expect(reassembler.receive(long[..<1], .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.drops.overlong == 2)
    }

    @Test("L3: a frame longer than allowed is dropped as soon as its length is known")
    func tooLong() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        let huge = bytes("FF FF 04 00 1B")
        #expect(reassembler.receive(huge, .firstFlushable) == .dropped(.frameTooLong))
        #expect(reassembler.receive(huge[..<3], .firstFlushable) == .incomplete)
        #expect(reassembler.receive(huge[3...], .continuing) == .dropped(.frameTooLong))
        #expect(Array(reassembler.buffer) == [])
        #expect(reassembler.receive(huge, .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.receive(bytes("3D 00 04 00"), .firstFlushable) == .dropped(.frameTooLong))
        #expect(reassembler.receive(bytes("3C 00 04 00"), .firstFlushable) == .incomplete)
        #expect(reassembler.drops.framesTooLong == 3)
    }

    @Test("a start without data is dropped")
    func emptyStart() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(bytes(""), .firstFlushable) == .dropped(.empty))
        #expect(reassembler.receive(bytes(""), .continuing) == .dropped(.continuationWithoutStart))
        #expect(reassembler.drops.empty == 1)
    }

    @Test(
        "A packet that no controller may send on an LE link is dropped, along with the frame it interrupts",
        arguments: [(ACLDataPacket.Boundary.complete, 0), (.continuing, 1), (.firstFlushable, 2), (.complete, 3)]
            as [(ACLDataPacket.Boundary, UInt8)])
    func flags(_ boundary: ACLDataPacket.Boundary, _ broadcast: UInt8) {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(Self.frame[..<5], .firstFlushable) == .incomplete)
        let packet = ACLDataPacket(
            connectionHandle: 0x40, boundary: boundary, broadcast: broadcast, data: Self.frame.span)
        #expect(reassembler.receive(packet) == .dropped(.flagsInvalid))
        #expect(reassembler.drops.flagsInvalid == 1)
        #expect(reassembler.receive(Self.frame[5...], .continuing) == .dropped(.continuationWithoutStart))
    }

    @Test("a reset discards a partial frame")
    func reset() {
        var reassembler = ACLReassembler(maximumFrameLength: 64)
        #expect(reassembler.receive(Self.frame[..<5], .firstFlushable) == .incomplete)
        reassembler.reset()
        #expect(
            reassembler.receive(Self.frame[5...], .continuing) == .dropped(.continuationWithoutStart))
    }
}

extension ACLReassembler {
    /// Receives a part of an array.
    fileprivate mutating func receive(_ data: some Sequence<UInt8>, _ boundary: ACLDataPacket.Boundary) -> Outcome {
        let data = Array(data)
        return receive(data.span, boundary: boundary)
    }
}
