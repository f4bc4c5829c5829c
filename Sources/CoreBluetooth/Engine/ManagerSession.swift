import BluetoothAdapter
import BluetoothHost
import Foundation
import HCITransport

/// What stands between a manager and its adapter. It knows the manager weakly: with that everything ends.
///
/// What happens is taken in on the adapter's thread, and nothing but taken in: the objects of the application change, and
/// its delegate is called, in blocks on its queue.
class ManagerSession: AdapterUser, @unchecked Sendable {
    // Unchecked: everything that changes is behind `lock`, or used on the application's queue alone.

    let environment: ManagerEnvironment
    /// For what is taken in, and all that belongs to it. No call is made with it held.
    let lock: NSLock
    /// The one whose events count.
    private(set) var attachment: Attachment?
    private(set) var isStopped = false
    /// What the application has been told, or is about to be.
    private var state = CBManagerState.unknown

    private var lastFailure: String?

    init(_ environment: ManagerEnvironment, _ lock: NSLock) {
        self.environment = environment
        self.lock = lock
    }

    // MARK: - For each kind of manager

    /// Comes before everything else, on the adapter's queue.
    func begin() {}
    /// Takes an event in, with the lock held.
    func take(_ event: UserEvent, of batch: borrowing EventBatch, _ attachment: Attachment) {}
    /// Puts a change of the state behind what was taken in before, with the lock held.
    ///
    /// - Parameter attachment: where the adapter is on, what to use it through.
    func take(_ state: CBManagerState, _ attachment: Attachment?) {}
    /// Has what was taken in delivered, with the lock held.
    func schedule() {}
    /// A turn has been taken in, and calls may be made.
    func turnEnded() {}

    // MARK: - The adapter

    final func join(_ runner: AdapterRunner) {
        let attachment = Attachment(runner, of: self)
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
            schedule()
        }
    }

    /// Ends everything, since the manager is gone.
    func stop() {
        let attachment = lock.withLock {
            isStopped = true
            return self.attachment
        }
        environment.adapter.remove(self) { attachment?.detach() }
    }

    final func receive(_ batch: borrowing EventBatch, from attachment: Attachment) {
        lock.lock()
        guard attachment === self.attachment, !isStopped else { return lock.unlock() }
        var isCycleOver = false
        for event in batch.events {
            guard case .adapter(let status) = event else {
                take(event, of: batch, attachment)
                continue
            }
            isCycleOver = adapterChanged(to: status, attachment)
            // What follows is of a power cycle that is not to be known here.
            if isCycleOver { break }
        }
        let next = self.attachment
        schedule()
        lock.unlock()
        if isCycleOver {
            attachment.detach()
            next?.attach()
        }
        turnEnded()
    }

    /// Returns whether that was the end of a power cycle.
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
            report("no Bluetooth: \(failure)")
            change(to: CBManagerState(whereOpeningFailed: failure), nil)
            return false
        // Whoever has closed it says what state that is.
        case .resetting, .lost, .closed:
            if runner.isClosed {
                self.attachment = nil
                return true
            }
            let wasOn = state == .poweredOn
            change(to: .resetting, nil)
            if wasOn { self.attachment = Attachment(runner, of: self) }
            return wasOn
        }
    }

    /// Reports why there is no adapter: once, however often it is tried.
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

extension CBManagerState {
    /// What an adapter is that cannot be opened.
    init(whereOpeningFailed error: BluetoothError) {
        guard case .transport(let failure) = error else {
            if case .adapter(.lowEnergyNotSupported) = error { self = .unsupported } else { self = .resetting }
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
