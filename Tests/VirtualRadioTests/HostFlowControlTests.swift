import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Host flow control")
struct HostFlowControlTests {
    /// A central without flow control, connected to a peripheral whose host has so many buffers.
    private static func connected(
        buffers: UInt16, of length: UInt16 = 251, peripheral: (inout ControllerConfiguration) -> Void = { _ in }
    ) -> Bench {
        var bench = Bench(peripheral: peripheral)
        bench.prepare(
            bench.peripheral, HostBufferSize(aclDataPacketLength: length, totalACLDataPackets: buffers),
            SetControllerToHostFlowControl(flowControl: .acl))
        bench.run(.milliseconds(100))
        bench.connect()
        return bench
    }

    /// An ACL data packet as a host sends it, of one octet.
    private static func packet(_ octet: UInt8) -> [UInt8] { [0x02, 0x40, 0x00, 0x01, 0x00, octet] }

    /// The packets that a host receives where another sends these octets, one in each.
    private static func data(_ octets: ClosedRange<UInt8>, handle: String = "40 20") -> [String] {
        octets.map { "02 \(handle) 01 00 \([$0].hexadecimal())" }
    }

    private static func completed(_ count: UInt16, handle: ConnectionHandle = 0x40) -> HostNumberOfCompletedPackets {
        HostNumberOfCompletedPackets(links: [CompletedPackets(connectionHandle: handle, count: count)])
    }

    // MARK: - Commands

    @Test(
        "Answers to the flow control commands, byte for byte",
        arguments: [
            ("01 33 0C 07 FB 00 00 02 00 00 00", "04 0E 04 01 33 0C 00"),
            ("01 33 0C 07 00 00 00 02 00 00 00", "04 0E 04 01 33 0C 12"),  // no length
            ("01 33 0C 07 FB 00 00 00 00 00 00", "04 0E 04 01 33 0C 12"),  // no buffer
            ("01 33 0C 02 FB 00", "04 0E 04 01 33 0C 12"),
            ("01 31 0C 01 00", "04 0E 04 01 31 0C 00"), ("01 31 0C 01 01", "04 0E 04 01 31 0C 00"),
            ("01 31 0C 01 03", "04 0E 04 01 31 0C 00"), ("01 31 0C 01 04", "04 0E 04 01 31 0C 12"),
            ("01 35 0C 05 01 40 00 01 00", "04 0E 04 01 35 0C 0C"),  // not switched on
            ("01 35 0C 03 01 40 00", "04 0E 04 01 35 0C 12"),
        ])
    func answers(command: String, expected: String) {
        var bench = Bench()
        #expect(bench.answer(to: command, from: bench.central) == expected)
    }

