import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport
import Synchronization

/// The part of an adapter that does the work: its core, its mailbox, and the thread or port that provides its turns.
///
/// Users hold an `AdapterRunner`. The thread, or on manual time the closing itself, retains this object until the
/// controller is released, so that an adapter without references still disconnects from its peers. No thread blocks for
/// that.
final class RunnerTurns: PacketPortHost {
    let waker: Waker
    let mailbox = Mailbox()
    let guarded: GuardedCore
    private let port: (any PacketPort)?
    private let status = Mutex((failure: BluetoothError?.none, information: ControllerInformation?.none))
    /// Reached when the controller is released.
    let released = Milestone()
    /// Reached when closing is complete: the controller is released, and bonds are written or abandoned.
    let ended = Milestone()
    /// Whether another host has replaced this one on its port.
    private let hasSuccessor = Atomic(false)

    init(_ core: consuming sending RunnerCore, _ port: (any PacketPort)?) throws(TransportError) {
        guarded = GuardedCore(core)
        self.port = port
        waker = try Waker()
        guarded.withTurn { $0.turns = self }
    }

    /// Starts to take turns, either from the port or on a thread.
    func start() throws(TransportError) {
        if isTurnedByPort {
            guarded.withTurn { $0.begin(at: $0.clock.now) }
            requestTurn()
        } else {
            try RunnerThread.start(self, EventLoop(waker: waker))
        }
    }

    // MARK: - Turns

    /// Schedules a turn, because a call was posted or a port has data.
    func wake() {
        if isTurnedByPort { requestTurn() } else { waker.wake() }
    }

    var isTurnedByPort: Bool { port?.isTimeManual ?? false }

    private func requestTurn() { port?.requestTurn(of: self) }

    /// Takes the turns that are due, on the thread of a port on manual time. Returns when the adapter's next turn is
    /// due.
    func takeTurn() -> Instant? {
        guarded.withTurn { core in
            repeat { core.turn(nil, mailbox) } while !mailbox.leave()
            return core.nextDeadline
        }
    }

    /// Takes a turn on the adapter's thread, whose identifier is `thread`. Returns what the thread does next.
    func turn(_ ready: EventLoop.Event?, on thread: Int32) -> RunnerThread.NextStep {
        guarded.withTurn(on: thread) { core in
            core.turn(ready, mailbox)
            if case .over = core.state { return .end }
            return core.takeWish().map { .wait($0) } ?? .waitAgain
        }
    }

    /// Called when the thread starts.
    func begin() { guarded.withTurn { $0.begin(at: $0.clock.now) } }

    /// Does nothing: each transport on a port has its own seat, which records the event.
    func unplugged() {}

    // MARK: - The seat on a port

    /// Attaches a seat to a port, replacing any other host there.
    func takeSeat(_ seat: any PacketPortHost, on port: any PacketPort) -> UInt64 {
        let attachment = port.attach(seat)
        // The replaced seat may have been this adapter's own.
        hasSuccessor.store(false, ordering: .relaxed)
        return attachment
    }

    /// Another host now uses the controller, so this one must not disconnect its links.
    func displaced() {
        hasSuccessor.store(true, ordering: .relaxed)
        // The port provides no more turns to a replaced host, so closing continues here. A turn in progress checks for
        // the replacement at its end.
        if !isTurnedByPort { waker.wake() } else if !guarded.isInTurn { guarded.withTurn { $0.continueClosing(nil) } }
    }

    var isDisplaced: Bool { hasSuccessor.load(ordering: .relaxed) }

    // MARK: - Closing

    /// Closes after the calls already posted, and returns immediately.
    func beginClosing() { if case .taken(needsWake: true) = mailbox.putClosing() { wake() } }

    /// The core was closed outside of a turn. The thread has to end, or links have to be disconnected.
    func noteClosing() { if !isTurnedByPort || !ended.isReached { wake() } }

    var isReleased: Bool { released.isReached }

    // MARK: - State

    var failure: BluetoothError? { status.withLock { $0.failure } }
    var information: ControllerInformation? { status.withLock { $0.information } }

    func publish(failure: BluetoothError?) { status.withLock { $0.failure = failure } }
    func publish(information: ControllerInformation?) { status.withLock { $0.information = information } }
}
