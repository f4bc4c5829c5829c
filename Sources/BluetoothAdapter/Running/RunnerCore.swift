import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import HCITransport

/// The work of an adapter's thread: it owns the host, the transport and the recovery of a lost controller.
/// `AdapterRunner` ensures that one thread at a time uses it.
///
/// It is a value, so a turn is one access to it. The properties of a class are checked at each use, some thirty times a
/// turn.
struct RunnerCore {
    enum State {
        /// No transport: it is being opened, or opened again.
        case closedTransport
        /// With a transport, on which the controller is being brought up or is up.
        case open(any HCITransport)
        /// The users know that the adapter is closed. Its links are being disconnected, and its bonds written. Indirect: a whole host would make the
        /// state of every turn large.
        indirect case closing(Closing)
        case over
    }

    let clock: AdapterClock
    let options: AdapterRunner.Options
    var shared: SharedHost
    var state = State.closedTransport
    var recovery: Recovery
    /// The packet capture, kept across losses of the transport.
    var capture: CaptureFile?
    /// What each transport's faults are drawn from; nil for none.
    private var faults: HCIFaults?
    /// Why the adapter is not ready.
    var failure: BluetoothError?
    /// Changes with each new descriptor to watch, which may have the number of the previous one.
    var watchNumber = 0
    /// Whether the adapter closes at the end of the turn.
    private var isToClose = false
    /// Why there is no place for bonds, until it has been reported.
    var missingBondStore: BondStoreError?
    /// The controller for which the store has been read.
    var bondsRestoredFor: DeviceAddress?
    /// The identity that the store has been found to keep for the controller.
    var storedIdentity: DeviceIdentity?
    /// How changes of bonds get to the store.
    var bondWriting: BondWriting?
    /// How many calls were carried out, and packets received but for advertising reports.
    var work: UInt64 = 0
    /// Those who wait until nothing is under way.
    var awaitingIdleness: [CheckedContinuation<Void, Never>] = []
    /// Weak, since it owns this.
    weak var turns: RunnerTurns? {
        didSet { bondWriting = turns.flatMap { makeBondWriting($0) } }
    }

    private var observers: [(user: UserID, observer: any AdapterObserver)] = []
    private var content = Mailbox.Content()
    /// When the host wants a turn, as of the end of the last one.
    var deadline: Instant?

    init(_ clock: AdapterClock, _ source: ControllerSource, _ options: AdapterRunner.Options) {
        self.clock = clock
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

    // MARK: - A turn

    /// Does all the work there is now: received packets, calls and deadlines. Then sends the controller its packets,
    /// and the users their events.
    mutating func turn(_ ready: EventLoop.Event?, _ mailbox: Mailbox) {
        if case .closing = state { return continueClosing(ready) }
        let now = clock.now
        // Before anything else changes bonds.
        if bondWriting != nil { takeBondResults(at: now) }
        reopen(at: now)
        // Calls come first: a value that was handed over before its subscriber left is sent, also by a thread that is late.
        carryOut(mailbox, at: now)
        receive(ready, at: now)
        if let deadline, deadline <= now { shared.fire(at: now) }
        shared.endTurn(at: now)
        if shared.hasBondChanges { storeBonds(at: now) }
        send(at: now)
        deliver()
        // An adapter that was given up in this turn is closing, and has a deadline for its bonds.
        if case .closing = state {} else { deadline = shared.nextDeadline }
        if isToClose {
            close(.adapterClosed, mailbox)
            continueClosing(nil)
        }
        if !awaitingIdleness.isEmpty { endWaitingForIdleness() }
    }

    private mutating func receive(_ ready: EventLoop.Event?, at now: Instant) {
        guard let transport else {
            if ready != nil { arrivalsAreReady(at: now) }
            return
        }
        do throws(TransportError) {
            if ready?.isWritable == true { try transport.flush() }
            // Without a descriptor nothing can show whether data waits.
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

    mutating func carryOut(_ mailbox: Mailbox, at now: Instant) {
        mailbox.take(into: &content)
        if !content.awaitingIdleness.isEmpty {
            awaitingIdleness += content.awaitingIdleness
            content.awaitingIdleness.removeAll()
        }
        guard !content.calls.isEmpty || content.isToClose else { return }
        work &+= UInt64(content.calls.count)
        observers += content.observers
        shared.perform(content.calls, at: now)
        if content.isToClose { isToClose = true }
        content.calls.removeAll(keepingCapacity: true)
        content.observers.removeAll(keepingCapacity: true)
        content.isToClose = false
        if observers.count != shared.userCount { observers.removeAll { !shared.isAttached($0.user) } }
    }

    /// Sends the controller its packets.
    private mutating func send(at now: Instant) {
        guard let transport else { return }
        do throws(TransportError) {
            try shared.withOutbox { outbox throws(TransportError) in try transport.send(&outbox) }
        } catch {
            // The controller does not read: the rest follows when it does.
            if case .outputFull = error.reason { return }
            controllerLost(.transport(error), at: now)
        }
        noticeFailure(at: now)
    }

    /// Delivers the events to each user.
    mutating func deliver() {
        // Whoever sees that there is no controller finds everything ended that needed one.
        defer { if shared.currentStatus() != .ready { turns?.publish(information: nil) } }
        guard shared.hasEvents else {
            // Nobody is told that the controller is ready, and the bonds of this device are to be known all the same.
            if observers.isEmpty { noticeReadiness() }
            return shared.clearEvents()
        }
        noticeReadiness()
        for (user, observer) in observers {
            guard let batch = shared.batch(for: user) else { continue }
            observer.receive(batch)
        }
        shared.clearEvents()
    }

    /// When a turn is due without input; nil if none is.
    var nextDeadline: Instant? { earliest(earliest(deadline, nextTry), bondWriting?.nextDeadline) }

    /// The descriptor to wait for.
    var watchedDescriptor: Int32? {
        let descriptor = transport?.fileDescriptor ?? recovery.arrivals?.fileDescriptor ?? -1
        return descriptor < 0 ? nil : descriptor
    }

    mutating func forgetObservers() { observers = [] }

    /// A transport as the options want it: with faults, and with its packets in the capture as the host has them.
    mutating func decorated(_ transport: any HCITransport) throws(TransportError) -> any HCITransport {
        var transport = transport
        // A port cannot be waited for; what is behind it may have faults of its own.
        if let faults = faults?.another(), transport.fileDescriptor >= 0 {
            transport = try FaultyTransport(transport, faults)
        }
        return capture.map { CapturedTransport(transport, to: $0) } ?? transport
    }
}
