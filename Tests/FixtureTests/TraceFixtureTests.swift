import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import Foundation
import Testing

/// Traces of whole captures, line by line. After an intended change, write them again and review the difference:
///
///     BLUETOOTH_RENEW_TRACES=1 swift test --filter TraceFixtureTests
@Suite("Fixtures: traces")
struct TraceFixtureTests {
    static let traced = [
        "Bumble/advertising-extended-central", "Bumble/connection-update-peripheral", "Bumble/errors-central",
        "Bumble/pairing-legacy-passkey-peripheral", "Kernel/ours-to-bluez-hci0",
    ]

    @Test("the trace of a capture is unchanged", arguments: traced)
    func golden(_ name: String) throws {
        let capture = try #require(Capture.all.first { $0.name == name })
        let lines = capture.trace()
        let file = Capture.directory.appending(path: "Traces/\(capture.name.split(separator: "/")[1]).txt")
        if ProcessInfo.processInfo.environment["BLUETOOTH_RENEW_TRACES"] != nil {
            try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        let golden = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.count == golden.count)
        for (line, expected) in zip(lines, golden) { #expect(line == expected) }
    }

    @Test("no packet in a capture is malformed or unfinished", arguments: Capture.all)
    func understood(_ capture: Capture) {
        for line in capture.trace() {
            #expect(!line.contains("malformed") && !line.contains("unfinished"))
        }
    }
}

extension Capture {
    /// A line for each packet, timed from the first one on.
    fileprivate func trace() -> [String] {
        guard let start = packets.first?.record.microsecondsSince1970 else { return [] }
        var tracer = PacketTracer()
        return packets.map { packet in
            let passed = Duration.microseconds(packet.record.microsecondsSince1970 - start)
            return tracer.line(
                for: packet.bytes.span,
                direction: packet.isFromController ? .controllerToHost : .hostToController,
                at: Instant.zero.advanced(by: passed))
        }
    }
}
