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
    }

    @Test("A block that found no more events leaves new ones to the block scheduled for them")
    func nextBlock() {
        let blocks = Blocks(), log = Log()
        let inbox = Inbox<Int>(.virtual(blocks))
        inbox.append(0)
        inbox.enqueue(inbox.schedule()) {}
        // What a concurrent queue may do: the next block begins before the first one has returned, and it does not
        // finish.
        let afterFirst = inbox.deliver { event in
            log.lines.append("first \(event)")
            inbox.whenDelivered {
                for number in 1...65 { inbox.append(number) }
                inbox.enqueue(inbox.schedule()) {}
                let afterSecond = inbox.deliver { log.lines.append("second \($0)") }
                #expect(afterSecond.needsBlock)
            }
        }
        #expect(!afterFirst.needsBlock)
        #expect(blocks.blocks.count == 2)
        #expect(log.lines == ["first 0"] + (1...64).map { "second \($0)" })
        #expect(!inbox.deliver { log.lines.append("third \($0)") }.needsBlock)
        #expect(log.lines.last == "third 65")
    }
}

extension InboxScheduling {
    fileprivate var needsBlock: Bool { if case .none = self { false } else { true } }
}
