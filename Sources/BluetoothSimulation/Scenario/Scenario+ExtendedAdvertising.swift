import BluetoothBase

/// Extended advertising: which controllers support it, and which advertising sets are used.
extension Scenario {
    /// Gives some controllers extended advertising in one world in four, and lets their users advertise sets. Drawn
    /// from separate random numbers, so that the rest of a world stays the same.
    mutating func addExtendedAdvertising(_ kind: ScenarioKind) {
        var generator = SeededGenerator(seed: seed ^ 0xE87E_2DED_E87E_2DED)
        guard generator.oneIn(4), episode == nil else { return }
        for index in devices.indices where index == 0 || !generator.oneIn(3) {
            devices[index].hasExtendedAdvertising = true
        }
        let kinds: [Action.Kind] = [.advertiseSet, .advertiseSet, .advertiseSet, .stopSet, .scan, .connect, .advertise]
        let span = Int(Self.activeTime.nanoseconds / 1_000) - 1_000_000
        for _ in 0..<20 + generator.below(20) {
            let device = generator.below(devices.count)
            let user = generator.below(devices[device].users.count)
            let time = Duration.microseconds(1_000_000 + generator.below(span))
            actions.append(Action(kinds[generator.below(kinds.count)], device, user, at: time, &generator))
        }
        actions.sort { $0.instant < $1.instant }
    }
}
