import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Data")
struct DataTests {
    static let completed = "04 13 05 01 40 00 01 00"

    /// An ACL data packet as a host sends it, of `count` bytes that count up.
    static func packet(_ count: Int, flags: UInt8 = 0) -> [UInt8] {
        [0x02, 0x40, flags << 4, UInt8(count & 0xFF), UInt8(count >> 8)] + (0..<count).map { UInt8($0 & 0xFF) }
    }

    @Test("Data crosses at the next connection event, in both directions, and its buffers are returned")
    func bothWays() {
        var bench = Bench()
        bench.connect()
        bench.run(.milliseconds(1))
        bench.send("02 40 00 07 00 03 00 04 00 01 02 03", from: bench.central)
        bench.send("02 40 00 05 00 01 00 04 00 0A", from: bench.peripheral)
        bench.run(.microseconds(28_999))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
        bench.run(.microseconds(1))
        #expect(bench.received(by: bench.peripheral) == ["02 40 20 07 00 03 00 04 00 01 02 03", Self.completed])
        #expect(bench.received(by: bench.central) == [Self.completed, "02 40 20 05 00 01 00 04 00 0A"])
        #expect(bench.air.nextDeadline == nil)
    }

    @Test(
        "Start and continuation are distinguished on the other side",
        arguments: [(UInt8(0b00), "20"), (0b01, "10"), (0b10, "20")])
    func boundary(flags: UInt8, expected: String) {
        var bench = Bench()
        bench.connect()
        bench.send(Self.packet(2, flags: flags), from: bench.central)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == ["02 40 \(expected) 02 00 00 01"])
    }

    @Test("A buffer longer than a link layer packet arrives in pieces, and completes with the last one")
    func fragmentation() {
        var bench = Bench()
        bench.connect()
        bench.send(Self.packet(60), from: bench.central)
        bench.run(.zero)
        #expect(bench.received(by: bench.central) == [])
        bench.run(.milliseconds(29))
        let bytes = (0..<60).map { UInt8($0) }
        #expect(
            bench.received(by: bench.peripheral) == [
                "02 40 20 1B 00 " + bytes[0..<27].hexadecimal(), "02 40 10 1B 00 " + bytes[27..<54].hexadecimal(),
                "02 40 10 06 00 " + bytes[54..<60].hexadecimal(),
            ])
        #expect(bench.received(by: bench.central) == [Self.completed])
    }

    @Test("After a data length update the same buffer arrives in one piece")
    func dataLength() {
        var bench = Bench()
        bench.connect()
        bench.prepare(
            bench.central, LESetDataLength(connectionHandle: 0x40, transmit: LEDataLength(octets: 251, time: 2120)))
        bench.run(.milliseconds(100))
        _ = bench.received(by: bench.peripheral)
        bench.send(Self.packet(251), from: bench.central)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral).map { $0.count } == [256 * 3 - 1])
    }

    @Test("Order is kept, and no byte is lost, whatever the lengths")
    func order() {
        var bench = Bench()
        bench.connect()
        var expected: [UInt8] = []
        var actual: [UInt8] = []
        for round in 0..<50 {
            for length in [1, 26, 27, 28, 251] {
                let packet = Self.packet(length, flags: UInt8(round & 1))
                expected += packet.dropFirst(5)
                bench.send(packet, from: bench.peripheral)
            }
            bench.run(.milliseconds(60))
            while let packet = bench.air[bench.central].outbox.popFirst() { actual += packet.dropFirst(5) }
        }
        #expect(actual == expected)
    }

    @Test(
        "H8: data for an unknown link, or invalid data, is ignored",
        arguments: [
            "02 41 00 01 00 AA", "02 FF 0E 01 00 AA", "02 00 00 01 00 AA", "02 40 00 02 00 AA", "02 40 00 00 00 AA",
            "02 40 30 01 00 AA", "02 40 40 01 00 AA", "02 40 00 01", "02",
        ])
    func ignored(packet: String) {
        var bench = Bench()
        bench.connect()
        bench.send(packet, from: bench.central)
        #expect(bench.air.nextDeadline == nil)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
    }

    @Test("An empty packet is complete at once")
    func empty() {
        var bench = Bench()
        bench.connect()
        bench.send("02 40 00 00 00", from: bench.central)
        #expect(bench.received(by: bench.central) == [Self.completed])
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("Too many packets, or packets that are too long, overflow; the others arrive")
    func overflow() {
        var bench = Bench()
        bench.connect()
        bench.run(.milliseconds(1))
        for _ in 0..<8 { bench.send(Self.packet(20), from: bench.central) }
        #expect(bench.received(by: bench.central) == [])
        bench.send(Self.packet(20), from: bench.central)
        #expect(bench.received(by: bench.central) == ["04 1A 01 01"])
        bench.run(.milliseconds(40))
        #expect(bench.received(by: bench.central) == Array(repeating: Self.completed, count: 8))
        #expect(bench.received(by: bench.peripheral).count == 8)
        bench.send(Self.packet(252), from: bench.central)
        #expect(bench.received(by: bench.central) == ["04 1A 01 01"])
    }

    @Test("A host that keeps the buffers filled gets what the radio can carry", arguments: [1, 4, Int.max])
    func throughput(maximumExchanges: Int) {
        var bench = Bench(central: { $0.maximumExchangesPerEvent = maximumExchanges })
        bench.connect()
        let end = bench.now.advanced(by: .seconds(1))
        var count = 0
        var credits = 8
        while bench.now < end {
            while credits > 0 {
                bench.send(Self.packet(27), from: bench.central)
                credits -= 1
            }
            bench.now = min(bench.air.nextDeadline ?? end, end)
            bench.air.fire(at: bench.now)
            credits += bench.received(by: bench.central).count
            count += bench.received(by: bench.peripheral).count
        }
        // 708 microseconds for an exchange of 27 octets one way, 33 or 34 connection events in a second.
        switch maximumExchanges {
        case 1: #expect((33...34).contains(count))
        case 4: #expect((4 * 33...4 * 34).contains(count))
        default: #expect((1350...1412).contains(count))
        }
    }

    @Test("A host that does not read stalls the air, and loses nothing")
    func backPressure() {
        var bench = Bench(peripheral: { $0.maximumWaitingPackets = 3 })
        bench.connect()
        for _ in 0..<8 { bench.send(Self.packet(1), from: bench.central) }
        bench.run(.milliseconds(100))
        #expect(bench.air[bench.peripheral].outbox.count == 3)
        #expect(bench.received(by: bench.peripheral).count == 3)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral).count == 3)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral).count == 2)
        #expect(bench.received(by: bench.central).count == 8)
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("With peripheral latency, the central waits for the peripheral to wake; the peripheral need not")
    func latency() {
        var bench = Bench()
        bench.connect(Bench.connectionParameters(latency: 4))
        // The clock is at event 2; the peripheral listens at 5.
        bench.run(.milliseconds(1))
        bench.send(Self.packet(1), from: bench.central)
        bench.run(.milliseconds(88))
        #expect(bench.received(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.peripheral) == ["02 40 20 01 00 00"])
        bench.send(Self.packet(1), from: bench.peripheral)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.central) == [Self.completed, "02 40 20 01 00 00"])
    }
}
