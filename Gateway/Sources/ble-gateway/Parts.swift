import Foundation
import GatewayConfiguration
import GatewayMQTT
import GatewayPipeline
import GatewayService
import Logging
import Synchronization

/// Prints messages, one per line.
final class LineSink: Sink {
    private let output = Mutex(FileHandle.standardOutput)

    func take(_ publications: [Publication]) {
        let text = publications.map { $0.line + "\n" }.joined()
        output.withLock { try? $0.write(contentsOf: Data(text.utf8)) }
    }
}

/// Publishes nothing, for a gateway that has no broker and only serves ESPHome's API.
struct NoSink: Sink {
    func take(_ publications: [Publication]) {}
}

/// Forwards the callbacks of the sink. It exists before the objects that receive them.
final class Relay: Sendable {
    let hub = Mutex<Hub?>(nil)
    let remote = Mutex<RemoteHands?>(nil)

    func connected() { hub.withLock { $0 }?.forget() }
    func received(_ message: MQTTMessage) { remote.withLock { $0 }?.receive(message) }
}

/// Writes log lines to standard error. They have no timestamps, because the journal adds them.
struct StandardErrorLog: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // The reader of the log may be gone, or the disk full. That must not end the gateway.
        try? FileHandle.standardError.write(contentsOf: Data("\(label): \(event.message)\n".utf8))
    }
}

extension Hub {
    convenience init(_ configuration: Configuration, sink: any Sink) {
        self.init(configuration.pipeline, configuration.makePreset(), sink: sink, clock: .system)
    }
}

extension Configuration {
    /// Creates the preset that the configuration selects.
    func makePreset() -> any Preset {
        preset.preset(topics, expiry: pipeline.expiry, capacity: pipeline.capacity)
    }
}

/// The default location of the spool.
enum SpoolPlace {
    /// The path of the spool. By default it is in systemd's state directory if there is one, otherwise in the user's.
    /// Creates that directory if it does not exist.
    static func path(_ configuration: Configuration) throws -> String {
        if let path = configuration.spool.path { return path }
        let environment = ProcessInfo.processInfo.environment
        let directory: String
        if let state = environment["STATE_DIRECTORY"], !state.isEmpty {
            directory = state
        } else if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            directory = state + "/ble-gateway"
        } else {
            directory = NSHomeDirectory() + "/.local/state/ble-gateway"
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ProgramFailure(description: "cannot create \(directory) for stored messages; set spool.path")
        }
        return "\(directory)/\(configuration.topics.gateway).sqlite"
    }
}
