import DequeModule

/// Whose turn it is to indicate on a link: one indication is to be confirmed before the next is sent (Core 5.4, Vol 3,
/// Part F, 3.4.7.2), so those who want to send one stand in line. Each is known by a number.
struct IndicationTurns {
    private(set) var current: Int?
    private var isSent = false
    private var waiting = Deque<Int>()

    /// Takes the turn where nobody has it, or gets in line: then false.
    mutating func enter(_ number: Int) -> Bool {
        guard current != nil else {
            current = number
            return true
        }
        waiting.append(number)
        return false
    }

    /// The indication of whose turn it is has been sent.
    mutating func sent() { isSent = true }

    /// Some indication has been confirmed. Returns whose turn is next, where this was the one that was waited for; it may
    /// have been one that the host sent by itself.
    mutating func confirmed() -> Int? { isSent ? advance() : nil }

    /// One gives up. Returns whose turn is next, where it is over with that; what is sent is waited for all the same.
    mutating func leave(_ number: Int) -> Int? {
        if number == current { return isSent ? nil : advance() }
        waiting.removeAll { $0 == number }
        return nil
    }

    private mutating func advance() -> Int? {
        current = waiting.popFirst()
        isSent = false
        return current
    }
}
