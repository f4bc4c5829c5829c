import BluetoothAdapter
import BluetoothHost
import BluetoothUsers
import Foundation
import HCITransport
import Synchronization

/// Connects a manager to its adapter. It holds the manager weakly, and stops when the manager is gone. Until then, it
/// keeps itself alive.
///
/// The adapter's thread only records events. Blocks on the application's queue update its objects and call its
/// delegate.
///
/// - Parameters:
///   - Event: the events of this kind of manager.
///   - State: the state that it keeps from run to run.
class ManagerSession<Event, State: RestorableState>: AdapterUser, BatchRecipient, @unchecked Sendable {
    // Unchecked: mutable state is behind `lock`, or used on the application's queue alone.

    let environment: ManagerEnvironment
    /// Guards the state that belongs to the recorded events. No call is made with it held.
    let lock = SharedLock()
    let inbox: Inbox<Event>
    let restoreIdentifier: String?
    /// Keeps the state across runs, if requested.
    @Guarded var keeper: StateKeeper<State>?
    /// Whether the state of the last run waits for the adapter to be on.
    @Guarded var isRestoring = false
    /// The attachment whose events count.
    private(set) var attachment: Attachment?
    /// This session, for its attachments.
    private let recipient = SessionReference<any BatchRecipient>()
    private let stopped = Atomic(false)
    /// Whether the application has released the manager.
    var isStopped: Bool { stopped.load(ordering: .acquiring) }
    /// The state that was or is about to be reported to the application.
    private var state = CBManagerState.unknown

    private var lastFailure: String?

    /// - Parameters:
    ///   - queue: the application's; the main queue if nil.
    ///   - restoreIdentifier: the application's name for the state that is kept from run to run; nil if none is kept.
    init(_ environment: ManagerEnvironment, _ queue: DispatchQueue?, restoreIdentifier: String?) {
        self.environment = environment
        self.restoreIdentifier = restoreIdentifier
        inbox = Inbox(environment.queue(queue))
        recipient.begin(self)
        // The block retains this session until `stop()`.
        inbox.begin { [self] in inbox.enqueue(deliverEvents()) }
    }

    // MARK: - For each kind of manager

    var publishesProtectedValues: Bool { false }
    var home: ManagerEnvironment? { environment }
    /// Restores the state of the last run. Called before everything else, on the adapter's queue.
    func begin() {}
    /// Delivers recorded events to the application, on its queue, unless the application has released the manager.
    /// Returns how to deliver the rest.
    // A hook, because this class is generic: it would look up the type of the events each time.
    func deliverEvents() -> InboxScheduling { .none }
    /// Records the event at a position in a batch, with the lock held.
    // The position, because passing the event would copy it.
    func take(eventAt position: Int, of batch: borrowing EventBatch, _ attachment: Attachment) {}
    /// Records a state change after the earlier events, with the lock held.
    ///
    /// - Parameter attachment: if the adapter is on, the attachment to use it through.
    func take(_ state: CBManagerState, _ attachment: Attachment?) {}
    /// A batch has been recorded. The lock is not held, so calls may be made.
    func turnEnded() {}

    // MARK: - The application

    /// Posts an event for the application, after all earlier ones.
    final func post(_ event: Event) {
        inbox.append(event)
        inbox.enqueue(inbox.schedule())
    }

    final func whenDelivered(_ body: @escaping @Sendable () -> Void) { inbox.whenDelivered(body) }

    /// Delays callbacks that may answer this thread's call without waiting for a peer, until the thread continues: see
    /// `Holdback`.
    final func waitForCaller() { inbox.waitForCaller() }

    // MARK: - The adapter

    final func join(_ runner: AdapterRunner) {
        let attachment = Attachment(runner, of: recipient)
        let isWanted = lock.withLock {
            if !isStopped { self.attachment = attachment }
            return !isStopped
        }
        if isWanted { attachment.attach() }
    }

    final func adapterIsAway(_ state: CBManagerState) {
        lock.withLock {
            attachment = nil
            change(to: state, nil)
        }
        inbox.enqueue(inbox.schedule())
    }

