/// The attenuation of transmissions: the path loss in decibels from every controller to every other.
///
/// A matrix rather than positions in space, so that a test can directly state what it needs: "these two are out of
/// range".
struct Propagation: Sendable {
    /// The default path loss: two devices about a metre apart.
    static let defaultLoss: Int16 = 50

    private var losses: [Int16] = []
    private var size = 0
    /// The pairs whose signal strength varies, in either direction, and by how much, in decibels.
    private var deviations: [[Int]: Int] = [:]

    mutating func grow(to count: Int) {
        guard count > size else { return }
        var grown = [Int16](repeating: Self.defaultLoss, count: count * count)
        for row in 0..<size {
            for column in 0..<size { grown[row * count + column] = losses[row * size + column] }
        }
        losses = grown
        size = count
    }

    /// By how many decibels a measured strength may differ from the one that follows from the path loss.
    subscript(deviationBetween first: Int, _ second: Int) -> Int {
        get { deviations.isEmpty ? 0 : deviations[[min(first, second), max(first, second)]] ?? 0 }
        set { deviations[[min(first, second), max(first, second)]] = newValue == 0 ? nil : newValue }
    }

    subscript(from sender: Int, to receiver: Int) -> Int16 {
        get { losses[sender * size + receiver] }
        set { losses[sender * size + receiver] = newValue }
    }
}
