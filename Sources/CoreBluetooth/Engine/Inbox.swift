import Dispatch
import Foundation

/// What the application is to be told, in order, and its way to the application's queue: one block there for whatever has
/// come until it runs, and no more than one at a time.
final class Inbox<Event>: @unchecked Sendable {
    // Unchecked, and so is exclusive access: `arrived` and `isScheduled` are used with the lock of the session held, the
    // rest on `queue` alone. Events speak of the application's objects, which are touched on `queue` alone.

    let queue: DispatchQueue
    private let lock: NSLock
    @exclusivity(unchecked) private var arrived: [Event] = []
    private var isScheduled = false
    /// Holds back what comes first; nil once that may come.
    private var firstCallback: FirstCallback?
    @exclusivity(unchecked) private var delivering: [Event] = []
    @exclusivity(unchecked) private var next = 0

    /// How many events one block delivers before the queue is given to others.
    private static var batch: Int { 64 }
    /// Memory for more events than this is given back.
    private static var keptCapacity: Int { 4096 }

    /// - Parameter queue: the main queue where nil.
    init(_ queue: DispatchQueue?, _ lock: NSLock) {
        self.queue = queue ?? .main
        self.lock = lock
        firstCallback = FirstCallback(on: self.queue)
    }

    /// How many events wait, for whoever holds the lock.
    var count: Int { arrived.count }

    /// Takes an event in, for whoever holds the lock. `schedule` follows.
    func append(_ event: Event) { arrived.append(event) }

    /// Has what was taken in delivered, for whoever holds the lock; never from inside this call.
    ///
    /// - Parameter deliver: calls `deliver(_:)`.
    func schedule(_ deliver: @escaping @Sendable () -> Void) {
        guard !isScheduled, !arrived.isEmpty else { return }
        isScheduled = true
        guard let firstCallback else { return queue.async(execute: deliver) }
        self.firstCallback = nil
        firstCallback.wait { [queue] in queue.async(execute: deliver) }
    }

    /// Delivers some of what has come, on the queue. True where there is more: then it is to be called again.
    func deliver(_ handle: (Event) -> Void) -> Bool {
        for _ in 0..<Self.batch {
            if next == delivering.count {
                delivering.removeAll(keepingCapacity: delivering.capacity <= Self.keptCapacity)
                next = 0
                lock.lock()
                swap(&arrived, &delivering)
                isScheduled = !delivering.isEmpty
                lock.unlock()
                if delivering.isEmpty { return false }
            }
            next += 1
            handle(delivering[next - 1])
        }
        return true
    }
}
