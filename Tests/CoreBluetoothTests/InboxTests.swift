import Dispatch
import Foundation
import Testing

@testable import CoreBluetooth

@Suite("Events waiting for a manager's queue")
struct InboxTests {
    /// A queue whose blocks the test runs.
    private final class Blocks: VirtualQueue, @unchecked Sendable {
        private(set) var blocks: [@Sendable () -> Void] = []

        func enqueue(_ block: @escaping @Sendable () -> Void) { blocks.append(block) }
    }

    private final class Log: @unchecked Sendable {
        // Unchecked: the test has one thread.
        var lines: [String] = []

        /// Adds the line of an event, and returns the number of its callbacks.
        func add(_ line: String, callbacks: Int = 1) -> Int {
            lines.append(line)
            return callbacks
        }
    }

    @Test("A block that found no more events leaves new ones to the block scheduled for them")
    func nextBlock() {
        let blocks = Blocks(), log = Log()
        let inbox = Inbox<Int>(.virtual(blocks))
        inbox.begin {}
        inbox.append(0)
        inbox.enqueue(inbox.schedule())
        // What a concurrent queue may do: the next block begins before the first one has returned, and it does not
        // finish.
        let afterFirst = inbox.deliver { event, _ in
            inbox.whenDelivered {
                for number in 1...65 { inbox.append(number) }
                inbox.enqueue(inbox.schedule())
                let afterSecond = inbox.deliver { event, _ in log.add("second \(event)") }
                #expect(afterSecond.needsBlock)
            }
            return log.add("first \(event)")
        }
        #expect(!afterFirst.needsBlock)
        #expect(blocks.blocks.count == 2)
        #expect(log.lines == ["first 0"] + (1...64).map { "second \($0)" })
        #expect(!inbox.deliver { event, _ in log.add("third \(event)") }.needsBlock)
        #expect(log.lines.last == "third 65")
    }

    @Test("A block yields the queue after 64 callbacks, of however many events")
    func yielding() {
        let blocks = Blocks(), log = Log()
        let inbox = Inbox<Int>(.virtual(blocks))
        inbox.begin {}
        for count in [16, 40, 1, 7, 1] { inbox.append(count) }
        inbox.enqueue(inbox.schedule())
        #expect(inbox.deliver { event, _ in log.add("\(event)", callbacks: event) }.needsBlock)
        #expect(log.lines == ["16", "40", "1", "7"])
        #expect(!inbox.deliver { event, _ in log.add("\(event)", callbacks: event) }.needsBlock)
        #expect(log.lines.last == "1")
    }

    @Test("Each event is delivered with its octets, even if a later block delivers it or its buffer is reused")
    func octets() {
        let blocks = Blocks(), log = Log()
        let inbox = Inbox<Int>(.virtual(blocks))
        inbox.begin {}
        var arrived = 0
        func line(_ number: Int, _ octets: [UInt8]) -> String { "\(number): \(octets)" }
        // Every third event has no octets.
        func octets(of number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: number % 3) }
        func arrive() {
            inbox.append(arrived, octets: octets(of: arrived).span)
            arrived += 1
        }
        for _ in 0..<3 {
            // One block delivers 64 of them.
            for _ in 0..<70 { arrive() }
            inbox.enqueue(inbox.schedule())
            for needsBlock in [true, false] {
                let rest = inbox.deliver { event, octets in
                    // This one arrives while others are delivered.
                    if event % 71 == 69 { arrive() }
                    return log.add(line(event, octets.indices.map { octets[$0] }))
                }
                #expect(rest.needsBlock == needsBlock)
            }
        }
        #expect(log.lines == (0..<213).map { line($0, octets(of: $0)) })
    }

    @Test("Octets of later events are right after a buffer that was too large to keep")
    func largeContent() {
        let blocks = Blocks(), log = Log()
        let inbox = Inbox<Int>(.virtual(blocks))
        inbox.begin {}
        let large = [UInt8](repeating: 1, count: 1000)
        for number in 0..<100 { inbox.append(number, octets: large.span) }
        inbox.enqueue(inbox.schedule())
        for needsBlock in [true, false] {
            let rest = inbox.deliver { event, octets in
                // Delivered after the large ones, from another buffer.
                if event == 99 { for number in 100..<103 { inbox.append(number, octets: [UInt8(number)].span) } }
                return log.add("\(event): \(octets.count) of \(octets[0])")
            }
            #expect(rest.needsBlock == needsBlock)
        }
        #expect(log.lines == (0..<100).map { "\($0): 1000 of 1" } + (100..<103).map { "\($0): 1 of \($0)" })
    }

    @Test("An inbox that has ended drops its events, and nobody waits for their delivery")
    func end() {
        let blocks = Blocks(), log = Log()
        let inbox = Inbox<Int>(.virtual(blocks))
        inbox.begin { log.lines.append("block") }
        inbox.append(0)
        inbox.enqueue(inbox.schedule())
        inbox.whenDelivered { log.lines.append("delivered") }
        inbox.end()
        #expect(log.lines == ["delivered"])
        inbox.append(1)
        #expect(!inbox.schedule().needsBlock)
        #expect(!inbox.deliver { event, _ in log.add("event \(event)") }.needsBlock)
        inbox.whenDelivered { log.lines.append("delivered again") }
        #expect(log.lines == ["delivered", "delivered again"])
    }

    @Test("A block of Dispatch runs again after each request, and not after it was cancelled")
    func repetition() {
        let queue = DispatchQueue(label: "repetition"), log = Log()
        let block = RepeatedBlock(on: .dispatch(queue))
        block.begin { log.lines.append("run") }
        for _ in 0..<2 {
            block.enqueue()
            queue.sync {}
        }
        block.cancel()
        block.enqueue()
        queue.sync {}
        #expect(log.lines == ["run", "run"])
    }
}

extension InboxScheduling {
    fileprivate var needsBlock: Bool { if case .none = self { false } else { true } }
}
