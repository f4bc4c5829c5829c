import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Idle, lost and ended links")
struct LinkLossTests {
    @Test("An idle link sets no timer")
    func idle() {
        var bench = Bench()
        bench.connect()
        #expect(bench.air.nextDeadline == nil)
        bench.run(.seconds(3600))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
        // After an hour its clock still ticks.
        bench.send("02 40 00 01 00 AA", from: bench.central)
        #expect(bench.air.nextDeadline.map { bench.now.duration(to: $0) < .milliseconds(30) } == true)
    }

    @Test("Out of range, both ends lose the link after the supervision timeout")
    func supervisionTimeout() {
        var bench = Bench()
        bench.connect()
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 96, at: bench.now)
        bench.send("02 40 00 01 00 AA", from: bench.central)
        bench.run(.milliseconds(999))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 08"])
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 08"])
        #expect(bench.air.nextDeadline == nil && bench.air[bench.central].connectionCount == 0)
    }

    @Test("Back in range in time, the link continues with pending data")
    func backInRange() {
        var bench = Bench()
        bench.connect()
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 96, at: bench.now)
        bench.send("02 40 00 01 00 AA", from: bench.central)
        bench.send(ReadRemoteVersionInformation(connectionHandle: 0x40), from: bench.peripheral)
        bench.run(.milliseconds(990))
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 95, at: bench.now)
        bench.run(.milliseconds(60))
        #expect(
            bench.received(by: bench.peripheral) == [
                "04 0F 04 00 01 1D 04", "02 40 20 01 00 AA", "04 0C 08 00 40 00 0D FF FF 00 00",
            ])
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A path lost in only one direction also loses the link")
    func oneWay() {
        var bench = Bench()
        bench.connect()
        bench.air.setPathLoss(from: bench.peripheral, to: bench.central, to: 120, at: bench.now)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 08"])
    }

    @Test("Resetting or removing a controller ends its links after the supervision timeout", arguments: [false, true])
    func missed(isRemoved: Bool) {
        var bench = Bench()
        bench.connect()
        if isRemoved {
            bench.air.removeController(bench.central, at: bench.now)
        } else {
            bench.prepare(bench.central, Reset())
        }
        bench.run(.milliseconds(999))
        #expect(bench.received(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 08"])
        #expect(bench.received(by: bench.central) == [])
        #expect(bench.answer(to: "01 03 0C 00", from: bench.central) == (isRemoved ? "" : "04 0E 04 01 03 0C 00"))
    }

    @Test("Disconnect ends the link at the next event, with a reason for each side")
    func disconnect() {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: "01 06 04 03 40 00 15", from: bench.peripheral) == "04 0F 04 00 01 06 04")
        #expect(bench.answer(to: "01 06 04 03 40 00 15", from: bench.peripheral) == "04 0F 04 0C 01 06 04")
        bench.run(.milliseconds(29))
        #expect(bench.received(by: bench.central) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 15"])
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 16"])
        #expect(bench.answer(to: "01 06 04 03 40 00 13", from: bench.central) == "04 0F 04 02 01 06 04")
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A reason that the specification does not allow is rejected", arguments: ["00", "08", "16", "3E"])
    func reason(code: String) {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: "01 06 04 03 40 00 \(code)", from: bench.central) == "04 0F 04 12 01 06 04")
    }

    @Test("A disconnection out of range completes with the supervision timeout")
    func disconnectOutOfRange() {
        var bench = Bench()
        bench.connect()
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 96, at: bench.now)
        bench.prepare(bench.central, Disconnect(connectionHandle: 0x40))
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 16"])
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 08"])
    }

    @Test("The buffers of a link that ended are free again")
    func buffersReturn() {
        var bench = Bench()
        bench.connect()
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 96, at: bench.now)
        for _ in 0..<8 { bench.send(DataTests.packet(27), from: bench.central) }
        bench.run(.seconds(2))
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 50, at: bench.now)
        _ = bench.received(by: bench.central)
        bench.connect()
        for _ in 0..<8 { bench.send(DataTests.packet(27), from: bench.central) }
        bench.run(.milliseconds(100))
        #expect(bench.received(by: bench.central) == Array(repeating: DataTests.completed, count: 8))
    }

    // MARK: - Path loss

    @Test(
        "RSSI is transmit power less path loss, down to the sensitivity",
        arguments: [(Int8(0), 50, "CE"), (4, 50, "D2"), (0, 95, "A1"), (0, -10, "0A"), (8, 103, "A1")])
    func rssi(transmitPower: Int8, loss: Int, expected: String) {
        var bench = Bench(central: { $0.transmitPower = 8 }, peripheral: { $0.transmitPower = transmitPower })
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: loss, at: bench.now)
        bench.connect()
        #expect(
            bench.answer(to: "01 05 14 02 40 00", from: bench.central) == "04 0E 07 01 05 14 00 40 00 \(expected)")
        #expect(
            bench.answer(to: "01 2D 0C 03 40 00 00", from: bench.central) == "04 0E 07 01 2D 0C 00 40 00 08")
    }

    @Test("Out of range there is no RSSI, and no advertising is received")
    func outOfRange() {
        var bench = Bench()
        bench.connect()
        bench.prepare(bench.central, LESetScanEnable(isEnabled: true))
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 96, at: bench.now)
        #expect(bench.air.pathLoss(from: bench.peripheral, to: bench.central) == 96)
        #expect(bench.answer(to: "01 05 14 02 40 00", from: bench.central) == "04 0E 07 01 05 14 00 40 00 7F")
        bench.startAdvertising()
        bench.run(.milliseconds(500))
        #expect(bench.received(by: bench.central) == [])
    }
}
