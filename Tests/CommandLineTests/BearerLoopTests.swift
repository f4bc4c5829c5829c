import ArgumentParser
import BluetoothBase
import BluetoothCommandLine
import BluetoothPlatform
import Synchronization
import Testing

@testable import ble

/// The loop of `ble serve --bearer` and `ble inspect --bearer`.
struct BearerLoopTests {
    @Test("Standard input is read only if the peer has read the earlier packets")
    func backpressure() async {
        await #expect(processExitsWith: .exitCode(77)) {
            exit(try await linesRead(withPackets: 0) == 1 ? 77 : 1)
        }
        await #expect(processExitsWith: .exitCode(77)) {
            exit(try await linesRead(withPackets: 10_000) == 0 ? 77 : 1)
        }
    }

    @Test("If the device disconnects, ble inspect reports that its output is incomplete")
    func disconnected() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, packetSocketType, 0, &ends) == 0)
        defer { close(ends[0]) }
        close(ends[1])
        let inspect = try Inspect.parse(["--bearer", "fd:\(ends[0])"])
        await #expect(throws: CommandFailure(.linkLost, "the device has disconnected; the output is incomplete")) {
            try await inspect.run()
        }
    }
}

/// Runs the loop with one line on standard input and a peer that reads nothing. Returns the number of lines read.
///
/// - Parameter count: the number of packets for the peer, before the line is available.
private func linesRead(withPackets count: Int) async throws -> Int {
    var input: [Int32] = [-1, -1], ends: [Int32] = [-1, -1]
    try #require(pipe(&input) == 0)
    try #require(socketpair(AF_UNIX, packetSocketType, 0, &ends) == 0)
    dup2(input[0], STDIN_FILENO)
    try #require(write(input[1], "a line\n", 7) == 7)
    let lineCount = LineCount(), bearer = try #require(BearerName(argument: "fd:\(ends[0])"))
    let user = BusyUser(outgoing: Array(repeating: [0x1B, 0x05, 0x00], count: count), lineCount: lineCount)
    await #expect(throws: CommandFailure.self) { _ = try await BearerLoop.run(user, on: bearer, readsInput: true) }
    return lineCount.value.load(ordering: .relaxed)
}

private final class LineCount: Sendable {
    let value = Atomic(0)
}

/// A side of a bearer whose deadline has always passed, so that the loop does not sleep. It dies at the third one.
private struct BusyUser: BearerUser, Sendable {
    var outgoing: [[UInt8]]
    var lines: [String] = []
    var complaints: [String] = []
    let lineCount: LineCount
    private var fireCount = 0

    init(outgoing: [[UInt8]], lineCount: LineCount) {
        self.outgoing = outgoing
        self.lineCount = lineCount
    }

    var isFinished: Bool { false }
    var isDead: Bool { fireCount == 3 }
    var nextDeadline: Instant? { .zero }

    mutating func begin(at now: Instant) {}
    mutating func receive(_ packet: [UInt8], at now: Instant) {}
    mutating func enter(_ line: String, at now: Instant) { lineCount.value.add(1, ordering: .relaxed) }
    mutating func fire(at now: Instant) { fireCount += 1 }
}
