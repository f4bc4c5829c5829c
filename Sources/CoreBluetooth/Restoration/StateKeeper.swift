import Foundation

/// Keeps a manager's state on disk: each change soon, several at once where they come faster than the disk takes them.
final class StateKeeper<State: RestorableState>: @unchecked Sendable {
    // Unchecked: what changes is guarded, or used on the queue of the files alone.

    let file: StateFile
    private let current: () -> State?
    private let progress = Guarded(wrappedValue: (isDirty: false, isClosed: false))
    private var written: State?
    private var lastFailure: String?

    /// - Parameter current: tells the state, for as long as the keeper is open.
    init(_ file: StateFile, _ current: @escaping () -> State?) {
        self.file = file
        self.current = current
    }

    /// What the run before has left; nil where that is nothing.
    func restore() -> State? {
        StateFile.queue.sync {
            written = file.read(State.self)
            return written.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// The state is another one now, perhaps.
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

    /// Waits until everything that has changed so far is on disk.
    func settle() async {
        await withCheckedContinuation { continuation in
            StateFile.queue.async { continuation.resume() }
        }
    }

    /// Writes what has not been written yet, and nothing after that.
    func close() {
        let isDirty = progress.withLock { progress in
            defer { progress = (false, true) }
            return progress.isDirty
        }
        guard isDirty, let state = current() else { return }
        // Whoever reads the file next reads behind this.
        StateFile.queue.async { [self] in write(state) }
    }

    private func write(_ state: State) {
        guard state != written else { return }
        let failure = file.write(state)
        written = failure == nil ? state : nil
        // The same failure is told once, however often it happens.
        if let failure, failure != lastFailure {
            reportFailure("nothing will be restored: \(file.url.path) cannot be written: \(failure)")
        }
        lastFailure = failure
    }
}

/// The state files in use: each by one manager.
enum StateClaims {
    private static let claimed = Guarded<Set<String>>(wrappedValue: [])

    /// False where the file is another manager's.
    static func claim(_ file: StateFile) -> Bool {
        claimed.withLock { $0.insert(file.url.standardizedFileURL.path).inserted }
    }

    static func release(_ file: StateFile) {
        _ = claimed.withLock { $0.remove(file.url.standardizedFileURL.path) }
    }
}
