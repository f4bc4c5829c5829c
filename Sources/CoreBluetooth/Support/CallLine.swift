import DequeModule

/// Carries out an application's calls in order. Each call starts when the previous one has ended.
final class CallLine<Item>: @unchecked Sendable {
    // Unchecked: the items are guarded and belong to one session.

    /// The result of starting an item.
    enum Step {
        /// The item ends later, with `ended`.
        case waits
        /// The item has already ended.
        case goesOn
    }

    private struct State {
        var items = Deque<Item>()
        /// Whether an item is under way.
        var isBusy = false
        /// Whether a thread is starting items.
        var isRunning = false
    }

    private let state = Guarded(wrappedValue: State())

    /// Adds an item. Call `run` afterwards.
    func add(_ item: Item) { state.withLock { $0.items.append(item) } }

    /// The current item has ended. Call `run` afterwards.
    func ended() { state.withLock { $0.isBusy = false } }

    /// Removes and returns the items that have not started.
    func removeAll() -> [Item] {
        state.withLock { state in
            defer { state.items = [] }
            return Array(state.items)
        }
    }

    /// Starts the items that can start. If another thread is already doing so, that thread starts them.
    func run(_ start: (Item) -> Step) {
        var isMine = false
        while let item = next(&isMine) {
            switch start(item) {
            case .waits: continue
            case .goesOn: ended()
            }
        }
    }

    private func next(_ isMine: inout Bool) -> Item? {
        state.withLock { state in
            if state.isRunning, !isMine { return nil }
            guard !state.isBusy, let item = state.items.popFirst() else {
                state.isRunning = false
                return nil
            }
            (isMine, state.isRunning, state.isBusy) = (true, true, true)
            return item
        }
    }
}
