import BluetoothHost
import BluetoothUsers
import Synchronization

/// The queue of calls for an adapter's thread, in posting order.
final class Mailbox: Sendable {
    /// The content that a turn takes out.
    struct Content: Sendable {
        var calls: [HostCall] = []
        /// The observers of users that are attaching, in the order of their calls.
        var observers: [AttachedObserver] = []
        /// Tasks that wait, after these calls, until the adapter is idle.
        var awaitingIdleness: [CheckedContinuation<Void, Never>] = []
        /// Whether the adapter closes after these calls.
        var isToClose = false
    }

    private struct State {
        var content = Content()
        var isClosed = false
    }

    /// What the reader and the callers tell each other.
    private enum Flag: UInt8, AtomicRepresentable {
        /// The reader takes out all content, and will check again before it sleeps.
        case attended
        /// The reader has seen all content, and may sleep.
        case unattended
        /// There is content that the reader has not seen. Set only while the state is locked.
        case filled
    }

    private let state = Mutex(State())
    // Separate, so that a turn without calls does not lock the state.
    private let flag = Atomic(Flag.attended)

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
            state.content.calls.append(consume call)
            return announceContent()
        }
    }

    /// Adds a request to attach a user.
    func put(_ user: UserID, _ observer: any AdapterObserver) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.observers.append(AttachedObserver(user, observer))
            state.content.calls.append(HostCall(user: user, kind: .attach))
            return announceContent()
        }
    }

    /// Adds a request to resume a task when the adapter is idle.
    func put(_ waiter: CheckedContinuation<Void, Never>) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.awaitingIdleness.append(waiter)
            return announceContent()
        }
    }

    /// Adds a request to close the adapter.
    func putClosing() -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.content.isToClose = true
            return announceContent()
        }
    }

    /// Announces that there is content, while the state is locked.
    private func announceContent() -> Receipt {
        .taken(needsWake: flag.exchange(.filled, ordering: .acquiringAndReleasing) == .unattended)
    }

    /// Takes out the content, but at most the number of calls that one turn carries out.
    ///
    /// - Parameter content: empty content, whose arrays' storage is reused.
    @inline(__always)
    func take(into content: inout Content) {
        // Most turns handle a packet, and no call.
        guard flag.exchange(.attended, ordering: .acquiringAndReleasing) == .filled else { return }
        takeContent(into: &content)
    }

    @inline(never)
    private func takeContent(into content: inout Content) {
        state.withLock { state in
            // A call may have been added since the flag was read. It is taken as well.
            flag.store(.attended, ordering: .relaxed)
            swap(&content, &state.content)
            guard content.calls.count > Self.callsPerTurn else { return }
            state.content.calls.append(contentsOf: content.calls[Self.callsPerTurn...])
            content.calls.removeSubrange(Self.callsPerTurn...)
            let attaching = content.calls.count { if case .attach = $0.kind { true } else { false } }
            state.content.observers.append(contentsOf: content.observers[attaching...])
            content.observers.removeSubrange(attaching...)
            (state.content.isToClose, content.isToClose) = (content.isToClose, false)
            swap(&state.content.awaitingIdleness, &content.awaitingIdleness)
            _ = announceContent()
        }
    }

    /// Bounded, so that calls do not starve received packets.
    private static let callsPerTurn = 512

    /// Announces that the reader is about to sleep. Returns false if there is work, in which case it must not sleep.
    @inline(__always)
    func leave() -> Bool {
        flag.compareExchange(expected: .attended, desired: .unattended, ordering: .acquiringAndReleasing).original
            != .filled
    }

    /// Whether the reader has seen all content.
    var isEmpty: Bool { flag.load(ordering: .acquiring) != .filled }

    /// Stops accepting items. The remaining content can still be taken out.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
