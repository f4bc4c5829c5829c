/// Checks that values come as they were sent: in order, none twice, none missing unless that was said.
struct StreamOrder {
    /// The last number of each stream.
    private(set) var received: [UInt32: UInt32] = [:]
    /// Values may have been lost since the last ones.
    var hasLost = false

    /// What is wrong with a value; nil if nothing is.
    ///
    /// - Parameter mayMiss: whether the sender itself called off values of the stream.
    mutating func take(_ value: SimulatedValue, mayMiss: Bool) -> (rule: Violation.Rule, text: String)? {
        defer {
            received[value.stream] = value.number
            hasLost = false
        }
        guard let last = received[value.stream] else { return nil }
        let text = "value \(value.number) of stream \(value.stream) after value \(last)"
        if value.number <= last { return (.valueOrder, text) }
        if value.number != last + 1, !hasLost, !mayMiss { return (.valueMissing, text) }
        return nil
    }

    /// Forgets all streams but one: what follows does not belong to what came before.
    mutating func forget(except stream: UInt32? = nil) { received = received.filter { $0.key == stream } }
}
