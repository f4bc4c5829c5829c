/// Checks that values come as they were sent: in order, none twice, none missing unless that was said.
struct StreamOrder {
    private struct Place {
        /// The last number.
        var number: UInt32
        /// How many losses there had been when it came.
        var losses: Int
    }

    private var places: [UInt32: Place] = [:]
    private var losses = 0

    /// Values of any stream may have been lost since the last one of each.
    mutating func noteLoss() { losses += 1 }

    /// What is wrong with a value; nil if nothing is.
    ///
    /// - Parameter mayMiss: whether the sender itself called off values of the stream.
    mutating func take(_ value: SimulatedValue, mayMiss: Bool) -> (rule: Violation.Rule, text: String)? {
        defer { places[value.stream] = Place(number: value.number, losses: losses) }
        guard let last = places[value.stream] else { return nil }
        let text = "value \(value.number) of stream \(value.stream) after value \(last.number)"
        if value.number <= last.number { return (.valueOrder, text) }
        if value.number != last.number + 1, last.losses == losses, !mayMiss { return (.valueMissing, text) }
        return nil
    }

    /// The last number of a stream; nil if there is none, or if later ones may have been lost.
    func last(of stream: UInt32) -> UInt32? {
        places[stream].flatMap { $0.losses == losses ? $0.number : nil }
    }

    /// Forgets all streams but one: what follows does not belong to what came before.
    mutating func forget(except stream: UInt32? = nil) { places = places.filter { $0.key == stream } }
}
