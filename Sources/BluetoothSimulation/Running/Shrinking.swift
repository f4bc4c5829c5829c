import BluetoothBase

extension Scenario {
    /// Shrinks a scenario to the smallest one found that still fails by the same rule. Faults, actions, users and
    /// devices are removed as long as the scenario still fails.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of worlds to play.
    ///   - progress: called before each world with the number of worlds played and the current size.
    public func shrunk(limit: Int = 2_000, progress: @escaping (_ played: Int, _ size: Int) -> Void = { _, _ in })
        -> Scenario
    {
        guard let rule = ScenarioRun(self).play().violations.first?.rule else { return self }
        var shrinker = Shrinker(self, limit: limit, progress: progress) { scenario in
            ScenarioRun(scenario).play().violations.contains { $0.rule == rule }
        }
        shrinker.run()
        return shrinker.scenario
    }
}

struct Shrinker {
    private(set) var scenario: Scenario
    private let limit: Int
    private let progress: (Int, Int) -> Void
    private let fails: (Scenario) -> Bool
    private var played = 0

    /// Creates a shrinker.
    ///
    /// - Parameter fails: returns whether a scenario still fails.
    init(
        _ scenario: Scenario, limit: Int, progress: @escaping (Int, Int) -> Void = { _, _ in },
        fails: @escaping (Scenario) -> Bool
    ) {
        self.scenario = scenario
        self.limit = limit
        self.progress = progress
        self.fails = fails
    }

    mutating func run() {
        var size = Int.max
        // After one round, more of the rest may be unnecessary.
        while size > self.size, played < limit {
            size = self.size
            removeFaults()
            removeActions()
            removeUsers()
            removeDevices()
        }
    }

    private var size: Int { scenario.actions.count + scenario.faults.count + scenario.devices.count }

    /// Tries a smaller scenario, and keeps it if it still fails.
    private mutating func keep(_ smaller: Scenario) -> Bool {
        guard played < limit else { return false }
        played += 1
        progress(played, size)
        guard fails(smaller) else { return false }
        scenario = smaller
        return true
    }

    private mutating func removeFaults() {
        for index in scenario.faults.indices.reversed() {
            var smaller = scenario
            smaller.faults.remove(at: index)
            _ = keep(smaller)
        }
    }

    /// Removes runs of actions, each time shorter ones.
    private mutating func removeActions() {
        var length = max(1, scenario.actions.count / 2)
        while true {
            var start = 0
            while start < scenario.actions.count {
                var smaller = scenario
                smaller.actions.removeSubrange(start..<min(start + length, smaller.actions.count))
                if !keep(smaller) { start += length }
            }
            if length == 1 { return }
            length /= 2
        }
    }

    private mutating func removeUsers() {
        for device in scenario.devices.indices where scenario.devices[device].users.count > 1 {
            var smaller = scenario
            let user = smaller.devices[device].users.count - 1
            smaller.devices[device].users.removeLast()
            smaller.actions.removeAll { $0.device == device && $0.user == user }
            _ = keep(smaller)
        }
    }

    /// Removes devices from the end, because removing others would renumber the rest.
    private mutating func removeDevices() {
        while scenario.devices.count > 2 {
            var smaller = scenario
            smaller.devices.removeLast()
            smaller.actions.removeAll { $0.device == smaller.devices.count }
            smaller.faults.removeAll { $0.device == smaller.devices.count }
            guard keep(smaller) else { return }
        }
    }
}
