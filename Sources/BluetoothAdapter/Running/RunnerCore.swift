import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import HCITransport

/// The state of an adapter's thread: the host, the transport, and the recovery of a lost controller. `AdapterRunner`
/// ensures that only one thread at a time uses it.
///
/// It is a struct, so a turn is a single exclusive access. With a class, exclusivity would be checked at each use of a
/// property, about thirty times per turn.
struct RunnerCore {
    enum State {
        /// No transport. It is being opened or reopened.
        case closedTransport
        /// A transport is open. Its controller is ready or being initialized.
        case open(any HCITransport)
        /// Users have been notified that the adapter is closed. Its links are being disconnected and its bonds written.
        /// Indirect, because storing a whole host inline would make the state large in every turn.
        indirect case closing(Closing)
        case over
    }

    let clock: AdapterClock
    // Separate, because looking at `clock` in each turn would copy it.
    private let usesSystemClock: Bool
    let options: AdapterOptions
    var shared: SharedHost
    var state = State.closedTransport
    var recovery: Recovery
    /// The packet capture, which continues when the transport is lost and reopened.
    private let capture: CaptureFile?
    /// The source of each transport's injected faults; nil for none.
    private var faults: HCIFaults?
    /// Why the adapter is not ready.
    var failure: BluetoothError?
    /// Changes with each new descriptor to watch, because a new descriptor may reuse the number of the previous one.
    var watchNumber = 0
    /// Whether the adapter closes at the end of the turn.
    private var isToClose = false
    /// The reason why no bond store is available, until it has been reported.
    var missingBondStore: BondStoreError?
    /// The controller that bonds were last restored for.
    var bondsRestoredFor: DeviceAddress?
    /// The identity that the store is known to have for the controller.
    var storedIdentity: DeviceIdentity?
    /// Writes bond changes to the store.
    var bondWriting: BondWriting?
    /// The number of calls carried out plus packets received, not counting advertising reports.
    var work: UInt64 = 0
    /// Tasks that wait until the adapter is idle.
    var awaitingIdleness: [CheckedContinuation<Void, Never>] = []
    /// Weak, because `RunnerTurns` owns this core.
    weak var turns: RunnerTurns? {
        didSet { bondWriting = turns.flatMap { makeBondWriting($0) } }
    }

    private var observers: [AttachedObserver] = []
    private var content = Mailbox.Content()
    /// `SharedHost.statusChanges` as of the last turn.
    private var noticedStatusChanges: UInt32 = 0
    /// When the host needs its next turn, as of the end of the last turn.
    var deadline: Instant?
    /// What the thread waits for with an open transport and the system's clock, as of the end of the last turn.
    private var knownWish: RunnerThread.Wish?
    /// Whether the thread has been told `knownWish`.
    private var isWishTold = false

    init(
        _ clock: AdapterClock, _ source: ControllerSource, _ options: AdapterOptions,
        _ capture: sending CaptureFile? = nil
    ) {
        self.clock = clock
        usesSystemClock = if case .system = clock { true } else { false }
        self.capture = capture
        self.options = options
        faults = options.faults
        missingBondStore = options.missingBondStore
        recovery = Recovery(source, isEnabled: options.isRecovering)
        shared = SharedHost(configuration: Self.configuration(options, source))
    }

    var transport: (any HCITransport)? {
        switch state {
        case .open(let transport): transport
        case .closing(let closing): closing.disconnection?.transport
        case .closedTransport, .over: nil
        }
    }

    private var isOpen: Bool { if case .open = state { true } else { false } }

    // MARK: - A turn

    /// Does all pending work: received packets, calls and deadlines. Then sends packets to the controller and delivers
    /// events to the users.
    mutating func turn(_ ready: EventLoop.Event?, _ mailbox: Mailbox) {
        if case .closing = state { return continueClosing(ready) }
        let now = usesSystemClock ? MonotonicClock.now : clock.now
        // Results come first, before other work changes bonds.
        var isQuiet = bondWriting == nil || !takeBondResults(at: now)
        if !isOpen {
            reopen(at: now)
            isQuiet = false
        }
        // Calls come before packets: a value handed over before its subscriber left must be sent even if this thread
        // runs late.
        carryOut(mailbox, at: now)
        receive(ready, at: now)
        if let deadline, deadline <= now { shared.fire(at: now) }
        shared.endTurn(at: now)
        if shared.hasBondChanges {
            storeBonds(at: now)
            isQuiet = false
        }
        let isSending = shared.hasOutput || ready?.isWritable == true
        send(at: now)
        // A new status can have begun to write bonds.
        if deliver() { isQuiet = false }
        // If this turn closed the adapter, the deadline for its bonds is already set.
        if case .closing = state {
        } else if updateDeadline(at: now) {
            isQuiet = false
        }
        if !isQuiet || !isOpen || isSending { updateWish(hasSent: isSending) }
        if isToClose {
            close(.adapterClosed, mailbox)
            continueClosing(nil)
        }
        if !awaitingIdleness.isEmpty { endWaitingForIdleness() }
    }

    /// Returns whether the deadline has changed.
    private mutating func updateDeadline(at now: Instant) -> Bool {
        let last = deadline
        deadline = shared.deadline(after: last, at: now)
        assert(earliest(deadline, shared.nextDeadline) == deadline, "this turn has set an earlier deadline unnoticed")
        return deadline != last
    }

