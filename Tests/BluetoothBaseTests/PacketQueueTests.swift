import BluetoothBase
import Testing

@Suite("Packet queue")
struct PacketQueueTests {
    @Test("Packets keep their order and boundaries") func packetsKeepTheirOrderAndTheirBoundaries() {
        var queue = PacketQueue()
        let packets: [[UInt8]] = [[1], [2, 3], [4, 5, 6]]
        for packet in packets { queue.append(packet.span) }
        #expect(queue.count == 3)
        #expect(take(3, from: &queue) == packets)
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }

    @Test("An empty queue has an empty first packet, and removing it has no effect")
    func anEmptyQueueHasNoFirstPacket() {
        var queue = PacketQueue()
        let length = queue.first.count
        #expect(length == 0)
        queue.removeFirst()
        #expect(queue.isEmpty)
        queue.append([1].span)
        #expect(queue.popFirst() == [1])
    }

    // MARK: - Packets in the making

    @Test("A packet is written in place, and queued once it is committed") func aPacketIsWrittenInPlace() {
        var queue = PacketQueue()
        queue.append([9].span)
        let start = queue.openOffset
        queue.writer.append(UInt16(0))
        queue.writer.append(UInt8(7))
        queue.writer.overwrite(UInt16(0x0102), at: start)
        #expect(queue.count == 1, "not a packet before it is committed")
        queue.commit()
        #expect(take(2, from: &queue) == [[9], [2, 1, 7]])
    }

    @Test("Rolling back discards only the packet being written") func onlyThePacketInTheMakingIsRolledBack() {
        var queue = PacketQueue()
        queue.append([1].span)
        queue.writer.append([2, 3])
        queue.rollback()
        queue.append([4].span)
        #expect(take(2, from: &queue) == [[1], [4]])
    }

    @Test("Empty packets are not queued") func aPacketOfNothingIsNone() {
        var queue = PacketQueue()
        queue.commit()
        queue.append(Span<UInt8>())
        #expect(queue.isEmpty)
    }

    @Test("Taking the last packet keeps the one being written") func takingTheLastPacketLeavesTheOneInTheMaking() {
        var queue = PacketQueue()
        queue.append([1, 2].span)
        queue.writer.append(UInt8(3))
        #expect(queue.popFirst() == [1, 2])
        queue.writer.append(UInt8(4))
        queue.commit()
        #expect(queue.popFirst() == [3, 4])
    }

    @Test("The bytes of all packets are in order, and removing the packets keeps the one being written")
    func bytesOfAll() {
        var queue = PacketQueue()
        let packets: [[UInt8]] = [[1], [2, 3], [4, 5, 6]]
        for packet in packets { queue.append(packet.span) }
        queue.removeFirst()
        queue.writer.append(UInt8(7))
        let all = Array(queue.bytes)
        #expect(all == [2, 3, 4, 5, 6])
        queue.removePackets()
        #expect(queue.isEmpty && queue.byteCount == 0)
        queue.commit()
        #expect(queue.popFirst() == [7])
        #expect(queue.popFirst() == nil)
    }

    @Test("Removing all packets also discards the one being written") func removingAllForgetsThePacketInTheMakingToo() {
        var queue = PacketQueue()
        queue.append([1].span)
        queue.append([2].span)
        queue.writer.append(UInt8(3))
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.openOffset == 0)
        queue.append([4].span)
        #expect(take(1, from: &queue) == [[4]])
    }

    // MARK: - Room

    /// Queues of every fill level, whose oldest packet is anywhere in the ring of boundaries when that has to grow.
    @Test("the queue keeps its order as it grows", arguments: [0, 1, 63, 64])
    func growing(_ taken: Int) {
        var queue = PacketQueue()
        for number in 0..<taken { queue.append(packet(number, 1).span) }
        for _ in 0..<max(0, taken - 1) { queue.removeFirst() }
        let kept = queue.count
        for number in 0..<1000 { queue.append(packet(number, 2).span) }
        #expect(queue.count == kept + 1000)
        #expect(take(kept, from: &queue) == (0..<kept).map { packet(taken - kept + $0, 1) })
        #expect(take(1000, from: &queue) == (0..<1000).map { packet($0, 2) })
    }

    @Test("A queue without reserved capacity keeps its packets in order") func aQueueWithoutRoomOfItsOwnWorksAlike() {
        var queue = PacketQueue(reservingCapacity: 0)
        for number in 0..<100 { queue.append(packet(number, 5).span) }
        #expect(take(100, from: &queue) == (0..<100).map { packet($0, 5) })
    }

    /// The bytes of removed packets must be reclaimed although the queue is never empty.
    @Test(
        "a queue that is never empty does not grow forever, and keeps packets intact",
        arguments: [(1, 1), (1, 300), (8, 27), (40, 1000)])
    func neverEmpty(_ waiting: Int, _ length: Int) {
        var queue = PacketQueue()
        for number in 0..<waiting { queue.append(packet(number, length).span) }
        var highest = 0, mistakes = 0
        for number in 0..<6000 {
            queue.append(packet(number + waiting, length).span)
            if queue.popFirst() != packet(number, length) { mistakes += 1 }
            highest = max(highest, queue.writer.count)
        }
        #expect(mistakes == 0)
        #expect(queue.count == waiting)
        // The pending bytes, as many that have been removed, and some slack below which compacting is not worthwhile.
        #expect(highest <= 2 * (waiting + 2) * length + 4096 + 2 * length)
    }

    @Test("A packet being written stays intact when the queue reclaims space")
    func aPacketInTheMakingSurvivesTheMove() {
        var queue = PacketQueue()
        for number in 0..<100 { queue.append(packet(number, 100).span) }
        queue.writer.append([1, 2, 3])
        for _ in 0..<99 { queue.removeFirst() }
        #expect(queue.openOffset < 9900, "the room of what was taken is free again")
        queue.writer.append(UInt8(4))
        queue.commit()
        #expect(take(2, from: &queue) == [packet(99, 100), [1, 2, 3, 4]])
    }

    @Test("Packets that match a condition are removed, and the others keep their order", arguments: [0, 1, 5, 200])
    func dropping(_ removed: Int) {
        var queue = PacketQueue()
        for number in 0..<250 { queue.append(packet(number, 30).span) }
        for _ in 0..<removed { queue.removeFirst() }
        queue.writer.append([1, 2, 3])
        var number = removed - 1
        queue.removeAll { _ in
            number += 1
            return number % 3 == 0
        }
        queue.writer.append(UInt8(4))
        queue.commit()
        let expected = (removed..<250).filter { $0 % 3 != 0 }.map { packet($0, 30) } + [[1, 2, 3, 4]]
        #expect(queue.count == expected.count)
        #expect(take(expected.count, from: &queue) == expected)
    }

    /// A packet that identifies itself.
    private func packet(_ number: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: (number &* 31) >> ($0 % 3 * 4)) }
    }

    private func take(_ count: Int, from queue: inout PacketQueue) -> [[UInt8]] {
        (0..<count).compactMap { _ in queue.popFirst() }
    }
}
