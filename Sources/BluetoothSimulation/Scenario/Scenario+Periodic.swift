import BluetoothBase

/// Periodic advertising: which devices advertise, and which synchronize.
extension Scenario {
    /// In every other world with at least two controllers that support extended advertising, makes their users
    /// advertise periodically. Drawn from separate random numbers, so that the rest of a world stays the same.
    mutating func addPeriodicAdvertising() {
        var generator = SeededGenerator(seed: seed ^ 0x9E71_0D1C_9E71_0D1C)
        let able = devices.indices.filter { devices[$0].hasExtendedAdvertising == true }
        guard able.count > 1, generator.oneIn(2) else { return }
        for index in able { devices[index].hasPeriodicAdvertising = true }
        let kinds: [Action.Kind] = [
            .advertiseTrain, .advertiseTrain, .changeTrain, .changeTrain, .stopTrain, .synchronize, .synchronize,
            .synchronize, .synchronize, .endSync, .tellOfTrain, .tellOfTrain, .acceptTrains, .connect, .advertise,
        ]
        addPeriodicActions(kinds, by: able, count: 20 + generator.below(20), &generator)
    }

    /// In every other world with periodic advertising, makes users advertise subevents, respond in them, and connect in
    /// them.
    mutating func addSubevents() {
        var generator = SeededGenerator(seed: seed ^ 0x5B5E_7E47_5B5E_7E47)
        let able = devices.indices.filter { devices[$0].hasPeriodicAdvertising == true }
        guard !able.isEmpty, generator.oneIn(2) else { return }
        let kinds: [Action.Kind] = [
            .advertiseSubevents, .advertiseSubevents, .stopTrain, .synchronize, .synchronize, .synchronize,
            .synchronize, .connectInSubevent, .connectInSubevent, .connectInSubevent, .endSync, .tellOfTrain,
            .acceptTrains, .disconnect,
        ]
        addPeriodicActions(kinds, by: able, count: 20 + generator.below(20), &generator)
    }

    private mutating func addPeriodicActions(
        _ kinds: [Action.Kind], by able: [Int], count: Int, _ generator: inout SeededGenerator
    ) {
        let span = Int(Self.activeTime.nanoseconds / 1_000) - 1_000_000
        for _ in 0..<count {
            guard let device = generator.element(of: able) else { return }
            let user = generator.below(devices[device].users.count)
            let time = Duration.microseconds(1_000_000 + generator.below(span))
            actions.append(Action(kinds[generator.below(kinds.count)], device, user, at: time, &generator))
        }
        actions.sort { $0.instant < $1.instant }
    }
}

/// The periodic advertising of a user.
struct Train: Hashable {
    var station: Int
    var user: Int

    /// The Advertising SID. Each user has its own set.
    var sid: UInt8 { UInt8(8 + user) }

    init(station: Int, user: Int) {
        self.station = station
        self.user = user
    }

    init(station: Int, sid: UInt8) {
        self.init(station: station, user: Int(sid) - 8)
    }
}
