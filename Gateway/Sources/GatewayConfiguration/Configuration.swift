import BluetoothBase
import Foundation
import GatewayPipeline

/// What a gateway is to do: what its file says, and the defaults for what it does not.
public struct Configuration: Equatable, Sendable {
    public var topics: Topics
    public var preset = PresetName.homeassistant
    public var broker: BrokerSettings?
    /// The adapters to scan with, as names of transports or of adapters; all of the machine if empty.
    public var adapters: [String] = []
    /// Whether devices are asked for their scan response.
    public var isScanActive = true
    public var pipeline = PipelineSettings()
    public var spool = SpoolSettings()
    public var remote = RemoteSettings()
    public var read = ReadSettings()
    /// ESPHome's native API; nil if it is not served.
    public var esphome: ESPHomeSettings?
    /// How often the gateway tells how it is.
    public var healthInterval = Duration.seconds(60)

    /// - Parameter gateway: the name of this gateway.
    public init(gateway: String) {
        topics = Topics(gateway: gateway)
        choose(.homeassistant)
    }

    /// Sets the preset and what follows from it.
    public mutating func choose(_ preset: PresetName) {
        if topics.base == self.preset.base { topics.base = preset.base }
        self.preset = preset
        pipeline.comparison = preset.comparison
        pipeline.tellsUndecoded = preset.tellsUndecoded
    }
}

/// Where the broker is, and how it is spoken to.
public struct BrokerSettings: Equatable, Sendable {
    /// The versions of MQTT.
    public enum Version: String, Sendable, CaseIterable {
        case v311 = "3.1.1"
        case v5 = "5"
    }

    public struct TLS: Equatable, Sendable {
        /// A file with the certificates of authorities; the system's if nil.
        public var authorities: String?
        /// A file with this gateway's certificate.
        public var certificate: String?
        /// A file with the key of that certificate.
        public var key: String?

        public init() {}
    }

    public var host: String
    public var port: UInt16
    public var tls: TLS?
    public var version = Version.v311
    public var user: String?
    public var password: String?
    /// By default made of the gateway's name.
    public var clientID: String?
    public var keepAlive = Duration.seconds(30)
    /// The longest wait between attempts to connect.
    public var longestWait = Duration.seconds(60)

    public init(host: String, port: UInt16, tls: TLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }

    /// Reads `mqtt://[USER[:PASSWORD]@]HOST[:PORT]`, or `mqtts:` for TLS. Nil if it is something else.
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

    /// The broker as it may be shown: without its password.
    public var displayName: String {
        "\(tls == nil ? "mqtt" : "mqtts")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// ESPHome's native API, as a Bluetooth proxy speaks it.
public struct ESPHomeSettings: Equatable, Sendable {
    public var host: String
    public var port: UInt16
    /// The 32 octets that clients have to know; nil lets everybody in.
    public var key: [UInt8]?
    /// Whether clients may pair with devices, and remove bonds.
    public var allowsPairing = false

    /// Reads `HOST:PORT`, or `:PORT` for all addresses of the machine. Nil if it is something else.
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

    /// Reads a key of 32 octets in Base64, as ESPHome writes them. Nil if it is none.
    public static func key(_ text: some StringProtocol) -> [UInt8]? {
        guard let data = Data(base64Encoded: String(text.filter { !$0.isWhitespace })), data.count == 32 else {
            return nil
        }
        return Array(data)
    }
}

/// Connections on behalf of whoever asks by way of the broker.
public struct RemoteSettings: Equatable, Sendable {
    /// The devices that may be connected to. Without any, nobody can ask for anything.
    public var allowed: Set<DeviceAddress> = []
    /// How many connections there are at a time.
    public var connections = 3
    /// After what time without a request of its owner a connection ends.
    public var idle = Duration.seconds(300)
    /// Whether somebody may pair with those devices, and remove bonds.
    public var allowsPairing = false

    public init() {}
}

/// Values that are read from devices at intervals.
public struct ReadSettings: Equatable, Sendable {
    /// The devices; nothing is read without any.
    public var devices: [DeviceAddress] = []
    /// Which values, some of `ReadableValues.characteristics`.
    public var characteristics: [BluetoothUUID] = ["2A19"]
    public var interval = Duration.seconds(3600)

    public init() {}
}

/// Where messages wait for a broker that is away.
public struct SpoolSettings: Equatable, Sendable {
    /// The file; nil for a place in the state directory.
    public var path: String?
    /// How many messages are kept.
    public var messages = 100_000
    /// How many octets their topics and payloads may have together.
    public var octets = 64 << 20

    public init() {}
}
