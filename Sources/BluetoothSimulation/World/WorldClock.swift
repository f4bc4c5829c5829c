import BluetoothBase
import Synchronization

/// The clock of a world: `try await world.clock.sleep(for: .seconds(1))` takes no real time.
public struct WorldClock: Clock {
    /// A virtual time, which starts at zero in each world.
    public typealias Instant = BluetoothBase.Instant

    let world: World

    /// The current virtual time of the world.
    public var now: Instant { world.now }
    /// One nanosecond, the unit of `BluetoothBase.Instant`.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until an instant of the world.
    ///
    /// - Throws: `CancellationError` once the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let sleeper = Sleeper()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard sleeper.begin(continuation) else { return continuation.resume() }
                world.schedule(at: deadline) { sleeper.end() }
            }
        } onCancel: {
            sleeper.end()
        }
        try Task.checkCancellation()
    }

    /// A sleeping task. It is woken once, by time or by cancellation.
    private final class Sleeper: Sendable {
        private let state = Mutex((continuation: CheckedContinuation<Void, Never>?.none, isOver: false))

        /// Returns false if the task was already cancelled.
        func begin(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
            state.withLock { state in
                if !state.isOver { state.continuation = continuation }
                return !state.isOver
            }
        }

        func end() {
            let continuation = state.withLock { state in
                defer { state = (nil, true) }
                return state.continuation
            }
            continuation?.resume()
        }
    }
}

extension World {
    /// The clock of this world.
    public var clock: WorldClock { WorldClock(world: self) }
}