    @Test("Flow control cannot be switched while connected; buffers can be announced at any time")
    func withConnection() {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: "01 31 0C 01 01", from: bench.central) == "04 0E 04 01 31 0C 0C")
        #expect(bench.answer(to: "01 33 0C 07 FB 00 00 02 00 00 00", from: bench.central) == "04 0E 04 01 33 0C 00")
    }

    @Test(
        "A controller without flow control does not support the commands, and reports that", arguments: [false, true])
    func configuration(hasHostFlowControl: Bool) throws {
        var bench = Bench(central: { $0.hasHostFlowControl = hasHostFlowControl })
        bench.send(ReadLocalSupportedCommands(), from: bench.central)
        let answer = bench.air[bench.central].outbox.popFirst() ?? []
        // Octet 10, bits 5 to 7.
        #expect(try #require(answer.dropFirst(7).dropFirst(10).first) & 0xE0 == (hasHostFlowControl ? 0xE0 : 0))
        for (command, opcode) in [
            ("01 31 0C 01 01", "31 0C"), ("01 33 0C 07 FB 00 00 02 00 00 00", "33 0C"),
            ("01 35 0C 05 01 40 00 01 00", "35 0C"),
        ] {
            let isUnknown = bench.answer(to: command, from: bench.central) == "04 0F 04 01 01 \(opcode)"
            #expect(isUnknown == !hasHostFlowControl)
        }
    }

    @Test(
        "Credits that were never granted are rejected, and those of a link that has ended are ignored",
        arguments: [
            ("01 35 0C 05 01 40 00 02 00", ""), ("01 35 0C 05 01 40 00 03 00", "04 0E 04 01 35 0C 12"),
            ("01 35 0C 05 01 41 00 09 00", ""), ("01 35 0C 09 02 40 00 01 00 41 00 01 00", ""),
            ("01 35 0C 09 02 40 00 01 00 40 00 02 00", "04 0E 04 01 35 0C 12"),
        ])
    func wrongCredits(command: String, expected: String) {
        var bench = Self.connected(buffers: 2)
        for octet in 1...2 as ClosedRange<UInt8> { bench.send(Self.packet(octet), from: bench.central) }
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == Self.data(1...2))
        #expect(bench.answer(to: command, from: bench.peripheral) == expected)
    }

    @Test("Credits neither wait for other commands nor need answers")
    func independence() {
        var bench = Self.connected(buffers: 1) { $0.responseDelay = .milliseconds(50) }
        // The answers to what it took to connect.
        bench.run(.seconds(1))
        _ = (bench.received(by: bench.central), bench.received(by: bench.peripheral))
        for octet in 1...3 as ClosedRange<UInt8> { bench.send(Self.packet(octet), from: bench.central) }
        bench.run(.milliseconds(30))
        bench.send(ReadBDADDR(), from: bench.peripheral)
        bench.send(Self.completed(1), from: bench.peripheral)
        bench.run(.milliseconds(31))
        #expect(bench.received(by: bench.peripheral) == Self.data(1...2))
        bench.air[bench.peripheral].faults.ignoresCommands = true
        bench.send(Self.completed(1), from: bench.peripheral)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == Self.data(3...3))
    }

    // MARK: - Data

    @Test("Packets without a buffer in the host stay with the sender, in order, and set no timer")
    func heldBack() {
        var bench = Self.connected(buffers: 2)
        for octet in 1...8 as ClosedRange<UInt8> { bench.send(Self.packet(octet), from: bench.central) }
        bench.run(.seconds(10))
        #expect(bench.received(by: bench.peripheral) == Self.data(1...2))
        #expect(bench.received(by: bench.central) == [DataTests.completed, DataTests.completed])
        #expect(bench.air.nextDeadline == nil)
        // The sender's buffers are taken: two more fit, and the next does not.
        for octet in 9...10 as ClosedRange<UInt8> { bench.send(Self.packet(octet), from: bench.central) }
        #expect(bench.received(by: bench.central) == [])
        bench.send(Self.packet(11), from: bench.central)
        #expect(bench.received(by: bench.central) == ["04 1A 01 01"])

        bench.send(Self.completed(1), from: bench.peripheral)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.peripheral) == Self.data(3...3))
        #expect(bench.received(by: bench.central) == [DataTests.completed])
        for octet in [4, 6, 8] as [UInt8] {
            bench.send(Self.completed(2), from: bench.peripheral)
            bench.run(.milliseconds(30))
            #expect(bench.received(by: bench.peripheral) == Self.data(octet...octet + 1))
        }
        bench.send(Self.completed(2), from: bench.peripheral)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == Self.data(10...10))
        #expect(bench.received(by: bench.central).count == 7)
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A host whose buffers are full can still send")
    func otherDirection() {
        var bench = Self.connected(buffers: 1)
        for octet in 1...4 as ClosedRange<UInt8> {
            bench.send(Self.packet(octet), from: bench.central)
            bench.send(Self.packet(octet), from: bench.peripheral)
        }
        bench.run(.milliseconds(60))
        #expect(bench.received(by: bench.central).filter { $0 != DataTests.completed } == Self.data(1...4))
        let received = bench.received(by: bench.peripheral)
        #expect(received.filter { $0 != DataTests.completed } == Self.data(1...1))
        #expect(received.count { $0 == DataTests.completed } == 4)
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("Until the host reports its buffers, packets are not limited; additional buffers let data through at once")
    func resizing() {
        var bench = Bench()
        bench.prepare(bench.peripheral, SetControllerToHostFlowControl(flowControl: .acl))
        bench.connect()
        for octet in 1...8 as ClosedRange<UInt8> { bench.send(Self.packet(octet), from: bench.central) }
        bench.run(.milliseconds(60))
        #expect(bench.received(by: bench.peripheral) == Self.data(1...8))
        bench.prepare(bench.peripheral, HostBufferSize(aclDataPacketLength: 251, totalACLDataPackets: 8))
        bench.send(Self.packet(9), from: bench.central)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.peripheral) == [])
        bench.prepare(bench.peripheral, HostBufferSize(aclDataPacketLength: 251, totalACLDataPackets: 9))
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == Self.data(9...9))
    }

    @Test("No packet is longer than the host's buffers")
    func shortBuffers() {
        var bench = Self.connected(buffers: 2, of: 10)
        bench.send(DataTests.packet(25), from: bench.central)
        bench.run(.milliseconds(30))
        #expect(
            bench.received(by: bench.peripheral) == [
                "02 40 20 0A 00 00 01 02 03 04 05 06 07 08 09", "02 40 10 0A 00 0A 0B 0C 0D 0E 0F 10 11 12 13",
            ])
        #expect(bench.received(by: bench.central) == [])
        bench.send(Self.completed(1), from: bench.peripheral)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == ["02 40 10 05 00 14 15 16 17 18"])
        #expect(bench.received(by: bench.central) == [DataTests.completed])
    }

    @Test(
        "Order is kept, no byte is lost and no buffer overruns, whenever credits return",
        arguments: 1...5 as ClosedRange<UInt64>)
    func order(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let buffers = UInt16.random(in: 1...5, using: &generator)
        var bench = Self.connected(buffers: buffers, of: .random(in: 5...40, using: &generator))
        var expected: [UInt8] = [], actual: [UInt8] = []
        var freeToSend = 8, held: UInt16 = 0
        for _ in 0..<2000 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where freeToSend > 0:
                let packet = DataTests.packet(.random(in: 1...60, using: &generator))
                bench.send(packet, from: bench.central)
                expected += packet.dropFirst(5)
                freeToSend -= 1
            case 1 where held > 0:
                let count = UInt16.random(in: 1...held, using: &generator)
                bench.send(Self.completed(count), from: bench.peripheral)
                held -= count
            default:
                bench.run(.milliseconds(.random(in: 0...60, using: &generator)))
            }
            while let packet = bench.air[bench.peripheral].outbox.popFirst() {
                actual += packet.dropFirst(5)
                held += 1
            }
            freeToSend += bench.received(by: bench.central).count
            #expect(held <= buffers)
        }
        while held > 0 || bench.air.nextDeadline != nil {
            bench.send(Self.completed(held), from: bench.peripheral)
            held = 0
            bench.run(.milliseconds(60))
            while let packet = bench.air[bench.peripheral].outbox.popFirst() {
                actual += packet.dropFirst(5)
                held += 1
            }
        }
        #expect(expected.count > 1000)
        #expect(actual == expected)
    }

    // MARK: - Several links

    /// A central whose host has one buffer, with two peripherals: the second under handle 0x41.
    private static func withTwoPeripherals() -> (bench: Bench, other: ControllerID) {
        var bench = Bench()
        let address = DeviceAddress(0xB0, kind: .public)
        let other = bench.air.addController(ControllerConfiguration(publicAddress: address))
        bench.prepare(
            bench.central, HostBufferSize(aclDataPacketLength: 251, totalACLDataPackets: 1),
            SetControllerToHostFlowControl(flowControl: .acl))
        bench.connect()
        bench.prepare(bench.central, Bench.createConnection(to: address))
        bench.prepare(
            other,
            LESetAdvertisingParameters(intervalMin: LESlots(rawValue: 0xA0), intervalMax: LESlots(rawValue: 0xA0)),
            LESetAdvertisingEnable(isEnabled: true))
        bench.run(.milliseconds(100))
        #expect(bench.air[bench.central].connectionCount == 2)
        _ = bench.received(by: bench.central)
        return (bench, other)
    }

    @Test("All links of a controller share the host's buffers")
    func shared() {
        var (bench, other) = Self.withTwoPeripherals()
        bench.send(Self.packet(1), from: bench.peripheral)
        bench.run(.milliseconds(30))
        bench.send(Self.packet(2), from: other)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == Self.data(1...1))
        #expect(bench.air.nextDeadline == nil)
        bench.send(Self.completed(1), from: bench.central)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.central) == Self.data(2...2, handle: "41 20"))
    }

    @Test("A link that ends returns its buffers to the other links, however it ends", arguments: [0, 1, 2])
    func endOfLink(way: Int) {
        var (bench, other) = Self.withTwoPeripherals()
        bench.send(Self.packet(1), from: bench.peripheral)
        bench.run(.milliseconds(30))
        bench.send(Self.packet(2), from: other)
        bench.run(.milliseconds(100))
        _ = bench.received(by: bench.central)
        switch way {
        case 0:
            bench.prepare(
                bench.central, Disconnect(connectionHandle: 0x40, reason: .remoteUserTerminatedConnection))
        case 1: bench.air.removeController(bench.peripheral, at: bench.now)
        default: bench.air.dropLinks(of: bench.peripheral, reason: .connectionTimeout, at: bench.now)
        }
        bench.run(.seconds(2))
        #expect(bench.received(by: bench.central).last == Self.data(2...2, handle: "41 20").last)
        // The host may not have known of the end yet.
        #expect(bench.answer(to: Self.completed(1), from: bench.central) == "")
        bench.send(Self.packet(3), from: other)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [])
        bench.send(Self.completed(1, handle: 0x41), from: bench.central)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.central) == Self.data(3...3, handle: "41 20"))
    }

    @Test("After Reset no packets are held back for the host")
    func reset() {
        var bench = Self.connected(buffers: 1, of: 10)
        for octet in 1...4 as ClosedRange<UInt8> { bench.send(Self.packet(octet), from: bench.central) }
        bench.run(.milliseconds(30))
        bench.prepare(bench.peripheral, Reset())
        bench.run(.seconds(2))
        bench.connect()
        bench.send(DataTests.packet(20), from: bench.central)
        bench.send(Self.packet(5), from: bench.central)
        bench.run(.milliseconds(30))
        #expect(
            bench.received(by: bench.peripheral) == [
                "02 40 20 14 00 " + (0..<20).map { UInt8($0) }.hexadecimal(), "02 40 20 01 00 05",
            ])
    }
}
