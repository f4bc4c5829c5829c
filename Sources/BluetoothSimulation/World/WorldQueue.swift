/// A queue of a world: its blocks run on the world's thread, one at a time and in their order. Between the blocks of
/// different queues, and between those and the turns of hosts, the seed decides.
final class WorldQueue: @unchecked Sendable {
    // Unchecked: used on the world's thread alone; a block that comes from another one is a violation.

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

    /// The next block, which runs at once; nil if there is none for now.
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

    /// Runs no block until `resume`, as a queue whose application is busy.
    func suspend() { isSuspended = true }

    func resume() {
        isSuspended = false
        if first < blocks.count { world?.noteReady(self) }
    }
}
