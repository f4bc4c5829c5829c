import BluetoothBase
import HCITransport

/// The thread of one adapter. It waits for the transport, the next deadline and calls, and lets the adapter take a turn
/// for each. While it waits, it uses no CPU time.
final class RunnerThread {
    /// What the adapter's thread waits for.
    struct Wish {
        /// Nil if there is no descriptor to watch.
        var fileDescriptor: Int32?
        /// Different for each descriptor, because the system reuses the numbers of closed ones.
        var watchNumber: Int
        var wantsWrite: Bool
        var deadline: Instant?
    }

    private let loop: EventLoop
    // Retained until the adapter has closed, at the latest when the last reference to its `AdapterRunner` is released.
    private let turns: RunnerTurns
    private var token = 0
    private var watched: (number: Int, fileDescriptor: Int32?, interest: EventLoop.Interest) = (0, nil, .read)

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
        var ready: EventLoop.Event?
        while let wish = turns.turn(ready) {
            ready = nil
            follow(wish)
            // If a call has arrived in the meantime, only check for data instead of waiting.
            let deadline = turns.mailbox.leave() ? wish.deadline : .zero
            for event in loop.wait(until: deadline) where event.token == token { ready = event }
        }
    }

    /// Watches the adapter's descriptor. If the event loop cannot watch it, the descriptor never becomes ready, and the
    /// host's timeouts apply.
    private func follow(_ wish: Wish) {
        let interest: EventLoop.Interest = wish.wantsWrite ? [.read, .write] : .read
        if wish.fileDescriptor != watched.fileDescriptor || wish.watchNumber != watched.number {
            // If the descriptor was closed, the loop has already removed it.
            if let fileDescriptor = watched.fileDescriptor { loop.remove(fileDescriptor) }
            token += 1
            if let fileDescriptor = wish.fileDescriptor { try? loop.add(fileDescriptor, token: token, for: interest) }
        } else if interest != watched.interest, let fileDescriptor = wish.fileDescriptor {
            try? loop.change(fileDescriptor, token: token, to: interest)
        }
        watched = (wish.watchNumber, wish.fileDescriptor, interest)
    }
}
