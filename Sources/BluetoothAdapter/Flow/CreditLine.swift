import BluetoothATT
import BluetoothHost
import Synchronization

/// A sender that waits for a credit.
package protocol CreditWaiter: Sendable {
    /// The attribute of the peer that its value is for; nil for a value that is not for an attribute of the peer.
    var target: AttributeHandle? { get }
    /// The sender has a credit now. False if it no longer waits: then the credit goes to the next one.
    func grant() -> Bool
    /// There will be no credit.
    func fail(_ error: BluetoothError)
}

/// The credits of one link or channel, and the senders that wait for one, in order.
package final class CreditLine: Sendable {
    package enum Outcome {
        case granted
        /// `CreditWaiter.grant` or `fail` follows.
        case waits
        /// There are no more credits.
        case closed
    }

    private let lease = SendLease()
    private let waiters = Mutex(Waiters())
    /// How many wait. Read without the lock: a sender that finds none takes a credit at once.
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
                // Moving up a row that is half empty costs little for each waiter.
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

    /// How many credits there are.
    package var count: Int { lease.count }

    /// Whether a credit can be taken.
    package var isAvailable: Bool { waitingCount.load(ordering: .relaxed) == 0 && lease.count > 0 }

    /// Takes a credit, unless another sender already waits for one.
    @inline(__always)
    package func take() -> Bool { waitingCount.load(ordering: .relaxed) == 0 && lease.take() }

    /// Takes a credit, or queues the sender for one.
    package func wait(_ waiter: any CreditWaiter) -> Outcome {
        waiters.withLock { waiters in
            if lease.isClosed { return .closed }
            if waiters.isEmpty, lease.take() { return .granted }
            waiters.append(waiter)
            waitingCount.store(waiters.count, ordering: .relaxed)
            return .waits
        }
    }

    /// Adds credits, and grants them to the senders that wait.
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

    /// Removes and returns the senders whose values are for attributes in these handles.
    package func remove(in handles: ClosedRange<AttributeHandle>) -> [any CreditWaiter] {
        waiters.withLock { waiters in
            let removed = waiters.remove { waiter in waiter.target.map { handles.contains($0) } ?? false }
            waitingCount.store(waiters.count, ordering: .relaxed)
            return removed
        }
    }

    /// The link or channel is gone: there are no more credits.
    ///
    /// - Returns: the senders that waited, oldest first, and how many credits were left.
    package func close() -> (waiters: [any CreditWaiter], count: Int) {
        waiters.withLock { waiters in
            // In one step: a sender may take a credit meanwhile.
            let count = lease.close().count
            waitingCount.store(0, ordering: .relaxed)
            return (waiters.remove { _ in true }, count)
        }
    }
}
