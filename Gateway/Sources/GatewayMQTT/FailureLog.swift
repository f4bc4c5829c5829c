/// Decides which failures to log: the first of each kind, then the second, fourth, eighth in a row, and so on.
struct FailureLog {
    private var last = ""
    private var count: UInt64 = 0
    /// The reason why the broker refused a connection that is about to end.
    var refusal: BrokerFailure?

    /// Counts a failure. Returns the number of times in a row that it has happened, if it should be logged.
    mutating func record(_ text: String) -> UInt64? {
        count = text == last ? count + 1 : 1
        last = text
        return count & (count - 1) == 0 ? count : nil
    }

    mutating func takeRefusal() -> BrokerFailure? {
        defer { refusal = nil }
        return refusal
    }

    mutating func reset() { self = FailureLog() }
}
