import DequeModule

/// An application's calls, carried out in order, each when the one before has ended.
final class CallLine<Item>: @unchecked Sendable {
    // Unchecked: the items are guarded and belong to one session.

    /// The result of starting an item.
    enum Step {
        /// It ends later: `ended`.
        case waits
        /// It is over already.
        case goesOn
        /// It cannot begin yet: `resume`.
        case blocked
    }

    private struct State {
        var items = Deque<Item>()
        /// Whether an item is under way.
        var isBusy = false
        /// Whether a thread is starting items.
        var isRunning = false
        var resumptions = 0
    }

    private let state = Guarded(wrappedValue: State())

    /// Adds an item. `run` follows.
    func add(_ item: Item) { state.withLock { $0.items.append(item) } }

    /// The item that waited has ended. `run` follows.
    func ended() { state.withLock { $0.isBusy = false } }

    /// A blocked item may be able to start. `run` follows.
    func resume() { state.withLock { $0.resumptions &+= 1 } }

    /// Forgets the items that have not begun.
    func removeAll() -> [Item] {
        state.withLock { state in
            defer { state.items = [] }
            return Array(state.items)
        }
    }

    /// Starts the items that can start. If another thread is doing so, leaves it to that thread.
    func run(_ start: (Item) -> Step) {
        var isMine = false
        while let (item, resumptions) = next(&isMine) {
            switch start(item) {
            case .waits: continue
            case .goesOn: ended()
            case .blocked:
                let isOver = state.withLock { state in
                    state.isBusy = false
                    state.items.prepend(item)
                    if state.resumptions == resumptions { state.isRunning = false }
                    return state.resumptions == resumptions
                }
                if isOver { return }
            }
        }
    }

    private func next(_ isMine: inout Bool) -> (Item, Int)? {
        state.withLock { state in
            if state.isRunning, !isMine { return nil }
            guard !state.isBusy, let item = state.items.popFirst() else {
                state.isRunning = false
                return nil
            }
            (isMine, state.isRunning, state.isBusy) = (true, true, true)
            return (item, state.resumptions)
        }
    }
}
