import BluetoothAdapter
import BluetoothBase

/// The disk on which a device stores bonds: usually fast, sometimes slow, and sometimes full.
final class SimulatedDisk: @unchecked Sendable {
    // Unchecked: only used on the world's thread.

    private var generator: SeededGenerator
    private let now: () -> Instant
    /// The end of the most recent change.
    private var end: Instant?
    /// Whether any change has failed, or the current one will fail.
    private(set) var hasFailed: Bool

    /// Creates the disk of a station.
    ///
    /// - Parameter hasFailed: whether a change failed before the device restarted.
    init(seed: UInt64, hasFailed: Bool, now: @escaping () -> Instant) {
        generator = SeededGenerator(seed: seed)
        self.hasFailed = hasFailed
        self.now = now
    }

    /// Whether a change is in progress or ends at this instant. Until then the host is ahead of the store.
    var isBusy: Bool { end.map { $0 >= now() } ?? false }

    /// The duration and outcome of the next change, which starts now.
    func draw() -> SimulatedWrite {
        // Occasionally longer than a pairing waits.
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
