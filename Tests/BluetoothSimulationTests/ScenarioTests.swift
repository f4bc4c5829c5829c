import BluetoothBase
import Foundation
import TestSupport
import Testing

@testable import BluetoothSimulation

@Suite("Scenarios generated from a seed")
struct ScenarioTests {
    @Test(
        "A seed always gives the same scenario, and the same packets at the same times",
        arguments: ScenarioKind.allCases)
    func repeatable(_ kind: ScenarioKind) {
        let scenario = Scenario(seed: 9, kind: kind)
        #expect(scenario == Scenario(seed: 9, kind: kind))
        #expect(scenario != Scenario(seed: 8, kind: kind))
        let first = ScenarioRun(scenario).play(), second = ScenarioRun(scenario).play()
        #expect(first == second)
        #expect(first.packetCount > 100 && first.operationCount > 10)
    }

    @Test("Worlds have 2 to 6 devices and at least 35 actions, and most have faults")
    func shapes() {
        let scenarios = (0..<200).map { Scenario(seed: $0, kind: ScenarioKind(of: $0)) }.filter { $0.episode == nil }
        #expect(Set(scenarios.map(\.devices.count)) == [2, 3, 4, 5, 6])
        #expect(
            scenarios.allSatisfy { $0.actions.count >= 35 && $0.faults.count { $0.kind != .restart } <= 6 })
        // One world in three has security, and all of the kind do.
        #expect((40...95).contains(scenarios.count { $0.security != nil }))
        #expect(scenarios.allSatisfy { $0.security != nil || !$0.faults.contains { $0.kind == .restart } })
        #expect(
            (0..<50).map { Scenario(seed: $0, kind: .security) }.allSatisfy { $0.security != nil || $0.episode != nil })
        #expect(scenarios.count { $0.faults.isEmpty } > 5)
        let many = (0..<1_500).map { Scenario(seed: $0, kind: ScenarioKind(of: $0)) }
        #expect((350...550).contains(many.count { $0.hasHardship && $0.episode == nil }))
        #expect(Set(many.flatMap { $0.faults.compactMap(\.moment) }) == Set(Scenario.Fault.Moment.allCases))
        #expect(Set(many.flatMap { $0.faults.map(\.kind) }) == Set(Scenario.Fault.Kind.allCases))
        #expect(Set(many.flatMap { $0.actions.map(\.kind) }) == Set(Scenario.Action.Kind.allCases))
    }

    @Test("One world in eight has an episode, and every world of that kind has one")
    func episodes() {
        let scenarios = (0..<1_500).map { Scenario(seed: $0, kind: ScenarioKind(of: $0)) }
        #expect((130...250).contains(scenarios.count { $0.episode != nil }))
        let all = (0..<300).map { Scenario(seed: $0, kind: .episodes) }
        #expect(Set(all.compactMap(\.episode)) == Set(Scenario.Episode.allCases))
        #expect(all.allSatisfy { $0.episode != nil && $0.hasHardship })
        #expect(all.allSatisfy { $0.episode?.isSecure != true || $0.security?.count == $0.devices.count })
        let steps = Set(all.flatMap { $0.actions.compactMap(\.step) })
        #expect(steps == Set(Scenario.Action.Step.allCases))
    }

    @Test("These worlds have no violations", arguments: 0..<60)
    func clean(_ seed: UInt64) {
        let report = Simulation.play(seed, nil)
        #expect(report.violations.isEmpty)
        #expect(report.duration >= .seconds(60))
    }

    @Test("Indices that refer to nothing are reported with the valid ones, and skipped by a run")
    func invalidIndices() {
        var scenario = Scenario(seed: 3, kind: .links)
        scenario.devices = Array(scenario.devices.prefix(2))
        scenario.devices[0].users = Array(scenario.devices[0].users.prefix(1))
        scenario.actions = [
            .init(instant: .zero, device: 0, user: 0, kind: .scan, pick: 0),
            .init(instant: .zero, device: 1, user: 0, kind: .advertise, pick: 0),
        ]
        scenario.faults = [.init(instant: .zero, device: 1, kind: .dropLinks, duration: .seconds(1), pick: 0)]
        #expect(throws: Never.self) { try scenario.validate() }
        let table: [(WritableKeyPath<Scenario, Int>, Int, String)] = [
            (\.actions[1].device, -1, "actions[1].device is -1; give a number from 0 to 1"),
            (\.actions[1].device, 2, "actions[1].device is 2; give a number from 0 to 1"),
            (\.actions[0].user, .min, "actions[0].user is \(Int.min); give a number from 0 to 0"),
            (\.actions[0].user, 1, "actions[0].user is 1; give a number from 0 to 0"),
            (\.faults[0].device, -1, "faults[0].device is -1; give a number from 0 to 1"),
            (\.faults[0].device, .max, "faults[0].device is \(Int.max); give a number from 0 to 1"),
        ]
        for (path, value, text) in table {
            var invalid = scenario
            invalid[keyPath: path] = value
            let error = #expect(throws: ScenarioError.self) { try invalid.validate() }
            #expect(error.map { "\($0)" } == text)
            #expect(ScenarioRun(invalid).play().isClean)
        }
        scenario.devices = []
        let error = #expect(throws: ScenarioError.self) { try scenario.validate() }
        #expect(error.map { "\($0)" } == "actions[0].device is 0, but none exists; remove the action or fault")
    }

    /// Each file is a scenario that failed once, cut down; its name says what happened.
    @Test("Scenarios that failed once do not fail again", arguments: try recorded())
    func failedOnce(_ file: URL) throws {
        let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: file))
        #expect(ScenarioRun(scenario).play().violations.isEmpty)
    }

    static func recorded() throws -> [URL] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures/Simulation")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }
}

