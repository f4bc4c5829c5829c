/// Keeps a manager's state on disk: each change soon, several at once where they come faster than the disk takes them.
@BluetoothEngine
final class StateKeeper<State: RestorableState> {
    let file: StateFile
    private let current: @BluetoothEngine () -> State?
    private var written: State?
    private var isDirty = false
    private var isWriting = false
    private var isClosed = false
    private var lastFailure: String?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter current: tells the state, for as long as the keeper is open.
    init(_ file: StateFile, _ current: @escaping @BluetoothEngine () -> State?) {
        self.file = file
        self.current = current
    }

    /// What the run before has left; nil where that is nothing.
    func restore() async -> State? {
        let state = await file.load(State.self)
        written = state
        return state.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The state is another one now, perhaps.
    func changed() {
        isDirty = true
        guard !isWriting, !isClosed else { return }
        isWriting = true
        Task {
            while isDirty, !isClosed { await write() }
            isWriting = false
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    /// Waits until everything that has changed so far is on disk.
    func settle() async {
        guard isWriting else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Writes what has not been written yet, and nothing after that.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        guard isDirty, let state = current() else { return }
        // Whoever reads the file next reads behind this.
        file.store(state) { failure in
            BluetoothEngine.run { [self] in report(failure) }
        }
    }

    private func write() async {
        isDirty = false
        guard let state = current(), state != written else { return }
        let failure = await withCheckedContinuation { continuation in
            file.store(state) { continuation.resume(returning: $0) }
        }
        written = failure == nil ? state : nil
        report(failure)
    }

    /// The same failure is told once, however often it happens.
    private func report(_ failure: String?) {
        if let failure, failure != lastFailure {
            reportFailure("nothing will be restored: \(file.url.path) cannot be written: \(failure)")
        }
        lastFailure = failure
    }
}

/// The state files in use: each by one manager.
@BluetoothEngine
enum StateClaims {
    private static var claimed: Set<String> = []

    /// False where the file is another manager's.
    static func claim(_ file: StateFile) -> Bool { claimed.insert(file.url.standardizedFileURL.path).inserted }

    static func release(_ file: StateFile) { claimed.remove(file.url.standardizedFileURL.path) }
}
