import BluetoothBase
import Foundation
import GatewayPipeline

/// The configuration of a gateway: the settings in its file, and defaults for the rest.
public struct Configuration: Equatable, Sendable {
    /// The topics of the messages, which include the gateway's name.
    public var topics: Topics
    /// The preset, which determines the topics and the format of messages. `choose(_:)` changes it together with the
    /// settings that depend on it.
    public var preset = PresetName.homeassistant
    /// The broker to publish to; nil if none is configured.
    public var broker: BrokerSettings?
    /// The names of the transports or adapters to scan with. If empty, the gateway uses all adapters of the machine.
    public var adapters: [String] = []
    /// Whether the gateway scans actively, that is, requests scan responses.
    public var isScanActive = true
    /// The settings for filtering, decoding, averaging and limiting reports.
    public var pipeline = PipelineSettings()
    /// The location and the limits of the spool.
    public var spool = SpoolSettings()
    /// The settings of connections that clients request through the broker. By default, no requests are accepted.
    public var remote = RemoteSettings()
    /// The settings of values that are read over connections. By default, nothing is read.
    public var read = ReadSettings()
    /// ESPHome's native API; nil if it is not served.
    public var esphome: ESPHomeSettings?
    /// The interval between health reports.
    public var healthInterval = Duration.seconds(60)

    /// - Parameter gateway: the name of this gateway.
    public init(gateway: String) {
        topics = Topics(gateway: gateway)
        choose(.homeassistant)
    }

    /// Selects a preset and the settings that depend on it.
    public mutating func choose(_ preset: PresetName) {
        if topics.base == self.preset.base { topics.base = preset.base }
        self.preset = preset
        pipeline.comparison = preset.comparison
        pipeline.tellsUndecoded = preset.tellsUndecoded
    }
}

/// The address of the broker, and the parameters of the connection to it.
public struct BrokerSettings: Equatable, Sendable {
    /// The versions of MQTT.
    public enum Version: String, Sendable, CaseIterable {
        case v311 = "3.1.1"
        case v5 = "5"
    }

    /// The files for TLS: the trusted authorities, and a client certificate with its key.
    public struct TLS: Equatable, Sendable {
        /// A file with the certificates of the authorities; nil for those of the system.
        public var authorities: String?
        /// A file with this gateway's certificate.
        public var certificate: String?
        /// A file with the key of that certificate.
        public var key: String?

        /// Creates settings with the authorities of the system and without a client certificate.
        public init() {}
    }

    /// The name or the address of the broker's host. An IPv6 address has no brackets.
    public var host: String
    /// The TCP port of the broker.
    public var port: UInt16
    /// The settings for TLS; nil for an unencrypted connection.
    public var tls: TLS?
    /// The version of MQTT. Defaults to 3.1.1.
    public var version = Version.v311
    /// The user name; nil to connect without credentials.
    public var user: String?
    /// The password; nil for none. It is used only together with a user name.
    public var password: String?
    /// Derived from the gateway's name by default.
    public var clientID: String?
    /// The keep-alive interval of MQTT (MQTT 3.1.1, 3.1.2.10), rounded down to whole seconds.
    public var keepAlive = Duration.seconds(30)
    /// The longest delay between connection attempts.
    public var longestWait = Duration.seconds(60)

    /// Creates settings for a broker, with defaults for the rest. If `tls` is nil, the connection is not encrypted.
    public init(host: String, port: UInt16, tls: TLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }

    /// Parses `mqtt://[USER[:PASSWORD]@]HOST[:PORT]`, or `mqtts:` for TLS. Returns nil for any other form.
    public init?(url: String) {
        let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "mqtt" || parts[0] == "mqtts" else { return nil }
        let isSecure = parts[0] == "mqtts"
        var rest = parts[1]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        var user: Substring?, password: Substring?
        if let at = rest.lastIndex(of: "@") {
            let credentials = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = credentials[0]
            password = credentials.count == 2 ? credentials[1] : nil
            rest = rest[rest.index(after: at)...]
        }
        var host = rest, port: UInt16 = isSecure ? 8883 : 1883
        // An IPv6 address is in brackets.
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            guard let number = UInt16(rest[rest.index(after: colon)...]), number > 0 else { return nil }
            port = number
            host = rest[..<colon]
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("/"), !host.utf8.contains(0) else { return nil }
        self.init(host: String(host), port: port, tls: isSecure ? TLS() : nil)
        self.user = user.map(String.init)
        self.password = password.map(String.init)
    }

    /// The broker's URL for display, without user and password.
    public var displayName: String {
        "\(tls == nil ? "mqtt" : "mqtts")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// The settings of ESPHome's native API, through which the gateway acts as a Bluetooth proxy.
public struct ESPHomeSettings: Equatable, Sendable {
    /// The address to listen on, without brackets; `::` for all addresses of the machine.
    public var host: String
    /// The TCP port to listen on. If it is 0, the system chooses one.
    public var port: UInt16
    /// The key of 32 octets that clients must know; nil admits every client.
    public var key: [UInt8]?
    /// Whether clients may pair with devices, and remove bonds.
    public var allowsPairing = false

    /// Parses `HOST:PORT`, or `:PORT` for all addresses of the machine. Returns nil for any other form.
    public init?(listen text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        // An IPv6 address is in brackets.
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.host = host.isEmpty ? "::" : String(host)
        self.port = port
    }

    /// Decodes a key of 32 octets from Base64, the format that ESPHome uses. Returns nil if the key is malformed.
    public static func key(_ text: some StringProtocol) -> [UInt8]? {
        guard let data = Data(base64Encoded: String(text.filter { !$0.isWhitespace })), data.count == 32 else {
            return nil
        }
        return Array(data)
    }
}

/// The settings of connections that clients request through the broker.
public struct RemoteSettings: Equatable, Sendable {
    /// The devices that may be connected to. If empty, no requests are accepted.
    public var allowed: Set<DeviceAddress> = []
    /// The maximum number of simultaneous connections.
    public var connections = 3
    /// The time without a request from its owner after which a connection is closed.
    public var idle = Duration.seconds(300)
    /// Whether clients may pair with those devices, and remove bonds.
    public var allowsPairing = false

    /// Creates the default settings, which accept no requests.
    public init() {}
}

/// The settings of values that are read from devices at intervals.
public struct ReadSettings: Equatable, Sendable {
    /// The devices to read from. If empty, nothing is read.
    public var devices: [DeviceAddress] = []
    /// The characteristics to read, a subset of `ReadableValues.characteristics`.
    public var characteristics: [BluetoothUUID] = ["2A19"]
    /// The interval between two successful readings of a device. Defaults to one hour.
    public var interval = Duration.seconds(3600)

    /// Creates the default settings, which read from no device.
    public init() {}
}

/// The settings of the spool, in which messages wait while the broker is unreachable.
public struct SpoolSettings: Equatable, Sendable {
    /// The path of the file; nil for a file in the state directory.
    public var path: String?
    /// The maximum number of messages.
    public var messages = 100_000
    /// The maximum total length of their topics and payloads, in octets.
    public var octets = 64 << 20

    /// Creates the default settings: up to 100,000 messages and 64 MiB.
    public init() {}
}
