/// Checks that values arrive as they were sent: in order, without duplicates, and without gaps unless a loss was
/// reported.
struct StreamOrder {
    private struct Place {
        /// The last number.
        var number: UInt32
        /// The number of reported losses when it arrived.
        var losses: Int
    }

    private var places: [UInt32: Place] = [:]
    private var losses = 0

    /// Notes that values of any stream may have been lost since the last one received.
    mutating func noteLoss() { losses += 1 }

    /// Checks a value. Returns a violation, or nil if the value is in order.
    ///
    /// - Parameter mayMiss: whether values of the stream may be missing without a report, for example because the
    ///   sender cancelled them.
    mutating func take(_ value: SimulatedValue, mayMiss: Bool) -> (rule: Violation.Rule, text: String)? {
        defer { places[value.stream] = Place(number: value.number, losses: losses) }
        guard let last = places[value.stream] else { return nil }
        let text = "value \(value.number) of stream \(value.stream) after value \(last.number)"
        if value.number <= last.number { return (.valueOrder, text) }
        if value.number != last.number + 1, last.losses == losses, !mayMiss { return (.valueMissing, text) }
        return nil
    }

    /// The last number received in a stream; nil if there is none, or if later ones may have been lost.
    func last(of stream: UInt32) -> UInt32? {
        places[stream].flatMap { $0.losses == losses ? $0.number : nil }
    }

    /// Forgets all streams except one. Later values need not continue earlier ones.
    mutating func forget(except stream: UInt32? = nil) { places = places.filter { $0.key == stream } }
}
