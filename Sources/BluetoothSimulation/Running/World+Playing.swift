import BluetoothBase

extension World {
    /// Plays your own application in one world for each seed, with faults.
    ///
    /// `build` builds each world: it adds stations and starts tasks. The faults are drawn from the seed, and affect the
    /// stations in the first half of the time. At the end, the tasks are cancelled and must finish.
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
    /// To investigate a failure, play it again with a range that contains only its seed.
    ///
    /// - Parameters:
    ///   - seeds: the seeds, one for each world.
    ///   - duration: the duration of each world in virtual time, at least 10 s.
    ///   - weather: the kind of faults; nil for none.
    ///   - build: sets up a world.
    /// - Returns: the seeds of the worlds that failed, with their violations; at most the first 64.
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
