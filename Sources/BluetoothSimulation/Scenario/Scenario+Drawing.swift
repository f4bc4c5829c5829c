import BluetoothBase

extension Scenario {
    /// The time during which actions and faults happen. Another 45 s follow in which everything must come to rest.
    static let activeTime = Duration.seconds(30)

    /// Draws a scenario from a seed.
    public init(seed: UInt64, kind: ScenarioKind = .mixed) {
        var generator = SeededGenerator(seed: seed)
        self.seed = generator.next()
        end = Instant.zero.advanced(by: Self.activeTime)
        let count = [2, 2, 2, 3, 3, 3, 4, 4, 5, 6][generator.below(10)]
        devices = Self.withDelegates((0..<count).map { _ in Device(drawnFrom: &generator) }, self.seed)
        actions = Self.actions(kind, devices, &generator)
        faults = Self.faults(kind, devices.count, over: Self.activeTime, &generator)
        addSecurity(kind)
        addHardship(kind)
        addChannels(kind)
        addEpisode(kind)
        addExtendedAdvertising(kind)
        addPeriodicAdvertising()
        addSubevents()
        addSlowStorage()
    }

    /// Adds delegate users to one world in four, where they meet each other and users of the other APIs. They are
    /// slower to simulate than the others.
    private static func withDelegates(_ devices: [Device], _ seed: UInt64) -> [Device] {
        var generator = SeededGenerator(seed: ~seed)
        guard generator.oneIn(4) else { return devices }
        var devices = devices
        for index in devices.indices {
            for user in devices[index].users.indices.dropFirst() where generator.oneIn(2) {
                devices[index].users[user].face = .delegates
            }
            if devices[index].users.count < 3, generator.oneIn(2) {
                devices[index].users.append(.init(face: .delegates))
            }
        }
        return devices
    }

    /// Devices advertise and connect early, so that the other actions have links to use.
    private static func actions(
        _ kind: ScenarioKind, _ devices: [Device], _ generator: inout SeededGenerator
    ) -> [Action] {
        var actions: [Action] = []
        for device in devices.indices {
            if generator.oneIn(2) || device == 0 {
                actions.append(Action(.advertise, device, 0, at: .milliseconds(generator.below(300)), &generator))
            }
            if generator.oneIn(2) || device == 1 {
                actions.append(Action(.connect, device, 0, at: .milliseconds(300 + generator.below(700)), &generator))
            }
        }
        let kinds = Action.Kind.allCases
        var ends: [Int] = []
        for one in kinds { ends.append((ends.last ?? 0) + kind.weight(of: one)) }
        let count = 25 + generator.below(25) + 5 * devices.count
        let span = Int(activeTime.nanoseconds / 1_000) - 1_000_000
        for _ in 0..<count {
            let number = generator.below(ends[ends.count - 1])
            guard let drawn = ends.firstIndex(where: { number < $0 }) else { continue }
            let device = generator.below(devices.count)
            let user = generator.below(devices[device].users.count)
            let time = Duration.microseconds(1_000_000 + generator.below(span))
            actions.append(Action(kinds[drawn], device, user, at: time, &generator))
        }
        return actions.sorted { $0.instant < $1.instant }
    }

    /// Draws up to three faults of some stations.
    static func faults(
        _ kind: ScenarioKind, _ stationCount: Int, over time: Duration, _ generator: inout SeededGenerator
    ) -> [Fault] {
        // One world in eight is drawn without faults, so that nothing can hide behind them.
        if generator.oneIn(8) { return [] }
        let kinds = kind.faults
        let span = max(3_000, Int(time.nanoseconds / 1_000_000))
        var faults = (0...generator.below(3)).map { _ in
            let start = 500 + generator.below(span - 2_500)
            // Short and long faults are equally likely.
            let longest = [20, 200, 2_000, 12_000][generator.below(4)]
            return Fault(
                instant: Instant.zero.advanced(by: .milliseconds(start)), device: generator.below(stationCount),
                kind: kinds[generator.below(kinds.count)],
                duration: .milliseconds(min(1 + generator.below(longest), span - start)), pick: generator.next())
        }
        faults.sort { $0.instant < $1.instant }
        return faults
    }
}

extension Scenario.Device {
    fileprivate init(drawnFrom generator: inout SeededGenerator) {
        bufferLength = [27, 27, 64, 251, 251][generator.below(5)]
        bufferCount = [1, 2, 4, 8, 8, 12][generator.below(6)]
        hasHostFlowControl = generator.oneIn(2)
        responseDelay = .milliseconds([0, 0, 0, 1, 20][generator.below(5)])
        preferredMTU = [23, 64, 185, 247, 517, 517][generator.below(6)]
        // The first user publishes the device's service.
        users = [.init(face: .calls)]
        for _ in 0..<[0, 1, 1, 2][generator.below(4)] {
            users.append(.init(face: generator.oneIn(2) ? .tasks : .calls))
        }
    }
}

extension Scenario.Action {
    init(
        _ kind: Kind, _ device: Int, _ user: Int, at time: Duration, _ generator: inout SeededGenerator
    ) {
        self.init(
            instant: Instant.zero.advanced(by: time), device: device, user: user, kind: kind, pick: generator.next())
    }
}

extension SeededGenerator {
    /// A uniformly distributed number below a bound; 0 if the bound is not positive.
    mutating func below(_ bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(max(1, bound))).high) }

    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    mutating func element<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}
