import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport
import Synchronization

/// The part of an adapter that works: its core, its mailbox, and the thread or port that gives it turns.
///
/// An `AdapterRunner` is what users hold. Its thread, or the closing itself where time is manual, keeps this alive until the
/// controller is released, so that an adapter without references still disconnects from its peers. No thread blocks for that.
final class RunnerTurns: PacketPortHost {
    let waker: Waker
    let mailbox = Mailbox()
    let guarded: GuardedCore
    private let port: (any PacketPort)?
    private let status = Mutex((failure: BluetoothError?.none, information: ControllerInformation?.none))
    /// Reached when the controller is released.
    let released = Milestone()
    /// Reached when nothing is left to do: the controller is released, and bonds are written or abandoned.
    let ended = Milestone()
    /// Whether another host has taken the place of this one on its port.
    private let hasSuccessor = Atomic(false)

    init(_ core: RunnerCore, _ port: (any PacketPort)?) throws(TransportError) {
        guarded = GuardedCore(core)
        self.port = port
        waker = try Waker()
        guarded.core.turns = self
    }

    /// Begins to take turns: those of the port, or of a thread.
    func start() throws(TransportError) {
        if isTurnedByPort {
            guarded.withTurn { $0.begin(at: $0.clock.now) }
            requestTurn()
        } else {
            try RunnerThread.start(self, EventLoop(waker: waker))
        }
    }

    // MARK: - Turns

    /// Schedules a turn: there is a call, or a port has data.
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

    /// Takes a turn of the thread. Returns what to wait for next; nil at the end.
    func turn(_ ready: EventLoop.Event?) -> RunnerThread.Wish? {
        guarded.withTurn { core in
            core.turn(ready, mailbox)
            if case .over = core.state { return nil }
            return RunnerThread.Wish(
                fileDescriptor: core.watchedDescriptor, watchNumber: core.watchNumber,
                wantsWrite: core.transport?.wantsWrite ?? false, deadline: core.clock.wakeUp(for: core.nextDeadline))
        }
    }

    /// The thread starts.
    func begin() { guarded.withTurn { $0.begin(at: $0.clock.now) } }

    /// Does nothing: each transport on a port has its own seat, which records that.
    func unplugged() {}

    // MARK: - The place on a port

    /// Takes the place of a host on a port.
    func takeSeat(_ seat: any PacketPortHost, on port: any PacketPort) -> UInt64 {
        let attachment = port.attach(seat)
        // The former seat may have been this adapter's own.
        hasSuccessor.store(false, ordering: .relaxed)
        return attachment
    }

    /// Another host has the controller now: this one must not disconnect the links of that.
    func displaced() {
        hasSuccessor.store(true, ordering: .relaxed)
        // A port gives no more turns to a host that it has not got any more. Inside a turn, the end of that looks at it.
        if !isTurnedByPort { waker.wake() } else if !guarded.isInTurn { guarded.withTurn { $0.continueClosing(nil) } }
    }

    var isDisplaced: Bool { hasSuccessor.load(ordering: .relaxed) }

    // MARK: - The end

    /// Closes after the calls already posted, and returns at once.
    func beginClosing() { if case .taken(needsWake: true) = mailbox.putClosing() { wake() } }

    /// The core has been closed outside of a turn: the thread has to end, or there are links to be disconnected.
    func noteClosing() { if !isTurnedByPort || !ended.isReached { wake() } }

    var isReleased: Bool { released.isReached }

    // MARK: - What there is

    var failure: BluetoothError? { status.withLock { $0.failure } }
    var information: ControllerInformation? { status.withLock { $0.information } }

    func publish(failure: BluetoothError?) { status.withLock { $0.failure = failure } }
    func publish(information: ControllerInformation?) { status.withLock { $0.information = information } }
}
