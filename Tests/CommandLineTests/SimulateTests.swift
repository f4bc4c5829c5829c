import ArgumentParser
import BluetoothCommandLine
import BluetoothPlatform
import Foundation
import Testing

@testable import ble

/// `ble simulate`.
struct SimulateTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/Simulation")

    private static func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "simulate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory.path())
    }

    @Test(
        "Every seed except the highest number can be given",
        arguments: [
            ("7", 7..<8), ("0..999", 0..<1000), ("0..18446744073709551614", 0..<UInt64.max),
            ("9223372036854775807..9223372036854775808", (1 << 63) - 1..<(1 << 63) + 1),
        ] as [(String, Range<UInt64>)])
    func seeds(text: String, range: Range<UInt64>) throws {
        #expect(try SeedRange(text).range == range)
    }

    @Test(
        "Ranges that cannot be played are refused with the reason",
        arguments: [
            ("9..8", "give the lower number first"), ("0..18446744073709551615", "the highest seed is"),
            ("18446744073709551616", "is not a range of seeds"), ("-1..5", "is not a range of seeds"),
        ])
    func refusedSeeds(text: String, words: String) throws {
        let error = #expect(throws: (any Error).self) { try SeedRange(text) }
        #expect(Simulate.message(for: try #require(error)).contains(words))
    }

    @Test(
        "The progress of the largest range is computed without an overflow",
        arguments: [
            (0, UInt64.max, 0, "0 of 18446744073709551615 worlds, 0 a second, 0 s left"),
            (500, .max, 1, "500 of 18446744073709551615 worlds, 500 a second, 36893488147419102 s left"),
            (1, 1000, 5, "1 of 1000 worlds, 0 a second, 999 s left"),
        ] as [(Int, UInt64, Int64, String)])
    func progress(played: Int, total: UInt64, seconds: Int64, text: String) {
        #expect(SimulationDisplay.status(played, of: total, failed: 0, after: .seconds(seconds)) == text)
    }

    @Test("The played seeds end before the seed to continue with")
    func played() throws {
        let range = try SeedRange("0..9")
        #expect(range.played(before: 4) == "0..3")
        #expect(range.played(before: 0) == "0..0")
    }

    @Test("A scenario file with an invalid index is refused with what to correct")
    func invalidScenario() async throws {
        try await Self.withDirectory { directory in
            let scenario = try String(
                contentsOf: Self.fixtures.appending(path: "release-while-subscribing.json"), encoding: .utf8)
            let path = directory + "/scenario.json"
            try scenario.replacing(#/"device": \d+/#, with: #""device": -1"#)
                .write(toFile: path, atomically: true, encoding: .utf8)
            let failure = await #expect(throws: CommandFailure.self) {
                try await Simulate.parse(["--replay", path, "--captures", directory]).run()
            }
            #expect(failure?.status == .usage)
            #expect(failure?.message == "\(path): actions[0].device is -1; give a number from 0 to 1")
        }
    }

    @Test("A capture that was cut off is reported")
    func cutOffCapture() async throws {
        try await Self.withDirectory { directory in
            // A pipe that nobody reads is full after a few packets. The kernel's headers name this command
            // F_SETPIPE_SZ.
            let path = directory + "/simulate-host0.btsnoop"
            try #require(mkfifo(path, 0o600) == 0)
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            try #require(fcntl(reader, 1031, 4096) >= 0)
            let file = Self.fixtures.appending(path: "many-sdus-over-a-slow-link.json").path()
            let failure = await #expect(throws: CommandFailure.self) {
                try await Simulate.parse(["--replay", file, "--captures", directory]).run()
            }
            #expect(failure?.status == .failure)
            #expect(failure?.message?.hasPrefix("\(path): the capture cannot be written") == true)
        }
    }

    @Test("An unwritable folder for captures is not a failure of a controller")
    func unwritableCapture() async throws {
        let file = Self.fixtures.appending(path: "release-while-subscribing.json").path()
        let failure = await #expect(throws: CommandFailure.self) {
            try await Simulate.parse(["--replay", file, "--captures", "/nowhere"]).run()
        }
        #expect(failure?.status == .failure)
    }

    @Test("A replay ends when its task is cancelled")
    func interrupted() async throws {
        try await Self.withDirectory { directory in
            let file = Self.fixtures.appending(path: "release-while-subscribing.json").path()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await Simulate.parse(["--replay", file, "--captures", directory]).run()
            }
            await #expect(throws: CommandFailure(.failure, nil)) { try await task.value }
        }
    }
}
