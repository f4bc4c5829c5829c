/// Says which failures are worth a line: each kind at once, then the second, fourth, eighth time and so on.
struct FailureLog {
    private var last = ""
    private var count: UInt64 = 0
    /// Why the broker has refused a connection that is about to end.
    var refusal: BrokerFailure?

    /// How often this has happened in a row now, if it is to be said.
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
