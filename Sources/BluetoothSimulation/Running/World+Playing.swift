import BluetoothBase

extension World {
    /// Plays an application of one's own in the worlds of many seeds, in all kinds of weather.
    ///
    /// Each world is built by `build`, which adds stations and begins tasks; faults are drawn from its seed and befall its
    /// stations in the first half of the time. Then the tasks are cancelled, and have to end.
    ///
    ///     let minute = Duration.seconds(60)
    ///     let failures = try World.play(seeds: 0..<10_000, for: minute) { world in
    ///         let sensor = world.addStation(), phone = world.addStation()
    ///         world.spawn { await serve(on: sensor) }
    ///         world.spawn {
    ///             let reading = await read(by: phone)
    ///             if reading.isTorn { world.fail(.application, "half a reading") }
    ///         }
    ///     }
    ///     #expect(failures.isEmpty)
    ///
    /// A failure is played again, to look at it, with the range of its one seed.
    ///
    /// - Parameters:
    ///   - seeds: a world for each.
    ///   - duration: how long each world lasts, at least 10 seconds of its own time.
    ///   - weather: what goes wrong; nil for nothing.
    ///   - build: makes a world ready.
    /// - Returns: the seeds whose worlds failed, with what went wrong; the first 64.
    public static func play(
        seeds: Range<UInt64>, for duration: Duration = .seconds(60), weather: ScenarioKind? = .links,
        _ build: (World) throws -> Void
    ) rethrows -> [(seed: UInt64, violations: [Violation])] {
        var failures: [(seed: UInt64, violations: [Violation])] = []
        for seed in seeds where failures.count < Simulation.maximumFailures {
            let world = World(seed: seed)
            try build(world)
            if let weather { world.drawFaults(weather, over: duration / 2) }
            world.run(for: max(duration, .seconds(10)) / 2)
            world.calm()
            world.run(for: max(duration, .seconds(10)) / 2)
            world.end()
            if !world.violations.isEmpty { failures.append((seed, world.violations)) }
        }
        return failures
    }

    private func drawFaults(_ weather: ScenarioKind, over duration: Duration) {
        guard stations.count > 1 else { return }
        var generator = SeededGenerator(seed: seed &+ 1)
        for fault in Scenario.faults(weather, stations.count, over: duration, &generator) {
            schedule(at: fault.instant) { [unowned self] in begin(fault) }
        }
    }
}
