import HCITransport
import Synchronization

/// One attempt to open a transport, on a separate thread. Connecting or resolving a host name may take many seconds,
/// and the adapter must answer calls in the meantime.
final class TransportOpener: Sendable {
    typealias Outcome = Result<any HCITransport, TransportError>

    // Unchecked, because the compiler cannot verify that the opening thread no longer uses the transport when another
    // thread takes it. Only `state` holds the value, and it is taken once.
    private struct Handover: @unchecked Sendable {
        let outcome: Outcome
    }

    private enum State: Sendable {
        case opening
        case done(Handover)
        /// The outcome was taken, or the attempt was cancelled.
        case over
    }

    private let state = Mutex(State.opening)
    private let cancellation: Waker

    /// - Parameter whenDone: called on the opening thread when an outcome is available.
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

    /// Returns the outcome, once; nil while the attempt is in progress.
    func take() -> Outcome? {
        state.withLock { state -> Handover? in
            guard case .done(let handover) = state else { return nil }
            state = .over
            return handover
        }?.outcome
    }

    /// Cancels the attempt. If the transport still opens, it is closed again.
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
