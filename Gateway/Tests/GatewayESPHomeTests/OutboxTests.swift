import Synchronization
import Testing
@testable import GatewayESPHome

/// What waits for a client that is slow.
@Suite struct OutboxTests {
    final class Counter: Sendable {
        let count = Mutex(0)
    }

    @Test func asksOnce() {
        let asked = Counter()
        let outbox = Outbox { asked.count.withLock { $0 += 1 } }
        outbox.send(Frame(.pingRequest))
        outbox.send(Frame(.pingResponse))
        #expect(asked.count.withLock { $0 } == 1)
        #expect(outbox.take(isWritable: false) == [])
        #expect(outbox.take(isWritable: true) == [Frame(.pingRequest), Frame(.pingResponse)])
        #expect(outbox.take(isWritable: true) == [])
        outbox.send(Frame(.pingRequest))
        #expect(asked.count.withLock { $0 } == 2)
    }

    @Test func advertisementsAreGivenUpFirst() {
        let outbox = Outbox {}
        for _ in 0..<200 { outbox.send(Frame(.rawAdvertisements, [UInt8](repeating: 0, count: 960))) }
        #expect(outbox.dropped == 136)
        outbox.send(Frame(.readResponse))
        #expect(outbox.take(isWritable: true)?.count == 65)
    }

    @Test func bound() {
        let asked = Counter()
        let outbox = Outbox { asked.count.withLock { $0 += 1 } }
        for _ in 0..<1024 { outbox.send(Frame(.notifyData, [UInt8](repeating: 0, count: 960))) }
        #expect(asked.count.withLock { $0 } == 1)
        // It is asked for once more, since nothing else would find it out.
        outbox.send(Frame(.notifyData))
        outbox.send(Frame(.notifyData))
        #expect(asked.count.withLock { $0 } == 2)
        #expect(outbox.take(isWritable: false) == nil)
    }
}