    /// Ends everything, since the manager is gone.
    func stop() {
        let attachment = lock.withLock {
            stopped.store(true, ordering: .releasing)
            return self.attachment
        }
        environment.adapter.remove(self) {
            attachment?.detach()
            // Pending calls refer to links, which refer to the attachment.
            _ = attachment?.end()
        }
        inbox.end()
        recipient.end()
        stopRemembering()
    }

    final func receive(_ batch: borrowing EventBatch, from attachment: Attachment) {
        let recording = lock.withLock { record(batch, from: attachment) }
        inbox.enqueue(inbox.schedule())
        switch recording {
        case .ignored: return
        case .recorded: break
        case .cycleOver(let next):
            attachment.detach()
            next?.attach()
        }
        turnEnded()
    }

    /// Records a batch of events, with the lock held.
    private func record(_ batch: borrowing EventBatch, from attachment: Attachment) -> BatchRecording {
        guard attachment === self.attachment, !isStopped else { return .ignored }
        for index in batch.events.indices {
            guard case .adapter(let status) = batch.events[index] else {
                take(eventAt: index, of: batch, attachment)
                continue
            }
            // Later events belong to a power cycle that this session must not see.
            if adapterChanged(to: status, attachment) { return .cycleOver(next: self.attachment) }
        }
        return .recorded
    }

    // MARK: - From run to run

    /// The state of the last run, if the application wants to restore it; nil if there is none. From then on, the state
    /// is saved.
    ///
    /// - Parameters:
    ///   - kind: the kind of manager, for the name of the file.
    ///   - current: returns the state while the manager exists.
    final func stateOfLastRun(_ kind: String, _ current: @escaping () -> State?) -> State? {
        guard let restoreIdentifier, let place = environment.statePlace else { return nil }
        let file = StateFile(kind, restoreIdentifier, in: place)
        guard StateClaims.claim(file) else {
            reportMisuse("a \(kind) manager with the restore identifier \(restoreIdentifier) already exists")
            return nil
        }
        let keeper = StateKeeper(file, current)
        self.keeper = keeper
        if isStopped { stopRemembering() }
        return isStopped ? nil : keeper.restore()
    }

    private func stopRemembering() {
        guard let keeper else { return }
        self.keeper = nil
        keeper.close()
        StateClaims.release(keeper.file)
    }

    /// Records a change of the adapter's status. Returns whether it ended a power cycle.
    private func adapterChanged(to status: AdapterStatus, _ attachment: Attachment) -> Bool {
        let runner = attachment.runner
        switch status {
        case .opening: return false
        case .ready:
            lastFailure = nil
            change(to: .poweredOn, attachment)
            return false
        case .unavailable:
            guard let failure = runner.failure else { return false }
            report("Bluetooth is not available: \(failure)")
            change(to: CBManagerState(whereOpeningFailed: failure), nil)
            return false
        // If the adapter was closed, the caller that closed it sets the state.
        case .resetting, .lost, .closed:
            if runner.isClosed {
                self.attachment = nil
                return true
            }
            let wasOn = state == .poweredOn
            change(to: .resetting, nil)
            if wasOn { self.attachment = Attachment(runner, of: recipient) }
            return wasOn
        }
    }

    /// Logs why there is no adapter, once for all attempts.
    private func report(_ line: String) {
        if line != lastFailure { reportFailure(line) }
        lastFailure = line
    }

    private func change(to state: CBManagerState, _ attachment: Attachment?) {
        guard state != self.state else { return }
        self.state = state
        take(state, attachment)
    }
}

/// What recording a batch of events has led to.
// Not a part of the generic class, because its type would be looked up for each batch.
private enum BatchRecording {
    /// The batch is of an attachment whose events no longer count.
    case ignored
    case recorded
    /// It ended a power cycle. The next attachment must be attached.
    case cycleOver(next: Attachment?)
}

extension CBManagerState {
    /// The state for an adapter that cannot be opened.
    init(whereOpeningFailed error: BluetoothError) {
        guard case .transport(let failure) = error.kind else {
            if case .adapter(.lowEnergyNotSupported) = error.kind { self = .unsupported } else { self = .resetting }
            return
        }
        switch failure.reason {
        case .notPermitted: self = .unauthorized
        case .adapterBlocked: self = .poweredOff
        case .adapterHeld, .adapterBroughtUp, .adapterInitializing, .adapterRemoved, .closedByPeer: self = .resetting
        default: self = .unsupported
        }
    }
}
