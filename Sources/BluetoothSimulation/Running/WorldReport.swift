import BluetoothBase

/// What became of one world.
public struct WorldReport: Equatable, Sendable {
    public var violations: [Violation]
    /// The time that passed in it.
    public var duration: Duration
    /// HCI packets between hosts and controllers.
    public var packetCount: Int
    /// Calls of users.
    public var operationCount: Int
    /// Faults that happened, each packet that suffered one counted.
    public var faultCount: Int
    /// Cards that arrived whole.
    public var cardCount: Int
    public var digest: PacketDigest

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
