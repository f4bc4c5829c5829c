import HCITransport
import Synchronization

/// One try to open a transport, on a thread of its own: a connection, or the look-up of a host's name, may take many
/// seconds, in which the adapter has calls to answer.
final class TransportOpener: Sendable {
    typealias Outcome = Result<any HCITransport, TransportError>

    // Unchecked, since the compiler cannot see that the thread that opened the transport lets go of it before another
    // one takes it: what goes into `state` is used nowhere else, and comes out once.
    private struct Handover: @unchecked Sendable {
        let outcome: Outcome
    }

    private enum State: Sendable {
        case opening
        case done(Handover)
        /// Nobody wants the outcome any more.
        case over
    }

    private let state = Mutex(State.opening)
    private let cancellation: Waker

    /// - Parameter whenDone: called on the other thread, once there is something to `take`.
    init(
        _ name: TransportName, _ calls: TransportCalls, whenDone: @escaping @Sendable () -> Void
    ) throws(TransportError) {
        cancellation = try Waker()
        try startThread { [self] in
            do throws(TransportError) {
                finish(.success(try calls.open(name, cancellation)))
            } catch {
                finish(.failure(error))
            }
            whenDone()
        }
    }

    /// What came of it, once; nil while it is under way.
    func take() -> Outcome? {
        state.withLock { state -> Handover? in
            guard case .done(let handover) = state else { return nil }
            state = .over
            return handover
        }?.outcome
    }

    /// Calls it off. A transport that is opened all the same is closed again.
    func cancel() {
        cancellation.wake()
        let handover = state.withLock { state -> Handover? in
            defer { state = .over }
            if case .done(let handover) = state { return handover } else { return nil }
        }
        if case .success(let transport)? = handover?.outcome { transport.close() }
    }

    private func finish(_ outcome: sending Outcome) {
        let handover = Handover(outcome: outcome)
        let isWanted = state.withLock { state in
            guard case .opening = state else { return false }
            state = .done(handover)
            return true
        }
        if !isWanted, case .success(let transport) = handover.outcome { transport.close() }
    }
}
