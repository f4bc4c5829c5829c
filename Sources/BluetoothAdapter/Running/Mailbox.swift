import BluetoothHost
import BluetoothUsers
import Synchronization

/// The calls for an adapter's thread, in the order they were made.
final class Mailbox: Sendable {
    /// The content taken out at once.
    struct Content: Sendable {
        var calls: [HostCall] = []
        /// The observers of users that are about to attach.
        var observers: [(user: UserID, observer: any AdapterObserver)] = []
        /// Those who wait until nothing is under way, after these calls.
        var awaitingIdleness: [CheckedContinuation<Void, Never>] = []
        /// Whether the adapter closes after these calls.
        var isToClose = false
    }

    private struct State {
        var content = Content()
        /// Whether the reader is about to look into the mailbox and need not be woken.
        var isAttended = true
        var isClosed = false

        var isEmpty: Bool {
            content.calls.isEmpty && content.awaitingIdleness.isEmpty && (!content.isToClose || isClosed)
        }

        mutating func attend() -> Receipt {
            defer { isAttended = true }
            return .taken(needsWake: !isAttended)
        }
    }

    private let state = Mutex(State())

    /// Whether something was accepted, and whether the reader must be woken.
    enum Receipt {
        case refused
        case taken(needsWake: Bool)
    }

    /// Adds a call.
    func put(_ call: consuming HostCall) -> Receipt {
        state.withLock { [call] state in
            guard !state.isClosed else { return .refused }
            state.content.calls.append(call)
            return state.attend()
        }
    }

    /// Requests that a user be attached.
    func put(_ user: UserID, _ observer: any AdapterObserver) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.observers.append((user, observer))
            state.content.calls.append(HostCall(user: user, kind: .attach))
            return state.attend()
        }
    }

    /// Requests to be told when nothing is under way.
    func put(_ waiter: CheckedContinuation<Void, Never>) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.awaitingIdleness.append(waiter)
            return state.attend()
        }
    }

    /// Requests that the adapter close.
    func putClosing() -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.isToClose = true
            return state.attend()
        }
    }

    /// Takes out the content, at most as many calls as one turn carries out.
    ///
    /// - Parameter content: without calls; the memory of its arrays is used again.
    func take(into content: inout Content) {
        state.withLock { state in
            state.isAttended = true
            swap(&content, &state.content)
            guard content.calls.count > Self.callsPerTurn else { return }
            state.content.calls.append(contentsOf: content.calls[Self.callsPerTurn...])
            content.calls.removeSubrange(Self.callsPerTurn...)
            (state.content.isToClose, content.isToClose) = (content.isToClose, false)
            swap(&state.content.awaitingIdleness, &content.awaitingIdleness)
        }
    }

    /// Bounded, so that calls and packets do not starve each other.
    private static let callsPerTurn = 512

    /// The thread is about to wait. False if there is work: then it must not wait.
    func leave() -> Bool {
        state.withLock { state in
            guard state.isEmpty else { return false }
            state.isAttended = false
            return true
        }
    }

    /// Whether there is nothing to do.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Accepts nothing more. The remaining content can still be taken out.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