@Suite("Shrinking a scenario")
struct ShrinkingTests {
    @Test("Everything irrelevant to the failure is removed, and nothing else")
    func shrinking() {
        var scenario = Scenario(seed: 3, kind: .mixed)
        scenario.devices.append(scenario.devices[0])
        scenario.faults.append(
            .init(instant: .zero, device: 0, kind: .unplug, duration: .seconds(1), pick: 0))
        // It fails where something is unplugged and somebody connects and reads later.
        func fails(_ scenario: Scenario) -> Bool {
            let connects = scenario.actions.firstIndex { $0.kind == .connect }
            let reads = scenario.actions.lastIndex { $0.kind == .read }
            guard let connects, let reads else { return false }
            return connects < reads && scenario.faults.contains { $0.kind == .unplug }
        }
        var shrinker = Shrinker(scenario, limit: 10_000) { fails($0) }
        shrinker.run()
        #expect(shrinker.scenario.actions.map(\.kind) == [.connect, .read])
        #expect(shrinker.scenario.faults.map(\.kind) == [.unplug])
        #expect(shrinker.scenario.devices.count < scenario.devices.count)
    }

    @Test("The shrinker plays no more worlds than its limit")
    func limit() {
        var played = 0
        var shrinker = Shrinker(Scenario(seed: 3), limit: 25) { _ in
            played += 1
            return played % 2 == 0
        }
        shrinker.run()
        #expect(played == 25)
    }
}

@Suite("Running many worlds")
struct SimulationTests {
    @Test("All seeds are played with the same result, whatever the number of jobs")
    func jobs() throws {
        let alone = Simulation(seeds: 0..<12)
        alone.run()
        let several = Simulation(seeds: 0..<12)
        try several.start(jobs: 3)
        // The other threads do not report that they have ended.
        for _ in 0..<300_000 where !several.isOver { usleep(1_000) }
        #expect(alone.progress.count == 12 && several.progress.count == 12)
        #expect(alone.progress.digest == several.progress.digest)
        #expect(alone.nextSeed == 12 && alone.progress.failureCount == 0)
    }

    @Test("A stopped simulation reports the seed to continue with")
    func stopping() {
        let simulation = Simulation(seeds: 5..<1_000_000)
        simulation.stop()
        simulation.run()
        #expect(simulation.progress.count == 0 && simulation.nextSeed == 5 && simulation.isOver)
    }

    @Test("The highest seeds are played once, and the largest range is counted")
    func highestSeeds() {
        let simulation = Simulation(seeds: UInt64.max - 2..<UInt64.max, kind: .links)
        simulation.run()
        #expect(simulation.count == 2 && simulation.progress.count == 2 && simulation.nextSeed == .max)
        #expect(Simulation(seeds: 0..<UInt64.max).count == .max)
    }

    @Test("Quantiles are exact for small numbers, and approximate for large ones")
    func distribution() {
        var distribution = Distribution()
        #expect(distribution.median == nil)
        for number in 1...9 { distribution.add(number) }
        #expect(distribution.median == 5 && distribution.quantile(0) == 1 && distribution.quantile(1) == 9)
        for number in [1_000, 5_000, 100_000, 1 << 40] {
            var one = Distribution()
            one.add(number)
            let near = one.median ?? 0
            #expect(near <= number && Double(number - near) <= Double(number) / 32)
        }
    }
}
