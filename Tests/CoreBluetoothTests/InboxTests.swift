import Foundation
import Testing

@testable import CoreBluetooth

@Suite("Events waiting for a manager's queue")
struct InboxTests {
    /// A lock after whose release something happens once, as if another thread had waited for it.
    private final class WatchedLock: NSLock, @unchecked Sendable {
        // Unchecked: the tests have one thread.
        var onRelease: (() -> Void)?

        override func unlock() {
            super.unlock()
            let body = onRelease
            onRelease = nil
            body?()
        }
    }

    /// A queue whose blocks the test runs.
    private final class Blocks: VirtualQueue, @unchecked Sendable {
        private(set) var blocks: [@Sendable () -> Void] = []

        func enqueue(_ block: @escaping @Sendable () -> Void) { blocks.append(block) }
    }

    @Test("A block that found no more events leaves new ones to the block scheduled for them")
    func nextBlock() {
        let lock = WatchedLock(), blocks = Blocks()
        let inbox = Inbox<Int>(.virtual(blocks), lock)
        var delivered: [String] = []
        lock.withLock {
            inbox.append(0)
            inbox.schedule {}
        }
        // What a concurrent queue may do: the next block begins before the first one has returned, and it does not
        // finish.
        let goesOn = inbox.deliver { event in
            delivered.append("first \(event)")
            lock.onRelease = {
                lock.withLock {
                    for number in 1...65 { inbox.append(number) }
                    inbox.schedule {}
                }
                #expect(inbox.deliver { delivered.append("second \($0)") })
            }
        }
        #expect(!goesOn)
        #expect(blocks.blocks.count == 2)
        #expect(delivered == ["first 0"] + (1...64).map { "second \($0)" })
        #expect(!inbox.deliver { delivered.append("third \($0)") })
        #expect(delivered.last == "third 65")
    }
}
