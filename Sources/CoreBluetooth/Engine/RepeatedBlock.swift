import Dispatch

/// A block that is enqueued again and again. Between its runs, any number of requests count as one.
///
/// With Dispatch, it is the handler of a source. To enqueue a new block each time would cost about 1,000 instructions
/// more.
final class RepeatedBlock: @unchecked Sendable {
    // Unchecked: a source may be used on any thread, and `block` is guarded.

    /// Nil on a virtual queue.
    // Of the concrete type: copying an existential for each request would take another 200 instructions.
    private let source: DispatchSource?
    private let queue: CallbackQueue
    /// The block on a virtual queue; nil before `begin` and once it was cancelled.
    @Guarded private var block: (@Sendable () -> Void)?

    init(on queue: CallbackQueue) {
        self.queue = queue
        if case .dispatch(let queue) = queue {
            source = DispatchSource.makeUserDataAddSource(queue: queue) as? DispatchSource
        } else {
            source = nil
        }
    }

    /// Sets the block. Call this once, before `enqueue()`.
    func begin(_ block: @escaping @Sendable () -> Void) {
        guard let source else {
            if case .dispatch = queue { preconditionFailure("a source of Dispatch has an unknown type") }
            return self.block = block
        }
        source.setEventHandler(handler: block)
        source.activate()
    }

    /// Makes the block run, after everything that is on the queue now.
    func enqueue() {
        if let source { return source.add(data: 1) }
        if let block { queue.async(block) }
    }

    /// Releases the block. Requests that it has not run for may be dropped.
    func cancel() {
        source?.cancel()
        block = nil
    }
}
