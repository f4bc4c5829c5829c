import BluetoothLE
import Foundation
import Synchronization

/// The calls of a test that wait for an action of a central.
final class Waiters: Sendable {
    /// An action of a central.
    enum Event: Sendable {
        case subscribed(BluetoothUUID)
        case written(BluetoothUUID, Data)
        case showedPasskey(UInt32)
        case enteredPasskey(UInt32)
    }

    private struct Waiter {
        let number: Int
        let matches: @Sendable (Event) -> Bool
        let continuation: CheckedContinuation<Event?, Never>
    }

    private let state = Mutex((waiters: [Waiter](), last: 0))

    /// Waits for an event.
    ///
    /// - Parameter former: an event that has happened already; nil if the next one is wanted.
    /// - Throws: `CancellationError`.
    func wait(
        _ matches: @escaping @Sendable (Event) -> Bool, unless former: @escaping @Sendable () -> Event?
    ) async throws -> Event {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let event = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, matches: matches, continuation: continuation)
                state.withLock { $0.waiters.append(waiter) }
                // After it waits, so that no event is missed.
                if Task.isCancelled { resume(nil) { $0 == number } }
                if let event = former() { resume(event) { $0 == number } }
            }
        } onCancel: {
            resume(nil) { $0 == number }
        }
        guard let event else { throw CancellationError() }
        return event
    }

    /// Resumes the calls that wait for an event.
    func happened(_ event: Event) {
        let found = state.withLock { state in
            defer { state.waiters.removeAll { $0.matches(event) } }
            return state.waiters.filter { $0.matches(event) }
        }
        for waiter in found { waiter.continuation.resume(returning: event) }
    }

    private func resume(_ event: Event?, where isMeant: (Int) -> Bool) {
        let found = state.withLock { state in
            defer { state.waiters.removeAll { isMeant($0.number) } }
            return state.waiters.filter { isMeant($0.number) }
        }
        for waiter in found { waiter.continuation.resume(returning: event) }
    }
}
