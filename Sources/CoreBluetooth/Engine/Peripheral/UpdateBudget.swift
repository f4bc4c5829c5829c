/// How many updates of a manager's values wait to be sent, to whomever. None of its links has as many credits.
struct UpdateBudget {
    private var count = 0
    /// Whether an update was refused, whose sender waits to be told that there is room.
    private var isAwaited = false

    /// From how many on no more are taken.
    private static let capacity = 32

    /// Takes an update to so many centrals in. False where there is no room.
    mutating func add(_ centrals: Int) -> Bool {
        guard count < Self.capacity else {
            isAwaited = true
            return false
        }
        count += centrals
        return true
    }

    /// Some were sent, or given up. True where somebody is to be told that there is room.
    mutating func sent(_ sent: Int) -> Bool {
        count = max(0, count - sent)
        guard isAwaited, count <= Self.capacity / 2 else { return false }
        isAwaited = false
        return true
    }
}
