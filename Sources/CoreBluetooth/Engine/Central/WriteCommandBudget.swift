/// How many writes without response are in flight on one link, and whether the application must wait.
struct WriteCommandBudget {
    /// Those waiting here, and those that the host has but has not sent.
    private var count = 0
    private var credits = 0
    /// Set when the limit is reached, until half of the writes have been sent.
    private(set) var isFull = false

    /// With this many in flight, the application must wait.
    private static let capacity = 32
    /// How many are accepted anyway: not every application checks.
    private static let limit = 256

    /// Accepts one more. False if it must be dropped.
    mutating func add() -> Bool {
        guard count < Self.limit else { return false }
        count += 1
        if count >= Self.capacity { isFull = true }
        return true
    }

    /// Takes the credit to hand one to the host. False if it must wait.
    mutating func takeCredit() -> Bool {
        guard credits > 0 else { return false }
        credits -= 1
        return true
    }

    /// Some were sent. True if the application had to wait and may now continue.
    mutating func credit(_ sent: Int) -> Bool {
        credits += sent
        count = max(0, count - sent)
        guard isFull, count <= Self.capacity / 2 else { return false }
        isFull = false
        return true
    }

    /// Some were discarded before the host had them.
    mutating func drop(_ dropped: Int) {
        count = max(0, count - dropped)
        isFull = count >= Self.capacity
    }
}
