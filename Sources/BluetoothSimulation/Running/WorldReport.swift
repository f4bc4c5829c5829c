import BluetoothBase

/// The results of one world.
public struct WorldReport: Equatable, Sendable {
    /// The violations, oldest first; empty if no rule was violated.
    public var violations: [Violation]
    /// The time that passed in the world.
    public var duration: Duration
    /// The number of HCI packets between hosts and controllers.
    public var packetCount: Int
    /// The number of calls by users.
    public var operationCount: Int
    /// The number of faults. Each affected packet counts.
    public var faultCount: Int
    /// The number of cards that arrived complete.
    public var cardCount: Int
    /// The digest of all these packets and their times, equal for equal runs.
    public var digest: PacketDigest

    /// Whether no rule was violated.
    public var isClean: Bool { violations.isEmpty }
}

extension ScenarioRun {
    var report: WorldReport {
        WorldReport(
            violations: world.violations, duration: Instant.zero.duration(to: world.now),
            packetCount: world.packetCount, operationCount: users.joined().reduce(endedCallCount) { $0 + $1.callCount },
            faultCount: faultCount + world.stations.reduce(0) { $0 + $1.wire.faultCount }, cardCount: cardCount,
            digest: world.digest)
    }
}