    private mutating func receive(_ ready: EventLoop.Event?, at now: Instant) {
        guard let transport else {
            if ready != nil { arrivalsAreReady(at: now) }
            return
        }
        do throws(TransportError) {
            if ready?.isWritable == true { try transport.flush() }
            // Without a descriptor, there is no way to know whether data is available.
            guard ready?.isReadable == true || transport.fileDescriptor < 0 else { return }
            try transport.receive { packet in
                if !packet.isAdvertisingReport { self.work &+= 1 }
                self.shared.receive(packet, at: now)
            }
        } catch {
            controllerLost(.transport(error), at: now)
        }
        noticeFailure(at: now)
    }

    /// Carries out the calls in the mailbox.
    mutating func carryOut(_ mailbox: Mailbox, at now: Instant) {
        mailbox.take(into: &content)
        if !content.awaitingIdleness.isEmpty {
            awaitingIdleness += content.awaitingIdleness
            content.awaitingIdleness.removeAll()
        }
        guard !content.calls.isEmpty || content.isToClose else { return }
        work &+= UInt64(content.calls.count)
        if !content.observers.isEmpty {
            observers += content.observers
            content.observers.removeAll(keepingCapacity: true)
        }
        shared.perform(content.calls, at: now)
        if content.isToClose { isToClose = true }
        content.calls.clear()
        content.isToClose = false
        if observers.count != shared.userCount { observers.removeAll { !shared.isAttached($0.user) } }
    }

    /// Sends the controller its packets.
    private mutating func send(at now: Instant) {
        do throws(TransportError) {
            if shared.hasOutput, let transport {
                try shared.withOutbox { outbox throws(TransportError) in try transport.send(&outbox) }
            }
        } catch {
            // The controller is not reading. The rest is sent when it reads again.
            if case .outputFull = error.reason { return }
            controllerLost(.transport(error), at: now)
        }
        // Even without output: the host may have given up a controller that does not answer.
        noticeFailure(at: now)
    }

    /// Delivers the events to each user. Returns whether the status was set since this was last called.
    @discardableResult
    mutating func deliver() -> Bool {
        let hasNewStatus = noticeStatus()
        // Clear the information last: a thread that sees it missing finds that everything that needed the controller
        // has ended.
        defer { if hasNewStatus, shared.currentStatus() != .ready { turns?.publish(information: nil) } }
        let observers = observers
        shared.deliverEvents { rank, batch in
            // Observers are in the order in which their users attached.
            guard rank < observers.count, observers[rank].user == batch.user else {
                return assertionFailure("user \(batch.user.number) has no observer")
            }
            observers[rank].receive(batch)
        }
        return hasNewStatus
    }

    /// Publishes the status, and loads the bonds, if the status was set since the last turn.
    private mutating func noticeStatus() -> Bool {
        let changes = shared.currentStatusChanges()
        guard changes != noticedStatusChanges else { return false }
        noticedStatusChanges = changes
        noticeReadiness()
        return true
    }

    /// When a turn is due without input; nil if none is.
    var nextDeadline: Instant? { earliest(earliest(deadline, nextTry), bondWriting?.nextDeadline) }

    /// Returns what the thread waits for after a turn; nil if it is what this function returned last.
    @inline(__always)
    mutating func takeWish() -> RunnerThread.Wish? {
        if isOpen, let knownWish, knownWish.watchNumber == watchNumber {
            if isWishTold {
                assert(isKnownWishCurrent, "this turn has changed what the thread waits for unnoticed")
                return nil
            }
            isWishTold = true
            return knownWish
        }
        let wish = wish
        // The next deadline of a port can change without a turn, so it is not kept.
        if usesSystemClock { (knownWish, isWishTold) = (wish, true) }
        return wish
    }

    /// What the thread waits for after a turn.
    var wish: RunnerThread.Wish {
        let transport = transport
        let descriptor = transport?.fileDescriptor ?? recovery.arrivals?.fileDescriptor ?? -1
        return RunnerThread.Wish(
            fileDescriptor: descriptor < 0 ? nil : descriptor, watchNumber: watchNumber,
            wantsWrite: transport?.wantsWrite ?? false, deadline: clock.wakeUp(for: nextDeadline))
    }

    private var isKnownWishCurrent: Bool {
        var wish = wish
        // A transport that injects faults can also send while it receives. It then waits for room itself, and if it has
        // been told to wait although there is room, that does no harm.
        wish.wantsWrite = knownWish?.wantsWrite == true
        return knownWish == wish
    }

    private mutating func updateWish(hasSent: Bool) {
        guard var wish = knownWish, case .open(let transport) = state else { return }
        wish.deadline = nextDeadline
        if hasSent { wish.wantsWrite = transport.wantsWrite }
        knownWish = wish
        isWishTold = false
    }

    mutating func forgetObservers() { observers = [] }

    /// The transport with the decorations that the options request: injected faults, and a capture of the packets as
    /// the host sees them.
    mutating func decorated(_ transport: any HCITransport) throws(TransportError) -> any HCITransport {
        var transport = transport
        // A port has no descriptor to wait for, and the controller behind it may inject its own faults.
        if let faults = faults?.another(), transport.fileDescriptor >= 0 {
            transport = try FaultyTransport(transport, faults)
        }
        return capture.map { CapturedTransport(transport, to: $0) } ?? transport
    }
}
