import Foundation

/// Keeps a manager's state on disk. Each change is written soon; changes that come faster than the disk are combined.
final class StateKeeper<State: RestorableState>: @unchecked Sendable {
    // Unchecked: mutable state is guarded, or used on the file queue alone.

    let file: StateFile
    private let current: () -> State?
    private let progress = Guarded(wrappedValue: (isDirty: false, isClosed: false))
    private var written: State?
    private var lastFailure: String?

    /// - Parameter current: returns the state while the keeper is open.
    init(_ file: StateFile, _ current: @escaping () -> State?) {
        self.file = file
        self.current = current
    }

    /// The state of the last run; nil if there is none.
    func restore() -> State? {
        StateFile.queue.sync {
            written = file.read(State.self)
            return written.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// The state may have changed.
    func changed() {
        let isNews = progress.withLock { progress in
            defer { progress.isDirty = !progress.isClosed }
            return !progress.isDirty && !progress.isClosed
        }
        guard isNews else { return }
        StateFile.queue.async { [self] in
            let isWanted = progress.withLock { progress in
                defer { progress.isDirty = false }
                return progress.isDirty
            }
            if isWanted, let state = current() { write(state) }
        }
    }

    /// Waits until all changes so far are on disk.
    func settle() async {
        await withCheckedContinuation { continuation in
            StateFile.queue.async { continuation.resume() }
        }
    }

    /// Writes pending changes. Later changes are not written.
    func close() {
        let isDirty = progress.withLock { progress in
            defer { progress = (false, true) }
            return progress.isDirty
        }
        guard isDirty, let state = current() else { return }
        // The next read of the file is queued behind this.
        StateFile.queue.async { [self] in write(state) }
    }

    private func write(_ state: State) {
        guard state != written else { return }
        let failure = file.write(state)
        written = failure == nil ? state : nil
        // The same failure is logged once.
        if let failure, failure != lastFailure {
            reportFailure("no state will be restored: cannot write \(file.location): \(failure)")
        }
        lastFailure = failure
    }
}

/// The state files in use, each by one manager.
enum StateClaims {
    private static let claimed = Guarded<Set<String>>(wrappedValue: [])

    /// False if the file is another manager's.
    static func claim(_ file: StateFile) -> Bool {
        claimed.withLock { $0.insert(file.location).inserted }
    }

    static func release(_ file: StateFile) {
        _ = claimed.withLock { $0.remove(file.location) }
    }
}
