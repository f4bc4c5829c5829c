import BluetoothHost
import BluetoothUsers
import Synchronization

/// The queue of calls for an adapter's thread, in posting order.
final class Mailbox: Sendable {
    /// The content that a turn takes out.
    struct Content: Sendable {
        var calls: [HostCall] = []
        /// The observers of users that are attaching.
        var observers: [AttachedObserver] = []
        /// Tasks that wait, after these calls, until the adapter is idle.
        var awaitingIdleness: [CheckedContinuation<Void, Never>] = []
        /// Whether the adapter closes after these calls.
        var isToClose = false

        var hasCalls: Bool { !calls.isEmpty || !awaitingIdleness.isEmpty }
    }

    private struct State {
        var content = Content()
        /// Whether the reader will check the mailbox before it sleeps, so that it need not be woken.
        var isAttended = true
        var isClosed = false

        var isEmpty: Bool { !content.hasCalls && (!content.isToClose || isClosed) }

        mutating func attend() -> Receipt {
            defer { isAttended = true }
            return .taken(needsWake: !isAttended)
        }
    }

    private let state = Mutex(State())

    /// Whether the mailbox accepted an item, and whether the reader must be woken.
    enum Receipt {
        case refused
        case taken(needsWake: Bool)
    }

    /// Adds a call.
    func put(_ call: consuming HostCall) -> Receipt {
        // A closure cannot consume a captured value, and copying a call costs more than adding it.
        var moved = Optional(consume call)
        return state.withLock { state in
            guard !state.isClosed, let call = moved.take() else { return .refused }
            state.content.calls.append(call)
            return state.attend()
        }
    }

    /// Adds a request to attach a user.
    func put(_ user: UserID, _ observer: any AdapterObserver) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.observers.append(AttachedObserver(user, observer))
            state.content.calls.append(HostCall(user: user, kind: .attach))
            return state.attend()
        }
    }

    /// Adds a request to resume a task when the adapter is idle.
    func put(_ waiter: CheckedContinuation<Void, Never>) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.awaitingIdleness.append(waiter)
            return state.attend()
        }
    }

    /// Adds a request to close the adapter.
    func putClosing() -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.isToClose = true
            return state.attend()
        }
    }

    /// Takes out the content, but at most the number of calls that one turn carries out.
    ///
    /// - Parameter content: content without calls, whose arrays' storage is reused.
    func take(into content: inout Content) {
        state.withLock { state in
            state.isAttended = true
            // Most turns handle a packet, and no call.
            guard state.content.hasCalls || state.content.isToClose else { return }
            swap(&content, &state.content)
            guard content.calls.count > Self.callsPerTurn else { return }
            state.content.calls.append(contentsOf: content.calls[Self.callsPerTurn...])
            content.calls.removeSubrange(Self.callsPerTurn...)
            (state.content.isToClose, content.isToClose) = (content.isToClose, false)
            swap(&state.content.awaitingIdleness, &content.awaitingIdleness)
        }
    }

    /// Bounded, so that calls do not starve received packets.
    private static let callsPerTurn = 512

    /// Announces that the reader is about to sleep. Returns false if there is work, in which case it must not sleep.
    func leave() -> Bool {
        state.withLock { state in
            guard state.isEmpty else { return false }
            state.isAttended = false
            return true
        }
    }

    /// Whether there is no work.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Stops accepting items. The remaining content can still be taken out.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
