import BluetoothHost
import Synchronization

/// The calls on their way to an adapter's thread, in the order in which they were made.
final class Mailbox: Sendable {
    /// What is taken out at once.
    struct Content: Sendable {
        var calls: [HostCall] = []
        /// Who is to be handed the events of users that are about to attach.
        var observers: [(user: UserID, observer: any AdapterObserver)] = []
        /// Whether the adapter is to close after these calls.
        var isToClose = false
    }

    private struct State {
        var content = Content()
        /// Whether somebody is about to look into the mailbox, so that nobody needs to be woken.
        var isAttended = true
        var isClosed = false

        mutating func attend() -> Receipt {
            defer { isAttended = true }
            return .taken(needsWake: !isAttended)
        }
    }

    private let state = Mutex(State())

    /// Whether something was taken, and whether somebody has to be woken for it.
    enum Receipt {
        case refused
        case taken(needsWake: Bool)
    }

    /// Puts a call in.
    func put(_ call: consuming HostCall) -> Receipt {
        state.withLock { [call] state in
            guard !state.isClosed else { return .refused }
            state.content.calls.append(call)
            return state.attend()
        }
    }

    /// Has a user attached.
    func put(_ user: UserID, _ observer: any AdapterObserver) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.observers.append((user, observer))
            state.content.calls.append(HostCall(user: user, kind: .attach))
            return state.attend()
        }
    }

    /// Has the adapter closed.
    func putClosing() -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.isToClose = true
            return state.attend()
        }
    }

    /// Takes out what is there, at most as many calls as one turn carries out.
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
        }
    }

    /// So that neither calls nor packets starve the other.
    private static let callsPerTurn = 512

    /// The thread is about to wait. False where there is something to be done: then it is not to.
    func leave() -> Bool {
        state.withLock { state in
            guard state.content.calls.isEmpty, !state.content.isToClose || state.isClosed else { return false }
            state.isAttended = false
            return true
        }
    }

    /// Takes nothing any more. What is there is still to be taken.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
