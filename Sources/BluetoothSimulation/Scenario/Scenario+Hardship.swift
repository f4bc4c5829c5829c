import BluetoothBase

extension Scenario {
    /// Whether the world has more faults and actions than others.
    var hasHardship: Bool { hardship == true }

    /// Adds hardship to one world in three, to find rare bugs: faults that strike when something happens, devices that
    /// answer nothing or too much, controllers that do not scan while they connect, and unusual calls. Drawn from a
    /// separate generator, so that the other worlds do not depend on it.
    mutating func addHardship(_ kind: ScenarioKind) {
        var generator = SeededGenerator(seed: seed ^ 0x4A2D_5419_4A2D_5419)
        guard generator.oneIn(3) else { return }
        hardship = true
        if devices.count == 2, security == nil, generator.oneIn(12) { return addBurst(&generator) }
        for device in devices.indices where generator.oneIn(4) { devices[device].isSingleMinded = true }
        for _ in 0..<[0, 1, 1, 2][generator.below(4)] { faults.append(hardFault(&generator)) }
        addHardActions(&generator)
        actions.sort { $0.instant < $1.instant }
        faults.sort { $0.instant < $1.instant }
    }

    /// Makes it a world without faults in which one device sends more than the other consumes.
    private mutating func addBurst(_ generator: inout SeededGenerator) {
        faults = []
        let consumer = generator.below(2)
        for device in devices.indices {
            devices[device].bufferLength = 251
            devices[device].bufferCount = 8
            devices[device].hasHostFlowControl = true
            devices[device].preferredMTU = 247
        }
        let user = devices[consumer].users.firstIndex { $0.face == .tasks } ?? devices[consumer].users.count
        if user == devices[consumer].users.count { devices[consumer].users.append(User(face: .tasks)) }
        let steps: [(Action.Kind, Int, Int, Int)] = [
            (.advertise, 1 - consumer, 0, 3_000), (.connect, consumer, user, 3_500), (.connect, consumer, user, 5_000),
            (.discover, consumer, user, 6_500), (.discover, consumer, user, 7_500),
            (.subscribeSlowly, consumer, user, 9_000), (.subscribeSlowly, consumer, user, 9_500),
            (.burst, 1 - consumer, 0, 10_000), (.burst, 1 - consumer, 0, 11_000),
        ]
        for (kind, device, user, time) in steps {
            actions.append(Action(kind, device, user, at: .milliseconds(time), &generator))
        }
        actions.sort { $0.instant < $1.instant }
    }

    private func hardFault(_ generator: inout SeededGenerator) -> Fault {
        let span = Int(Self.activeTime.nanoseconds / 1_000_000)
        let start = 500 + generator.below(span - 3_000)
        let longest = [20, 200, 2_000, 12_000][generator.below(4)]
        var fault = Fault(
            instant: Instant.zero.advanced(by: .milliseconds(start)), device: generator.below(devices.count),
            kind: .unanswering, duration: .milliseconds(min(1 + generator.below(longest), span - start)),
            pick: generator.next())
        switch generator.below(12) {
        case 0, 1: fault.kind = .unanswering
        case 2: fault.kind = .lostEnds
        case 3, 4:
            fault.kind = .wrongPeers
            fault.duration = .milliseconds(min(8_000 + generator.below(6_000), span - start))
        case 5: fault.kind = .excess
        case 6: fault.kind = .lostFragments
        default:
            let kinds: [Fault.Kind] = [.hardwareError, .unplug, .dropLinks, .outOfRange, .stall, .ignoredCommands]
            fault.kind = kinds[generator.below(kinds.count)]
            fault.moment = Fault.Moment.allCases[generator.below(Fault.Moment.allCases.count)]
        }
        return fault
    }

    private mutating func addHardActions(_ generator: inout SeededGenerator) {
        let kinds: [Action.Kind] = [
            .configure, .configure, .configure, .configure, .useFormerLink, .useFormerLink, .dribble, .card, .connect,
            .connect, .advertise, .hold, .resume, .subscribe, .discover, .publish, .withdraw, .leave, .join, .indicate,
        ]
        let span = Int(Self.activeTime.nanoseconds / 1_000) - 1_000_000
        for _ in 0..<8 + generator.below(24) {
            let device = generator.below(devices.count)
            let user = generator.oneIn(2) ? 0 : generator.below(devices[device].users.count)
            let time = Duration.microseconds(1_000_000 + generator.below(span))
            actions.append(Action(kinds[generator.below(kinds.count)], device, user, at: time, &generator))
        }
    }
}
