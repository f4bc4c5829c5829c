import Logging
import Synchronization

/// Keeps what was logged, by label. A label that ends in "quiet" keeps errors only.
enum Recorder {
    static let lines = Mutex<[String: [String]]>([:])
    /// Once for the process, as swift-log demands.
    static let bootstrap: Void = LoggingSystem.bootstrap { Handler(label: $0) }

    static func lines(of label: String) -> [String] { lines.withLock { $0[label] ?? [] } }

    private struct Handler: LogHandler {
        let label: String
        var logLevel: Logging.Logger.Level
        var metadata: Logging.Logger.Metadata = [:]

        init(label: String) {
            self.label = label
            logLevel = label.hasSuffix("quiet") ? .error : .trace
        }

        subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            Recorder.lines.withLock { $0[label, default: []].append("\(event.level) \(event.message)") }
        }
    }
}
