/// A queue of a world. Its blocks run on the world's thread, one at a time and in order. The seed decides the order
/// between the blocks of different queues and the turns of hosts.
final class WorldQueue: @unchecked Sendable {
    // Unchecked: only used on the world's thread. A block enqueued from another thread is a violation.

    private weak let world: World?
    private var blocks: [@Sendable () -> Void] = []
    private var first = 0
    private(set) var isSuspended = false

    init(_ world: World) { self.world = world }

    func enqueue(_ block: @escaping @Sendable () -> Void) {
        guard let world, world.checkThread("a block was put on a queue from another thread: a manager was used there")
        else { return }
        blocks.append(block)
        if !isSuspended { world.noteReady(self) }
    }

    /// Removes and returns the next block, which the caller runs immediately; nil if there is none for now.
    func next() -> (@Sendable () -> Void)? {
        guard !isSuspended, first < blocks.count else { return nil }
        first += 1
        let block = blocks[first - 1]
        if first == blocks.count {
            blocks.removeAll(keepingCapacity: true)
            first = 0
        }
        return block
    }

    /// Stops running blocks until `resume`, like a queue whose application is busy.
    func suspend() { isSuspended = true }

    func resume() {
        isSuspended = false
        if first < blocks.count { world?.noteReady(self) }
    }
}
