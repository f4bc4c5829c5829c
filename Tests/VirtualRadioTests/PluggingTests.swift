import BluetoothBase
import BluetoothHCI
import Synchronization
import TestSupport
import Testing
import VirtualRadio

@Suite("Controllers that are unplugged and plugged in")
struct PluggingTests {
    @Test("A returned controller is in its initial state")
    func returned() {
        var bench = Bench(central: { $0.responseDelay = .milliseconds(5) })
        bench.connect()
        bench.run(.milliseconds(200))
        #expect(bench.air[bench.central].connectionCount == 1)
        for id in [bench.central, bench.peripheral] { _ = bench.received(by: id) }
        bench.startAdvertising()
        bench.send("01 03 0C 00", from: bench.central)
        for id in [bench.central, bench.peripheral] { bench.air.removeController(id, at: bench.now) }
        bench.run(.seconds(5))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
        #expect(bench.air.nextDeadline == nil)
        for id in [bench.central, bench.peripheral] {
            bench.air.returnController(id, at: bench.now)
            #expect(bench.air[id].connectionCount == 0 && !bench.air[id].isAdvertising)
        }
        bench.run(.seconds(5))
        #expect(bench.received(by: bench.central) == [], "what was asked before is not answered any more")
        bench.connect()
        bench.run(.milliseconds(200))
        _ = bench.received(by: bench.peripheral)
        bench.send("02 40 00 01 00 AA", from: bench.central)
        bench.run(.milliseconds(60))
        #expect(bench.received(by: bench.peripheral) == ["02 40 20 01 00 AA"])
    }

    @Test("A controller that returns at once has still lost its links, which its peers notice by supervision timeout")
    func returnedAtOnce() {
        var bench = Bench()
        bench.connect()
        bench.air.removeController(bench.central, at: bench.now)
        bench.air.returnController(bench.central, at: bench.now)
        bench.run(.milliseconds(999))
        #expect(bench.received(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 08"])
    }

    @Test("The host of a port is notified once of each change")
    func notified() async {
        let radio = VirtualRadio(time: .manual)
        let port = radio.addController()
        let host = CountingHost()
        port.attach(host)
        #expect(port.isPluggedIn)
        port.plugIn()
        #expect(host.counts == [0, 0])
        port.unplug()
        port.unplug()
        #expect(!port.isPluggedIn)
        #expect(host.counts == [1, 1])
        port.plugIn()
        port.plugIn()
        #expect(port.isPluggedIn)
        #expect(host.counts == [2, 1])
    }
}

/// A host that counts how often it is called, and told that its controller is gone.
private final class CountingHost: PacketPortHost {
    private let called = Atomic(0)
    private let lost = Atomic(0)

    var counts: [Int] { [called.load(ordering: .relaxed), lost.load(ordering: .relaxed)] }

    func wake() {}
    func unplugged() { lost.wrappingAdd(1, ordering: .relaxed) }
    func takeTurn() -> Instant? {
        called.wrappingAdd(1, ordering: .relaxed)
        return nil
    }
}
