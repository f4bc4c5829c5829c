import BluetoothLE

/// The strength of a device's signal in the last seconds.
struct SignalHistory {
    /// The number of seconds that are kept.
    static let count = 16

    /// The strongest signal in each second, at the number of the second modulo `count`; nil if there was no signal.
    private var strongest = InlineArray<16, Int8?>(repeating: nil)
    /// The number of the last second that has an element.
    private var second: UInt64 = 0
    /// The weighted average of the signal, in dBm; nil before the first one.
    private(set) var average: Double?

    mutating func record(_ rssi: Int8?, at now: Instant) {
        advance(to: now)
        guard let rssi else { return }
        let index = Int(second % UInt64(Self.count))
        strongest[index] = max(strongest[index] ?? rssi, rssi)
        average = average.map { 0.75 * $0 + 0.25 * Double(rssi) } ?? Double(rssi)
    }

    private mutating func advance(to now: Instant) {
        let current = now.nanoseconds / 1_000_000_000
        guard current > second else { return }
        for passed in (max(second &+ 1, current &- min(current, UInt64(Self.count - 1))))...current {
            strongest[Int(passed % UInt64(Self.count))] = nil
        }
        second = current
    }

    /// The seconds up to the given time, oldest first.
    func seconds(at now: Instant) -> [Int8?] {
        var copy = self
        copy.advance(to: now)
        return (0..<Self.count).map { copy.strongest[Int((copy.second &+ 1 &+ UInt64($0)) % UInt64(Self.count))] }
    }
}
