import BluetoothAdapter
import BluetoothBase

/// The disk of a device that keeps bonds: mostly quick, sometimes slow, and sometimes full.
final class SimulatedDisk: @unchecked Sendable {
    // Unchecked: used on the world's thread alone.

    private var generator: SeededGenerator
    private let now: () -> Instant
    /// When the change that was begun last is over.
    private var end: Instant?
    /// Whether a change has ever failed, or will with the one that is under way.
    private(set) var hasFailed: Bool

    /// - Parameter hasFailed: whether it did before its device started again.
    init(seed: UInt64, hasFailed: Bool, now: @escaping () -> Instant) {
        generator = SeededGenerator(seed: seed)
        self.hasFailed = hasFailed
        self.now = now
    }

    /// Whether a change is under way, or ends at this instant: until then the host is ahead of the store.
    var isBusy: Bool { end.map { $0 >= now() } ?? false }

    /// The time and the outcome of the next change, which begins now.
    func draw() -> SimulatedWrite {
        // Once in a while longer than a pairing waits.
        let longest = generator.oneIn(40) ? 60_000 : [1, 10, 100, 1_000, 4_000][generator.below(5)]
        let latency = Duration.milliseconds(generator.below(longest))
        let noSpaceLeft: Int32 = 28
        let isFull = generator.oneIn(12)
        end = now().advanced(by: latency)
        hasFailed = hasFailed || isFull
        return SimulatedWrite(
            latency: latency, failure: isFull ? .system("write", path: "bonds", errno: noSpaceLeft) : nil)
    }
}
