import ArgumentParser
import BluetoothBase
import BluetoothCrypto
import BluetoothHCI
import BluetoothSimulation
import BluetoothCommandLine
import FoundationEssentials
import HCITransport

/// `ble simulate`: plays simulated worlds in virtual time, generated from seeds.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Simulates worlds of adapters and applications in virtual time, and checks their invariants.",
        discussion: HelpText.discussion(
            """
            Each seed generates a world of two to six devices, the actions of their applications, and the faults. The \
            same seed always produces the same packets. The output states the seed to continue with.

            If a world fails, prints its seed and the violations, writes the packets of each host to \
            simulate-SEED-hostN.btsnoop, and exits with status 1. To examine one world: ble simulate --seeds 42 \
            --shrink

            --shrink also writes the scenario to simulate-SEED.json, for --replay. A later version may generate \
            another scenario from the same seed, but a file does not change.
            """,
            examples: ["ble simulate --seeds 0..9999", "ble simulate --seeds 42 --shrink"]))

    @Option(
        help: ArgumentHelp("The seeds: one, or from A to B, inclusive.", valueName: "A..B"), transform: SeedRange.init)
    var seeds = SeedRange(range: 0..<1000)

    @Option(help: ArgumentHelp("The number of worlds to play in parallel. Defaults to the number of processors."))
    var jobs: Int?

    @Option(help: ArgumentHelp("The kind of scenario. By default, all kinds in turn.", valueName: "name"))
    var scenario: ScenarioKind?

    @Flag(help: "Reduce the first world that fails to the shortest scenario that still fails, and print it.")
    var shrink = false

    @Flag(help: "Stop at the first world that fails.")
    var untilFailure = false

    @Option(help: ArgumentHelp("The folder for the files of the first world that fails.", valueName: "folder"))
    var captures = "."

    @Option(help: ArgumentHelp("Play the scenario in this file instead.", valueName: "file"))
    var replay: String?

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs must be from 1 to 256") }
    }

    func run() async throws {
        if let reason = LibraryToolbox.unavailability { throw CommandFailure(.failure, "\(reason)") }
        if let replay { return try await runInterruptibly { () throws(CommandFailure) in try play(replay) } }
        let simulation = Simulation(
            seeds: seeds.range, kind: scenario, stopsAtFailure: untilFailure)
        try simulation.start(jobs: jobs ?? processorCount())
        var display = SimulationDisplay(total: simulation.count)
        while !simulation.isOver {
            if Task.isCancelled { simulation.stop() }
            display.show(simulation.progress)
            // Waiting for threads, in real time.
            try? await Task.sleep(for: .milliseconds(Task.isCancelled ? 10 : 100))
        }
        display.end()
        let progress = simulation.progress
        try writeLine(display.summary(of: progress, next: simulation.nextSeed, in: seeds))
        guard let first = progress.failures.first else { return }
        for failure in progress.failures {
            for violation in failure.violations { try writeLine("seed \(failure.seed): \(violation)") }
        }
        let hidden = progress.failureCount - progress.failures.count
        if hidden > 0 { try writeLine("… and \(hidden) more worlds failed") }
        try await runInterruptibly { () throws(CommandFailure) in try explain(first.seed) }
        throw CommandFailure(.failure, "\(progress.failureCount) of \(progress.count) worlds failed")
    }

    /// Plays a failed world again and captures it. Shrinks it first if that is requested.
    private func explain(_ seed: UInt64) throws(CommandFailure) {
        var scenario = Scenario(seed: seed, kind: scenario ?? ScenarioKind(of: seed))
        if shrink {
            var display = ShrinkDisplay()
            scenario = scenario.shrunk { display.show($0, $1) }
            display.end()
            try writeLine("the shortest scenario that still fails:\n\(scenario)")
            try write(scenario, to: "\(captures)/simulate-\(seed).json")
        }
        _ = try capture(scenario, as: "simulate-\(seed)")
    }

    /// Plays the scenario in a file.
    private func play(_ path: String) throws(CommandFailure) {
        let scenario: Scenario
        do {
            scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw CommandFailure(.usage, "\(path) is not a scenario file: \(error)")
        }
        do throws(ScenarioError) {
            try scenario.validate()
        } catch {
            throw CommandFailure(.usage, "\(path): \(error)")
        }
        guard try capture(scenario, as: "simulate") else { throw CommandFailure(.failure, "the world failed") }
        try writeLine("the world is clean")
    }

    private func write(_ scenario: Scenario, to path: String) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            try encoder.encode(scenario).write(to: URL(filePath: path))
        } catch {
            throw CommandFailure(.failure, "\(path) cannot be written: \(error)")
        }
        try writeLine("scenario: \(path)")
    }

    /// Plays a scenario, captures the packets of its hosts, and prints the violations. Returns whether there were none.
    private func capture(_ scenario: Scenario, as name: String) throws(CommandFailure) -> Bool {
        let paths = scenario.devices.indices.map { "\(captures)/\(name)-host\($0).btsnoop" }
        let files: [CaptureFile]
        do throws(TransportError) {
            files = try paths.map { (path) throws(TransportError) in try CaptureFile(path: path) }
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        let run = ScenarioRun(scenario)
        run.world.observePacket = { station, direction, packet in
            // Readers of captures expect a date, so the world begins in the year 2000.
            let start: Int64 = 946_684_800_000_000
            files[station.index].append(
                packet, direction: direction == .toHost ? .received : .sent,
                microsecondsSince1970: start + Int64(station.world.now.nanoseconds / 1_000))
        }
        let violations = run.play().violations
        for (path, file) in zip(paths, files) where file.failure == nil { try writeLine("packets: \(path)") }
        for violation in violations { try writeLine("\(violation)") }
        if let failure = files.lazy.compactMap(\.failure).first {
            throw CommandFailure(.failure, "\(failure); the packets after that are missing")
        }
        return violations.isEmpty
    }
}

extension ScenarioKind: ExpressibleByArgument {}

/// `A..B`, both included, or one number.
struct SeedRange {
    var range: Range<UInt64>

    init(range: Range<UInt64>) { self.range = range }

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let bounds: (UInt64?, UInt64?) =
            switch parts.count {
            case 1: (UInt64(parts[0]), UInt64(parts[0]))
            case 3 where parts[1].isEmpty: (UInt64(parts[0]), UInt64(parts[2]))
            default: (nil, nil)
            }
        guard let first = bounds.0, let last = bounds.1 else {
            throw ValidationError("“\(text)” is not a range of seeds; give two numbers as in 0..999, or one")
        }
        guard first <= last else {
            throw ValidationError("the range of seeds \(text) is empty; give the lower number first")
        }
        guard last < .max else { throw ValidationError("the highest seed is \(UInt64.max - 1)") }
        range = first..<last + 1
    }

    /// The seeds up to the one to continue with, as a range. If none was played, it names the first seed.
    func played(before next: UInt64) -> String {
        "\(range.lowerBound)..\(next > range.lowerBound ? next - 1 : range.lowerBound)"
    }
}
