import BluetoothBase
import BluetoothPlatform
import HCITransport

/// The thread of one adapter. It waits for the transport, the next deadline and calls, and lets the adapter take a turn
/// for each. While it waits, it uses no CPU time.
final class RunnerThread {
    /// What the adapter's thread waits for.
    struct Wish: Equatable {
        /// Nil if there is no descriptor to watch.
        var fileDescriptor: Int32?
        /// Different for each descriptor, because the system reuses the numbers of closed ones.
        var watchNumber: Int
        var wantsWrite: Bool
        var deadline: Instant?
    }

    /// What the adapter's thread does after a turn.
    enum NextStep {
        case wait(Wish)
        /// It waits for the same as last time.
        case waitAgain
        case end
    }

    private let loop: EventLoop
    // Retained until the adapter has closed, at the latest when the last reference to its `AdapterRunner` is released.
    private let turns: RunnerTurns

    /// The descriptor that the loop watches, and the token of its events.
    private struct Watch {
        var token = 0
        var number = 0
        var fileDescriptor: Int32?
        var interest = EventLoop.Interest.read
    }

    private init(_ turns: RunnerTurns, _ loop: EventLoop) {
        self.turns = turns
        self.loop = loop
    }

    static func start(_ turns: RunnerTurns, _ loop: sending EventLoop) throws(TransportError) {
        let thread = RunnerThread(turns, loop)
        try startThread { thread.run() }
    }

    private func run() {
        turns.begin()
        let thread = CurrentThread.identifier
        // Local, so that their accesses need no checks.
        var watch = Watch()
        var deadline: Instant?
        var ready: EventLoop.Event?
        while true {
            switch turns.turn(ready, on: thread) {
            case .wait(let wish):
                follow(wish, &watch)
                deadline = wish.deadline
            case .waitAgain: break
            case .end: return
            }
            // If a call has arrived in the meantime, only check for data instead of waiting.
            ready = loop.wait(for: watch.token, until: turns.mailbox.leave() ? deadline : .zero)
        }
    }

    /// Watches the adapter's descriptor. If the event loop cannot watch it, the descriptor never becomes ready, and the
    /// host's timeouts apply.
    private func follow(_ wish: Wish, _ watch: inout Watch) {
        let interest: EventLoop.Interest = wish.wantsWrite ? [.read, .write] : .read
        if wish.fileDescriptor != watch.fileDescriptor || wish.watchNumber != watch.number {
            // If the descriptor was closed, the loop has already removed it.
            if let fileDescriptor = watch.fileDescriptor { loop.remove(fileDescriptor) }
            watch.token += 1
            if let fileDescriptor = wish.fileDescriptor {
                try? loop.add(fileDescriptor, token: watch.token, for: interest)
            }
        } else if interest != watch.interest, let fileDescriptor = wish.fileDescriptor {
            try? loop.change(fileDescriptor, token: watch.token, to: interest)
        } else {
            return
        }
        (watch.number, watch.fileDescriptor, watch.interest) = (wish.watchNumber, wish.fileDescriptor, interest)
    }
}
