import AdapterTestSupport
import BluetoothHCI
import Logging
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Keeps the lines of a log.
final class LogLines: Sendable {
    private let all = Mutex<[String]>([])

    var lines: [String] { all.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(sink: self) } }

    func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    private struct Handler: LogHandler {
        let sink: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            sink.all.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}

@Suite("Log messages", .timeLimit(.minutes(30)))
struct LogTests {
    private let log = LogLines()

    @Test("Unanswered requests are logged without their values")
    func unserved() async throws {
        let scene = try await Scene(time: .manual, loggers: (nil, log.logger))
        let handle = try scene.remote(Scene.dynamic).valueHandle
        for value in [[0xC0, 0xFF, 0xEE], [0xBE, 0xEF]] as [[UInt8]] {
            await #expect(throws: BluetoothError.self) {
                try await scene.radio.passing { try await scene.connection.write(value, to: handle) }
            }
        }
        #expect(log.contains("was not answered in time"))
        expectNothingSecret([0xC0, 0xFF, 0xEE])
    }

    @Test("Repeated events are logged the first, second, fourth and eighth time")
    func often() {
        let log = EventLog(self.log.logger)
        for count in 1...9 { log.sightingsDropped(count) }
        #expect(self.log.lines.count == 4)
        #expect(self.log.lines[0].hasSuffix("is more than 65,536 sightings behind [:]"))
        #expect(self.log.lines[3].hasSuffix("[\"occurrences\": 8]"))
        for _ in 1...1000 { log.retryFailed(.notReady) }
        #expect(self.log.lines.count == 14)
    }

    @Test("A full queue of sightings reports how many it has dropped")
    func dropped() {
        let told = Mutex<[Int]>([])
        let queue = AsyncQueue<Int>(
            capacity: 2, overflow: .dropOldest, onDrop: { count in told.withLock { $0.append(count) } })
        for element in 0..<5 { queue.push(element) }
        #expect(told.withLock { $0 } == [1, 2, 3])
    }

    @Test("The controller's resets, removal and return are logged")
    func controller() async throws {
        let scene = try await Scene(time: .manual, loggers: (log.logger, nil))
        scene.radio.withAir { air, _ in air.reportHardwareError(1, on: scene.centralPort.identifier) }
        await scene.radio.advance(by: .seconds(1))
        #expect(log.contains("warning the controller is being reset"))
        scene.centralPort.unplug()
        await scene.radio.advance(by: .seconds(3))
        #expect(log.contains("warning the controller is gone"))
        scene.centralPort.plugIn()
        await scene.radio.advance(by: .seconds(10))
        #expect(log.lines.last?.hasPrefix("debug the controller is ready") == true)
    }

    @Test("A refused pairing is logged with the reason")
    func refusedPairing() async throws {
        let scene = try await SecureScene(logger: log.logger)
        await #expect(throws: BluetoothError.self) {
            try await scene.radio.passing {
                try await scene.central.connect(to: scene.address).pair()
            }
        }
        #expect(log.contains("has failed"))
        #expect(log.contains("this program has no pairing agent"))
    }

    @Test("Values, keys and names are never logged")
    func secrets() async throws {
        let bonds = MemoryBondStore()
        let scene = try await SecureScene(peripheralBonds: bonds, logger: log.logger)
        let secret: [UInt8] = Array("secret".utf8)
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                try await connection.write(secret, to: try scene.handle(SecureScene.encrypted))
            }
        }
        scene.radio.withAir { air, _ in air.reportHardwareError(1, on: scene.peripheralPort.identifier) }
        await scene.radio.advance(by: .seconds(1))
        #expect(!log.lines.isEmpty)
        let kept = try await scene.peripheral.bonds
        #expect(!kept.isEmpty)
        for bond in kept {
            for key in [bond.centralKey?.key, bond.peripheralKey?.key, bond.identity?.resolvingKey] {
                if let key, key != 0 {
                    expectNothingSecret((0..<16).map { UInt8(truncatingIfNeeded: key >> UInt128(8 * $0)) })
                }
            }
        }
        expectNothingSecret(secret)
    }

    /// Octets are in no line, in whatever form a careless interpolation would have given them.
    private func expectNothingSecret(_ octets: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        let digits = octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let reversed = octets.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let forms = [
            digits.joined(), digits.joined(separator: " "), reversed.joined(), "\(octets)",
            octets.map(String.init).joined(separator: ", "), String(decoding: octets, as: UTF8.self), "Secure", "Scene",
        ]
        let text = log.lines.joined(separator: "\n").lowercased()
        for form in forms where form.utf8.count > 3 {
            #expect(!text.contains(form.lowercased()), "the log has \(form)", sourceLocation: sourceLocation)
        }
    }
}
