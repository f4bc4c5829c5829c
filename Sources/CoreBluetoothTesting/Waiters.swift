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

    private struct State {
        var waiters: [Waiter] = []
        var last = 0
        /// The written values that no call has returned yet.
        var writes: [(uuid: BluetoothUUID, value: Data)] = []
    }

    private let state = Mutex(State())

    /// The number of written values that are kept.
    static let maximumWrites = 1000

    /// Waits for an event.
    ///
    /// - Parameter former: an event that has happened already; nil if the next one is wanted. It is called after the
    ///   call is registered, so that no event is missed.
    /// - Throws: `CancellationError`.
    func wait(
        _ matches: @escaping @Sendable (Event) -> Bool, unless former: @escaping @Sendable () -> Event?
    ) async throws -> Event {
        try await wait(matches) { state, waiter in
            state.waiters.append(waiter)
            return nil
        } unless: {
            former()
        }
    }

    /// Returns the first value written to a characteristic that no call has returned yet, or waits for one.
    ///
    /// - Throws: `CancellationError`.
    func nextWrite(to uuid: BluetoothUUID) async throws -> Data {
        let event = try await wait { event in
            if case .written(uuid, _) = event { true } else { false }
        } registering: { state, waiter in
            guard let index = state.writes.firstIndex(where: { $0.uuid == uuid }) else {
                state.waiters.append(waiter)
                return nil
            }
            return .written(uuid, state.writes.remove(at: index).value)
        } unless: {
            nil
        }
        guard case .written(_, let value) = event else { throw CancellationError() }
        return value
    }

    /// - Parameter register: registers the call, or returns the event that it waits for.
    private func wait(
        _ matches: @escaping @Sendable (Event) -> Bool,
        registering register: @escaping @Sendable (inout State, Waiter) -> Event?,
        unless former: @escaping @Sendable () -> Event?
    ) async throws -> Event {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let event = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, matches: matches, continuation: continuation)
                if let event = state.withLock({ register(&$0, waiter) }) {
                    return continuation.resume(returning: event)
                }
                if Task.isCancelled { resume(nil) { $0 == number } }
                if let event = former() { resume(event) { $0 == number } }
            }
        } onCancel: {
            resume(nil) { $0 == number }
        }
        guard let event else { throw CancellationError() }
        return event
    }

    /// Resumes the calls that wait for an event. A written value is for the first one only, or is kept.
    func happened(_ event: Event) {
        let found = state.withLock { state -> [Waiter] in
            guard case .written(let uuid, let value) = event else {
                defer { state.waiters.removeAll { $0.matches(event) } }
                return state.waiters.filter { $0.matches(event) }
            }
            if let index = state.waiters.firstIndex(where: { $0.matches(event) }) {
                return [state.waiters.remove(at: index)]
            }
            if state.writes.count == Self.maximumWrites { state.writes.removeFirst() }
            state.writes.append((uuid, value))
            return []
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
