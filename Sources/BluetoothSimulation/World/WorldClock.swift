import BluetoothBase
import Synchronization

/// The time of a world, to sleep by: `try await world.clock.sleep(for: .seconds(1))` takes no time outside of it.
public struct WorldClock: Clock {
    public typealias Instant = BluetoothBase.Instant

    let world: World

    public var now: Instant { world.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until an instant of the world.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
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

    /// A task that sleeps: it is woken once, by time or by being cancelled.
    private final class Sleeper: Sendable {
        private let state = Mutex((continuation: CheckedContinuation<Void, Never>?.none, isOver: false))

        /// False if it was cancelled before.
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
