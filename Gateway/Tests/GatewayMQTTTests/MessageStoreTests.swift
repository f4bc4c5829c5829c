import GRDB
import GatewayConfiguration
import GatewayPipeline
import Testing
@testable import GatewayMQTT

/// What becomes of messages when the disk is full, and when it is not any more.
@Suite struct MessageStoreTests {
    let disk: Spool
    let store: MessageStore
    let start = ContinuousClock.now

    init() throws {
        disk = try Spool(path: nil, messages: 1000, octets: 1 << 20)
        var limits = SpoolSettings()
        (limits.messages, limits.octets) = (100, 1 << 20)
        store = MessageStore(disk, limits: limits)
    }

    /// A database that may not grow takes nothing that needs a page of its own.
    func fill() throws {
        try disk.database.inDatabase { try $0.execute(sql: "PRAGMA max_page_count = 1") }
    }

    func empty() throws {
        try disk.database.inDatabase { try $0.execute(sql: "PRAGMA max_page_count = 100000") }
    }

    /// A message that does not fit in a page.
    func publication(_ number: Int) -> Publication {
        Publication(topic: "t\(number)", payload: [UInt8](repeating: UInt8(number), count: 5000), isRetained: true)
    }

    func time(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    func take(_ limit: Int = 100) -> [MessageStore.Entry] { store.take(limit) }

    @Test func whatIsOnDiskGoesBeforeWhatIsInMemory() throws {
        #expect(store.store([publication(1), publication(2)], at: time(0)) == nil)
        try fill()
        #expect(store.store([publication(3)], at: time(1)) == .diskTakesNone(reason: "database or disk is full"))
        #expect(store.store([publication(4)], at: time(1.5)) == nil)
        #expect(store.count == 4)
        #expect(disk.count == 2)
        let entries = take(3) + take(3) + take(3)
        #expect(entries.map(\.publication) == (1...4).map(publication))
        for entry in entries { store.finish(entry.id) }
        #expect(store.count == 0)
        #expect(take() == [])
    }

    @Test func whatIsInMemoryGoesToDiskWhenItTakesMessagesAgain() throws {
        try fill()
        #expect(store.store([publication(1), publication(2)], at: time(0)) != nil)
        // One is on its way and stays where it is: it would be sent twice otherwise.
        let first = take(1)
        try empty()
        #expect(store.store([publication(3)], at: time(0.9)) == nil)
        #expect(disk.count == 0)
        #expect(store.store([], at: time(1)) == .diskTakesAgain)
        #expect(disk.count == 2)
        #expect(store.count == 3)
        #expect(store.store([publication(4)], at: time(2)) == nil)
        #expect(disk.count == 3)
        for entry in first { store.finish(entry.id) }
        let rest = take()
        #expect(first.map(\.publication) == [publication(1)])
        #expect(rest.map(\.publication) == (2...4).map(publication))
        for entry in rest { store.finish(entry.id) }
        #expect(store.count == 0)
        #expect(store.hasNewsForDisk)
        #expect(store.store([], at: time(3)) == nil)
        #expect(disk.count == 0)
        #expect(!store.hasNewsForDisk)
    }

    @Test func aFullDiskIsTriedWithGrowingWaitsAndSaidOnce() throws {
        try fill()
        #expect(store.store([publication(0)], at: time(0)) != nil)
        for second in 1...200 {
            #expect(store.store([publication(second % 10)], at: time(Double(second))) == nil)
        }
        // What is in memory has the same bounds.
        #expect(store.count <= 100)
        #expect(store.losses.superseded > 0)
        #expect(store.losses.oldest == 0)
        let newest = store.count
        try empty()
        #expect(store.store([], at: time(300)) == .diskTakesAgain)
        #expect(disk.count == newest)
        #expect(store.losses.superseded > 0)
    }

    @Test func whatNobodyTakesIsLostAtTheEndAndCounted() throws {
        try fill()
        #expect(store.store([publication(1), publication(2)], at: time(0)) != nil)
        #expect(store.close() == 2)
    }

    @Test func theEndIsTheLastAttempt() throws {
        try fill()
        #expect(store.store([publication(1)], at: time(0)) != nil)
        try empty()
        #expect(store.close() == 0)
    }

    @Test func whatWasNotWrittenDoesNotCount() throws {
        try fill()
        #expect(throws: (any Error).self) { try disk.append([publication(1)]) }
        #expect((disk.count, disk.octets) == (0, 0))
    }
}
