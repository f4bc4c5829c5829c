import Testing

@testable import BluetoothHost

@Suite("Priorities of activities on the radio")
struct RadioArbiterTests {
    typealias Obstacles = RadioArbiter.Obstacles
    typealias Conflicts = RadioArbiter.Conflicts

    static let obstacles = (0..<64).map { Obstacles(rawValue: $0) }
    static let conflicts = (0..<4).map { Conflicts(rawValue: $0) }

    /// The same as the table, written down in another way: an activity, everything that may be in the way, and what the
    /// controller has turned out not to combine.
    private func expected(
        _ activity: RadioArbiter.Activity, _ obstacles: Obstacles, _ conflicts: Conflicts
    ) -> RadioArbiter.Verdict {
        if obstacles.contains(.reset) { return .suspended }
        if obstacles.contains(.privacy) { return .stop }
        let scansAlone = conflicts.contains(.scanAndAttempt)
        let advertisesAlone = conflicts.contains(.advertisingAndLinks)
        let isOccupied = !obstacles.isDisjoint(with: [.attempt, .link])
        switch activity {
        case .scanning: return scansAlone && obstacles.contains(.attempt) ? .stop : .proceed
        case .otherAdvertising: return advertisesAlone && isOccupied ? .wait : .proceed
        case .connectableAdvertising:
            return obstacles.contains(.fullLinkTable) || advertisesAlone && isOccupied ? .wait : .proceed
        case .connecting:
            if obstacles.contains(.fullLinkTable) { return .stop }
            return scansAlone && obstacles.contains(.scan) ? .wait : .proceed
        }
    }

    @Test("Every activity with every combination of obstacles and conflicts", arguments: RadioArbiter.Activity.allCases)
    func verdicts(_ activity: RadioArbiter.Activity) {
        for obstacles in Self.obstacles {
            for conflicts in Self.conflicts {
                let arbiter = RadioArbiter(conflicts: conflicts)
                let verdict = arbiter.verdict(for: activity, among: obstacles)
                #expect(verdict == expected(activity, obstacles, conflicts), "\(obstacles) \(conflicts)")
            }
        }
    }

    @Test("A refusal is remembered if an obstacle explains it", arguments: RadioArbiter.Activity.allCases)
    func refusals(_ activity: RadioArbiter.Activity) {
        for obstacles in Self.obstacles {
            for conflicts in Self.conflicts {
                var arbiter = RadioArbiter(conflicts: conflicts)
                let (isExplained, conflict): (Bool, Conflicts) =
                    switch activity {
                    case .scanning: (obstacles.contains(.attempt), .scanAndAttempt)
                    case .connecting: (obstacles.contains(.scan), .scanAndAttempt)
                    case .connectableAdvertising, .otherAdvertising:
                        (!obstacles.isDisjoint(with: [.attempt, .link]), .advertisingAndLinks)
                    }
                #expect(arbiter.explainsRefusal(of: activity, among: obstacles) == isExplained)
                #expect(arbiter.conflicts == (isExplained ? conflicts.union(conflict) : conflicts))
                // What was refused does not begin again before the obstacle has gone.
                if isExplained { #expect(arbiter.verdict(for: activity, among: obstacles) > .proceed) }
            }
        }
    }

    @Test("No two activities wait for each other", arguments: conflicts)
    func noDeadlock(_ conflicts: Conflicts) {
        let arbiter = RadioArbiter(conflicts: conflicts)
        // An attempt that has the radio to wait for a scan makes the scan stop, so that it can go on.
        let both: Obstacles = [.attempt, .scan]
        if arbiter.verdict(for: .connecting, among: both) == .wait {
            #expect(arbiter.verdict(for: .scanning, among: both) == .stop)
        }
        #expect(arbiter.verdict(for: .connecting, among: [.attempt]) == .proceed)
        #expect(arbiter.verdict(for: .scanning, among: []) == .proceed)
        #expect(arbiter.verdict(for: .connectableAdvertising, among: []) == .proceed)
    }

    @Test("Conflicts are forgotten when their cause is over", arguments: conflicts)
    func forgetting(_ conflicts: Conflicts) {
        var arbiter = RadioArbiter(conflicts: conflicts)
        arbiter.advertisingMayWork()
        #expect(arbiter.conflicts == conflicts.subtracting(.advertisingAndLinks))
        arbiter = RadioArbiter(conflicts: conflicts)
        arbiter.attemptsEnded()
        #expect(arbiter.conflicts == [])
        arbiter = RadioArbiter(conflicts: conflicts)
        arbiter.reset()
        #expect(arbiter.conflicts == [])
    }
}
