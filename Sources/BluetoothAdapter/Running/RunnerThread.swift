import BluetoothBase
import HCITransport

/// The thread of one adapter. It waits for the transport, for the next deadline and for calls, and lets the adapter take a
/// turn whenever one of them comes. While none does, it uses no processor time.
final class RunnerThread {
    /// What an adapter wants its thread to wait for.
    struct Wish {
        /// Nil where there is no descriptor to watch.
        var fileDescriptor: Int32?
        /// Another one for each descriptor: the system uses the numbers of those that were closed again.
        var watchNumber: Int
        var wantsWrite: Bool
        var deadline: Instant?
    }

    private let loop: EventLoop
    private let mailbox: Mailbox
    // Not kept: an adapter that nobody holds any more ends, and the thread with it.
    private weak var runner: AdapterRunner?
    private var token = 0
    private var watched: (number: Int, fileDescriptor: Int32?, interest: EventLoop.Interest) = (0, nil, .read)

    private init(_ runner: AdapterRunner, _ loop: EventLoop) {
        self.runner = runner
        self.loop = loop
        mailbox = runner.mailbox
    }

    static func start(_ runner: AdapterRunner, _ loop: sending EventLoop) throws(TransportError) {
        let thread = RunnerThread(runner, loop)
        try startThread { thread.run() }
    }

    private func run() {
        runner?.begin()
        var ready: EventLoop.Event?
        while let wish = runner?.turn(ready) {
            ready = nil
            follow(wish)
            // With a call that has come meanwhile there is nothing to wait for, but to look whether bytes are there.
            let deadline = mailbox.leave() ? wish.deadline : .zero
            for event in loop.wait(until: deadline) where event.token == token { ready = event }
        }
    }

    /// Watches what the adapter wishes. A loop that cannot watch a descriptor never reports it, and the time-outs of the
    /// host notice.
    private func follow(_ wish: Wish) {
        let interest: EventLoop.Interest = wish.wantsWrite ? [.read, .write] : .read
        if wish.fileDescriptor != watched.fileDescriptor || wish.watchNumber != watched.number {
            // Where it has been closed, the loop has forgotten it already.
            if let fileDescriptor = watched.fileDescriptor { loop.remove(fileDescriptor) }
            token += 1
            if let fileDescriptor = wish.fileDescriptor { try? loop.add(fileDescriptor, token: token, for: interest) }
        } else if interest != watched.interest, let fileDescriptor = wish.fileDescriptor {
            try? loop.change(fileDescriptor, token: token, to: interest)
        }
        watched = (wish.watchNumber, wish.fileDescriptor, interest)
    }
}
