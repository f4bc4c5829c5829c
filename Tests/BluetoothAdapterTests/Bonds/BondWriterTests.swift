import AdapterTestSupport
import BluetoothBase
import BluetoothSMP
import BluetoothUsers
import Dispatch
import Synchronization
import Testing

@testable import BluetoothAdapter
@testable import BluetoothHost

@Suite("Writing bonds", .timeLimit(.minutes(30)))
struct BondWriterTests {
    private func write(_ change: BondChange) -> BondWrite {
        BondWrite(change: change, local: BondSamples.local, controller: nil)
    }

    private func kept(_ number: UInt64, _ name: String) -> BondWrite {
        var bond = BondSamples.bare(number)
        bond.name = name
        return write(.kept(bond))
    }

    private func made(_ number: UInt64) -> BondWrite {
        let link = LinkIdentifier(slot: 0, generation: 1)
        return write(.made(MadeBond(link: link, bond: BondSamples.bare(number), former: nil)))
    }

    /// A writer, and a wait for the outcome of its next change.
    private func writer(_ store: GatedBondStore) -> (writer: BondWriter, wait: () -> Void) {
        let outcomes = DispatchSemaphore(value: 0)
        return (BondWriter(store) { outcomes.signal() }, { outcomes.wait() })
    }

    @Test("A store that hangs blocks no caller, and changes keep their order")
    func order() throws {
        let store = GatedBondStore()
        let (writer, wait) = writer(store)
        writer.append(made(1))
        writer.append(kept(2, "a"))
        writer.append(write(.removed(BondSamples.bare(1), request: nil)))
        writer.append(made(3))
        #expect(writer.takeResults().isEmpty && !writer.isIdle)
        store.open()
        for _ in 0..<4 { wait() }
        #expect(store.lines == ["save 1 ", "save 2 a", "remove 1", "save 3 "])
        #expect(writer.takeResults().map(\.error) == [nil, nil, nil, nil])
        #expect(writer.isIdle)
        // A thread that has ended begins again.
        writer.append(kept(4, "b"))
        wait()
        #expect(writer.takeResults().count == 1 && store.lines.last == "save 4 b")
    }

    @Test("When changes are abandoned, only the one being written can still take effect")
    func abandoned() async {
        let store = GatedBondStore()
        let (writer, wait) = writer(store)
        for number in 1...3 as ClosedRange<UInt64> { writer.append(made(number)) }
        await store.reached()
        #expect(writer.abandon() == 3)
        #expect(writer.isIdle && writer.abandon() == 0)
        store.open()
        wait()
        #expect(store.lines == ["save 1 "])
    }

    @Test("A bond that could not be stored when it was made is not stored later")
    func void() {
        let store = GatedBondStore(refusing: [BondSamples.bare(1).peer])
        let (writer, wait) = writer(store)
        writer.append(made(1))
        writer.append(kept(1, "a"))
        store.open()
        wait()
        // The failure has not been reported yet.
        writer.append(kept(1, "b"))
        #expect(store.lines == ["save 1 "])
        #expect(writer.takeResults().map(\.error) == [.diskFull])
    }

    @Test("A peer that pairs repeatedly while the store hangs does not grow the queue beyond its limit")
    func manyPairings() {
        var queue = BondWriteQueue(), refused = 0
        for round in 0..<10_000 {
            // The same peer, or a new one each time.
            if !queue.append(made(round % 2 == 0 ? 1 : UInt64(round))) { refused += 1 }
            _ = queue.append(kept(1, "\(round)"))
        }
        #expect(queue.waiting.count <= 2 * BondWriteQueue.maximumMade)
        #expect(refused == 10_000 - BondWriteQueue.maximumMade)
        let results = queue.takeResults()
        #expect(results.count == refused, "each pairing fails at once")
        #expect(results.allSatisfy { $0.error == .overloaded(maximum: BondWriteQueue.maximumMade) })
        // Once the store responds, new bonds are kept again.
        while let write = queue.next() { queue.ended(write, nil) }
        let isTaken = queue.append(made(5))
        #expect(isTaken)
    }

    @Test("A later change to a bond replaces the queued one in place, but not across a removal")
    func replaced() {
        var queue = BondWriteQueue(), isTaken = true
        func append(_ write: BondWrite) { isTaken = queue.append(write) && isTaken }
        func names() -> [String] {
            queue.waiting.map { if case .kept(let bond)? = $0.change { bond.name ?? "" } else { "-" } }
        }
        for number in 1...3 as ClosedRange<UInt64> { append(kept(number, "\(number)a")) }
        for round in 0..<10_000 { append(kept(2, "\(round)")) }
        #expect(names() == ["1a", "9999", "3a"])
        append(write(.removed(BondSamples.bare(2), request: nil)))
        append(kept(2, "new"))
        #expect(names() == ["1a", "9999", "3a", "-", "new"], "not across its removal")
        #expect(isTaken)
    }

    @Test("A simulated disk delays each change, one after the other")
    func simulated() {
        let draws = Mutex([
            SimulatedWrite(latency: .seconds(2)), SimulatedWrite(latency: .seconds(3), failure: .diskFull),
            SimulatedWrite(latency: .zero),
        ])
        let store = MemoryBondStore()
        var writer = TimedBondWriter(store) { draws.withLock { $0.removeFirst() } }
        func at(_ seconds: Int) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }
        for number in 1...3 as ClosedRange<UInt64> { writer.append(made(number), at: at(1)) }
        func errors(at seconds: Int) -> [BondStoreError?] { writer.takeResults(at: at(seconds)).map(\.error) }
        #expect(writer.nextDeadline == at(3))
        #expect(errors(at: 2) == [])
        #expect(errors(at: 3) == [nil])
        #expect(writer.nextDeadline == at(6))
        #expect(errors(at: 7) == [.diskFull, nil])
        #expect(writer.nextDeadline == nil)
        #expect((try? store.bonds(of: BondSamples.local).count) == 2)
    }
}
