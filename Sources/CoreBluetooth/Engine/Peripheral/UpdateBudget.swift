/// How many updates of a manager's values wait to be sent, over all links. No link has as many credits.
struct UpdateBudget {
    private var count = 0
    /// Whether an update was refused, and its sender waits for the ready callback.
    private var isAwaited = false

    /// The limit: no more are accepted.
    private static let capacity = 32

    /// Accepts an update to this many centrals. False if there is no room.
    mutating func add(_ centrals: Int) -> Bool {
        guard count < Self.capacity else {
            isAwaited = true
            return false
        }
        count += centrals
        return true
    }

    /// Some were sent or discarded. True if the ready callback is due.
    mutating func sent(_ sent: Int) -> Bool {
        count = max(0, count - sent)
        guard isAwaited, count <= Self.capacity / 2 else { return false }
        isAwaited = false
        return true
    }
}
