import CoreBluetooth
import Logging

/// The log lines of a piece of a test.
final class Log: @unchecked Sendable {
    // Unchecked: the lines are behind the lock.
    private let lock = NSLock()
    private var all: [String] = []

    var lines: [String] { lock.withLock { all } }

    func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    /// Where the log of the process goes while tests run: to each test that listens, which looks for its own objects in
    /// it.
    private static let listeners = Listeners()

    init() {
        Self.listeners.add(self)
        BluetoothEnvironment.logger = Logger(label: "CoreBluetooth") { _ in Handler() }
    }

    private final class Listeners: @unchecked Sendable {
        private let lock = NSLock()
        private var logs: [() -> Log?] = []

        func add(_ log: Log) {
            lock.withLock { logs.append { [weak log] in log } }
        }

        func tell(_ line: String) {
            let living = lock.withLock { () -> [Log] in
                logs.removeAll { $0() == nil }
                return logs.compactMap { $0() }
            }
            for log in living { log.take(line) }
        }
    }

    private func take(_ line: String) { lock.withLock { all.append(line) } }

    private struct Handler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { Log.listeners.tell("\(event.message)") }
    }
}
