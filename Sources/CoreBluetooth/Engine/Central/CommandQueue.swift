/// How many writes without response wait to be sent, and whether the application is to wait with more.
struct CommandQueue {
    private var count = 0
    /// From when the queue has filled up until half of it has been sent.
    private(set) var isFull = false

    /// From how many on the application is to wait.
    private static let capacity = 32
    /// How many are taken all the same: not everybody asks.
    private static let limit = 256

    /// Takes one more in. False where it is to be dropped.
    mutating func add() -> Bool {
        guard count < Self.limit else { return false }
        count += 1
        if count >= Self.capacity { isFull = true }
        return true
    }

    /// One was sent, or given up. True where the application may go on now, having been told to wait.
    mutating func sent() -> Bool {
        count = max(0, count - 1)
        guard isFull, count <= Self.capacity / 2 else { return false }
        isFull = false
        return true
    }
}
