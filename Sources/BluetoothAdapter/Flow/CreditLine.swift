import BluetoothATT
import BluetoothHost
import Synchronization

/// A sender that waits for a send credit.
package protocol CreditWaiter: Sendable {
    /// The peer's attribute that the value is for; nil for other values.
    var target: AttributeHandle? { get }
    /// Grants the sender a credit. Returns false if it is no longer waiting, in which case the credit goes to the next
    /// sender.
    func grant() -> Bool
    /// Ends the wait with an error, because there will be no more credits.
    func fail(_ error: BluetoothError)
}

/// The credits of one link or channel, and the queue of senders that wait for one.
package final class CreditLine: Sendable {
    package enum Outcome {
        case granted
        /// The sender was queued. `CreditWaiter.grant` or `fail` follows.
        case waits
        /// The link or channel is closed, so there are no more credits.
        case closed
    }

    private let lease = SendLease()
    private let waiters = Mutex(Waiters())
    /// The number of waiting senders. Read without the lock, so that a sender can take a credit directly if none is
    /// waiting.
    private let waitingCount = Atomic<Int>(0)

    private struct Waiters {
        private var entries: [any CreditWaiter] = []
        private var head = 0

        var count: Int { entries.count - head }
        var isEmpty: Bool { count == 0 }

        mutating func append(_ waiter: any CreditWaiter) { entries.append(waiter) }

        mutating func removeFirst() -> any CreditWaiter {
            defer {
                head += 1
                // Compacting only when at least half of the array is unused keeps the cost per waiter constant.
                if head * 2 >= entries.count {
                    entries.removeFirst(head)
                    head = 0
                }
            }
            return entries[head]
        }

        mutating func remove(where isMeant: (any CreditWaiter) -> Bool) -> [any CreditWaiter] {
            let removed = entries[head...].filter(isMeant)
            entries = entries[head...].filter { !isMeant($0) }
            head = 0
            return removed
        }
    }

    package init(count: Int = 0) { _ = lease.add(count) }

    /// The number of available credits.
    package var count: Int { lease.count }

    /// Whether a credit can be taken.
    package var isAvailable: Bool { waitingCount.load(ordering: .relaxed) == 0 && lease.count > 0 }

    /// Whether the link or channel is closed.
    package var isClosed: Bool { lease.isClosed }

    /// Takes a credit, unless another sender is already waiting for one.
    @inline(__always)
    package func take() -> Bool { waitingCount.load(ordering: .relaxed) == 0 && lease.take() }

    /// Takes a credit, or queues the sender until one is available.
    package func wait(_ waiter: any CreditWaiter) -> Outcome {
        waiters.withLock { waiters in
            if lease.isClosed { return .closed }
            if waiters.isEmpty, lease.take() { return .granted }
            waiters.append(waiter)
            waitingCount.store(waiters.count, ordering: .relaxed)
            return .waits
        }
    }

    /// Adds credits and grants them to waiting senders.
    package func add(_ count: Int) {
        guard lease.add(count) else { return }
        while let waiter = next() {
            if !waiter.grant() { _ = lease.add(1) }
        }
    }

    private func next() -> (any CreditWaiter)? {
        waiters.withLock { waiters in
            guard !waiters.isEmpty, lease.take() else { return nil }
            defer { waitingCount.store(waiters.count, ordering: .relaxed) }
            return waiters.removeFirst()
        }
    }

    /// Removes and returns the senders whose values are for attributes in this range of handles.
    package func remove(in handles: ClosedRange<AttributeHandle>) -> [any CreditWaiter] {
        waiters.withLock { waiters in
            let removed = waiters.remove { waiter in waiter.target.map { handles.contains($0) } ?? false }
            waitingCount.store(waiters.count, ordering: .relaxed)
            return removed
        }
    }

    /// Closes the line, because the link or channel has ended.
    ///
    /// - Returns: the waiting senders, oldest first, and the number of unused credits.
    package func close() -> (waiters: [any CreditWaiter], count: Int) {
        waiters.withLock { waiters in
            // Read and cleared in one step, because another thread may take a credit at the same time.
            let count = lease.close().count
            waitingCount.store(0, ordering: .relaxed)
            return (waiters.remove { _ in true }, count)
        }
    }
}
