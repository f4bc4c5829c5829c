import HCITransport
import Synchronization

/// One attempt to open a transport, on its own thread: connecting, or resolving a host name, may take many seconds, and
/// the adapter must answer calls meanwhile.
final class TransportOpener: Sendable {
    typealias Outcome = Result<any HCITransport, TransportError>

    // Unchecked, since the compiler cannot see that the opening thread releases the transport before another takes it:
    // the value in `state` is used nowhere else, and is taken once.
    private struct Handover: @unchecked Sendable {
        let outcome: Outcome
    }

    private enum State: Sendable {
        case opening
        case done(Handover)
        /// The attempt was cancelled.
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

    /// The outcome, once; nil while the attempt is under way.
    func take() -> Outcome? {
        state.withLock { state -> Handover? in
            guard case .done(let handover) = state else { return nil }
            state = .over
            return handover
        }?.outcome
    }

    /// Cancels the attempt. A transport that still opens is closed again.
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
