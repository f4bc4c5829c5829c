import DequeModule

/// Does things one after the other, in the order in which they were asked for, each when the one before has ended.
@BluetoothEngine
final class WorkQueue {
    typealias Work = @BluetoothEngine () async -> Void

    private var waiting = Deque<Work>()
    private var isRunning = false

    nonisolated init() {}

    func add(_ work: @escaping Work) {
        waiting.append(work)
        guard !isRunning else { return }
        isRunning = true
        Task {
            while let work = waiting.popFirst() { await work() }
            isRunning = false
        }
    }

    /// Forgets what has not begun.
    func removeAll() { waiting = [] }
}
