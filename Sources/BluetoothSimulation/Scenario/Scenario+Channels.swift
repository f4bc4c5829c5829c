import BluetoothBase

extension Scenario {
    /// Whether devices offer and open L2CAP channels.
    var hasChannels: Bool { channels == true }

    /// Adds L2CAP channels to every world of the kind `channels`, and to one in four of the others. They are drawn from
    /// a separate generator, so the other worlds do not depend on them.
    mutating func addChannels(_ kind: ScenarioKind) {
        var generator = SeededGenerator(seed: seed ^ 0xC4A2_2E15_C4A2_2E15)
        guard generator.oneIn(4) || kind == .channels else { return }
        channels = true
        let kinds: [Action.Kind] = [
            .openChannel, .openChannel, .openChannel, .sendOverChannel, .sendOverChannel, .sendOverChannel,
            .sendOverChannel, .sendOverChannel, .sendOverChannel, .pauseChannel, .resumeChannel, .closeChannel,
            .reconfigureChannel, .connect, .advertise,
        ]
        let span = Int(Self.activeTime.nanoseconds / 1_000) - 1_000_000
        for _ in 0..<(kind == .channels ? 60 : 12) + generator.below(kind == .channels ? 20 : 8) {
            let device = generator.below(devices.count)
            let user = generator.oneIn(2) ? 0 : generator.below(devices[device].users.count)
            let time = Duration.microseconds(1_000_000 + generator.below(span))
            actions.append(Action(kinds[generator.below(kinds.count)], device, user, at: time, &generator))
        }
        actions.sort { $0.instant < $1.instant }
    }
}
