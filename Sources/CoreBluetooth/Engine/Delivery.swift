import DequeModule
import Dispatch
import Foundation

/// Brings what is to be told to the application's queue, in order.
///
/// Each callback runs by itself, as if it had been dispatched alone; but where many come at once the queue is asked once
/// for a number of them.
final class Delivery: @unchecked Sendable {
    // Unchecked: callbacks speak of the application's objects, which no type says may go from one queue to another. They
    // are put in under the lock, taken out under it, and run on `queue` alone.

    let queue: DispatchQueue
    private let lock = NSLock()
    private var callbacks = Deque<() -> Void>()
    private var isScheduled = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// From how many pending callbacks on those who can wait do so.
    private static let capacity = 1024
    /// How many callbacks the queue runs before it is given to others.
    private static let batch = 64

    /// - Parameter queue: the main queue where nil.
    init(_ queue: DispatchQueue?) {
        self.queue = queue ?? .main
    }

    /// Has the application told, after all that was posted before; never from inside this call.
    func post(_ callback: @escaping () -> Void) {
        lock.withLock {
            callbacks.append(callback)
            schedule()
        }
    }

    /// Waits while so much is pending that the application is to catch up first.
    func room() async {
        guard isFull else { return }
        await withCheckedContinuation { continuation in
            let isAtOnce = lock.withLock {
                guard callbacks.count >= Self.capacity else { return true }
                waiting.append(continuation)
                return false
            }
            if isAtOnce { continuation.resume() }
        }
    }

    private var isFull: Bool { lock.withLock { callbacks.count >= Self.capacity } }

    private func schedule() {
        guard !isScheduled, !callbacks.isEmpty else { return }
        isScheduled = true
        queue.async { self.deliver() }
    }

    private func deliver() {
        for _ in 0..<Self.batch {
            guard let callback = next() else { break }
            callback()
        }
        lock.withLock {
            isScheduled = false
            schedule()
        }
    }

    private func next() -> (() -> Void)? {
        let (callback, resumed) = lock.withLock { () -> ((() -> Void)?, [CheckedContinuation<Void, Never>]) in
            let callback = callbacks.popFirst()
            guard callbacks.count < Self.capacity / 2, !waiting.isEmpty else { return (callback, []) }
            defer { waiting = [] }
            return (callback, waiting)
        }
        for continuation in resumed { continuation.resume() }
        return callback
    }
}
