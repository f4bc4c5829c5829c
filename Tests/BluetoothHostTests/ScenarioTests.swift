import BluetoothBase
import BluetoothHCI
import Testing
import VirtualRadio

@testable import BluetoothHost

@Suite("Several hosts in an unfriendly world")
struct ScenarioTests {
    @Test("H9: everything that was started ends exactly once", arguments: UInt64(1)...12)
    func everyCallEnds(_ seed: UInt64) {
        var scenario = Scenario(seed: seed, hosts: 3 + Int(seed % 2))
        for _ in 0..<600 { scenario.step() }
        scenario.finish()
        for index in scenario.world.hosts.indices {
            let ledger = scenario.ledgers[index]
            #expect(ledger.faults == [])
            #expect(ledger.open.isEmpty, "\(ledger.open)")
            #expect(ledger.endCount > 20, "the scenario does something")
        }
        #expect(scenario.leftovers == [])
    }

    @Test("Unplugged at 10,000 instants, everything ends exactly once, and nothing piles up", arguments: UInt64(1)...20)
    func unplugged(_ seed: UInt64) {
        var scenario = Scenario(seed: seed, hosts: 2)
        var generator = SeededGenerator(seed: seed &+ 100)
        for _ in 0..<500 {
            for _ in 0..<Int.random(in: 1...6, using: &generator) { scenario.step() }
            // Off the instants at which `step` lets something happen, which are whole milliseconds.
            scenario.advance(by: .microseconds(Int.random(in: 0..<20_000, using: &generator)))
            let index = Int.random(in: 0..<2, using: &generator)
            scenario.unplug(index)
            #expect(scenario.world.hosts[index].nextDeadline == nil)
            #expect(scenario.world.hosts[index].commands.isEmpty)
            #expect(scenario.world.hosts[index].links.isEmpty)
            scenario.advance(by: .milliseconds(Int.random(in: 0..<50, using: &generator)))
            scenario.plugIn(index)
            scenario.advance(by: .milliseconds(Int.random(in: 0..<50, using: &generator)))
            #expect(scenario.world.hosts[index].controller != nil)
        }
        scenario.finish()
        #expect(scenario.leftovers == [])
        for (host, ledger) in zip(scenario.world.hosts, scenario.ledgers) {
            #expect(ledger.faults == [])
            #expect(ledger.open.isEmpty, "\(ledger.open)")
            #expect(ledger.endCount > 200, "the scenario does something")
            #expect(host.nextDeadline == nil)
            #expect(host.waitingLinks == 0 && host.links.slots.count <= 6)
        }
    }

    @Test("Nothing is left behind", arguments: UInt64(1)...4)
    func everythingIsGivenBack(_ seed: UInt64) {
        var scenario = Scenario(seed: seed)
        for _ in 0..<300 { scenario.step() }
        scenario.finish()
        for (host, controller) in zip(scenario.world.hosts, scenario.world.controllers) {
            #expect(host.connectedLinks == [])
            #expect(host.nextDeadline == nil, "an idle host waits for nothing")
            #expect(host.commands.isEmpty)
            #expect(host.flow.available == host.flow.bufferCount)
            #expect(host.waitingLinks == 0)
            #expect(host.links.slots.count <= 6)
            #expect(host.outbox.isEmpty)
            #expect(host.outbox.writer.count == 0)
            #expect(scenario.world.air[controller].connectionCount == 0)
            #expect(!scenario.world.air[controller].isInitiating)
            #expect(!scenario.world.air[controller].isScanning)
            #expect(!scenario.world.air[controller].isAdvertising)
        }
    }

    @Test("The same inputs give the same bytes", arguments: [UInt64(3), 5])
    func determinism(_ seed: UInt64) throws {
        func transcript() -> [String] {
            var scenario = Scenario(seed: seed)
            scenario.world.transcript = []
            for _ in 0..<200 { scenario.step() }
            scenario.finish()
            return scenario.world.transcript ?? []
        }
        let first = transcript(), second = transcript()
        #expect(first.count > 1000)
        #expect(first.count == second.count)
        let difference = zip(first, second).enumerated().first { $1.0 != $1.1 }
        #expect(difference == nil)
    }
}
