import BluetoothBase

extension Scenario {
    /// Adds pairing, bonds and restarts to every world of the kind `security`, and to one in three of the others. They
    /// are drawn from a separate generator, so the other worlds do not depend on them.
    mutating func addSecurity(_ kind: ScenarioKind) {
        var generator = SeededGenerator(seed: seed ^ 0x5EC0_12E5_5EC0_12E5)
        guard generator.oneIn(3) || kind == .security else { return }
        security = devices.map { _ in Security(drawnFrom: &generator) }
        addSecurityActions(kind, &generator)
        for _ in 0..<[0, 0, 1, kind == .security ? 2 : 0][generator.below(4)] {
            let start = Duration.milliseconds(1_500 + generator.below(27_000))
            faults.append(
                Fault(
                    instant: Instant.zero.advanced(by: start), device: generator.below(devices.count), kind: .restart,
                    duration: .milliseconds(100 + generator.below(1_200)), pick: generator.next()))
        }
        actions.sort { $0.instant < $1.instant }
        faults.sort { $0.instant < $1.instant }
    }

    /// Gives devices a slow disk that sometimes fails, in one of two worlds with security. Drawn from separate random
    /// numbers, so that the rest of a world stays the same.
    mutating func addSlowStorage() {
        var generator = SeededGenerator(seed: seed ^ 0x510B_D15C_510B_D15C)
        if security != nil, generator.oneIn(2) { slowStorage = true }
    }

    private mutating func addSecurityActions(_ kind: ScenarioKind, _ generator: inout SeededGenerator) {
        // Pairing needs an agent, so most devices have one from the beginning.
        for device in devices.indices where !generator.oneIn(4) {
            actions.append(Action(.beAgent, device, 0, at: .milliseconds(generator.below(400)), &generator))
        }
        let kinds = Action.Kind.allCases.filter { ScenarioKind.securityWeight(of: $0) > 0 }
        var ends: [Int] = []
        for one in kinds { ends.append((ends.last ?? 0) + ScenarioKind.securityWeight(of: one)) }
        let count = (kind == .security ? 40 : 16) + generator.below(16)
        let span = Int(Self.activeTime.nanoseconds / 1_000) - 1_000_000
        for _ in 0..<count {
            let number = generator.below(ends[ends.count - 1])
            guard let drawn = ends.firstIndex(where: { number < $0 }) else { continue }
            let device = generator.below(devices.count)
            let user = generator.oneIn(2) ? 0 : generator.below(devices[device].users.count)
            let time = Duration.microseconds(1_000_000 + generator.below(span))
            actions.append(Action(kinds[drawn], device, user, at: time, &generator))
        }
    }
}

extension Scenario.Security {
    fileprivate init(drawnFrom generator: inout SeededGenerator) {
        requiresSecureConnections = generator.oneIn(10)
        offersSecureConnections = requiresSecureConnections || !generator.oneIn(3)
        minimumKeySize = generator.oneIn(2) ? 16 : 7
        maximumKeySize = generator.oneIn(6) ? max(minimumKeySize, 7 + UInt8(generator.below(10))) : 16
    }
}
