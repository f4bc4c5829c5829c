/// How many writes without response are on their way on one link, and whether the application is to wait with more.
struct WriteCommandBudget {
    /// Those that wait here, and those that the host has and has not sent.
    private var count = 0
    private var credits = 0
    /// From when so many wait that the application is to, until half of them have been sent.
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

    /// Takes what it costs to hand one to the host. False where that has to wait.
    mutating func takeCredit() -> Bool {
        guard credits > 0 else { return false }
        credits -= 1
        return true
    }

    /// Some were sent. True where the application, which was to wait, may go on now.
    mutating func credit(_ sent: Int) -> Bool {
        credits += sent
        count = max(0, count - sent)
        guard isFull, count <= Self.capacity / 2 else { return false }
        isFull = false
        return true
    }

    /// Some were given up before the host had them.
    mutating func drop(_ dropped: Int) {
        count = max(0, count - dropped)
        isFull = count >= Self.capacity
    }
}
