import BluetoothBase
import GatewayPipeline
import Yams

extension Configuration {
    /// Reads a configuration from the text of a file. `Gateway/README.md` documents the members.
    ///
    /// - Parameters:
    ///   - gateway: the gateway's name, unless the file contains one.
    ///   - contents: returns the text of a file that the configuration refers to, or nil if it cannot be read.
    /// - Throws: an error that describes the problem and its location in the file.
    public init(
        yaml: String, gateway: String, contents: (String) -> String? = { _ in nil }
    ) throws(ConfigurationError) {
        self.init(gateway: gateway)
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch let error as YamlError {
            throw ConfigurationError(path: "", line: error.line, reason: "not valid YAML: \(error.problem)")
        } catch {
            throw ConfigurationError(path: "", reason: "not valid YAML")
        }
        // An empty file sets nothing.
        guard let root else { return }
        var reader = try ConfigurationReader(root, path: "")
        if let name = try reader.text("gateway") { topics.gateway = name }
        guard Topics.isLevel(topics.gateway) else {
            throw reader.error("gateway", "expected a name without / + # $, at most 64 octets long")
        }
        try readTopics(&reader)
        try reader.section("broker") { section throws(ConfigurationError) in
            broker = try BrokerSettings(&section, contents)
        }
        adapters = try reader.list("adapters", "the name of an adapter", limit: 32) { $0.isEmpty ? nil : $0 } ?? []
        try reader.section("scan") { scan throws(ConfigurationError) in
            isScanActive = try scan.flag("active") ?? isScanActive
        }
        try reader.section("filter") { filter throws(ConfigurationError) in try pipeline.filter.read(&filter) }
        try reader.section("publish") { publish throws(ConfigurationError) in try pipeline.read(&publish) }
        try readKeys(&reader)
        try reader.section("spool") { spool throws(ConfigurationError) in
            self.spool.path = try spool.text("path")
            self.spool.messages = try spool.integer("messages", in: 100...100_000_000) ?? self.spool.messages
            if let megabytes = try spool.integer("megabytes", in: 1...100_000) { self.spool.octets = megabytes << 20 }
        }
        try reader.section("remote") { section throws(ConfigurationError) in
            remote.allowed = Set(
                try section.list("allow", "an address", limit: 1000, DeviceAddress.init(configured:)) ?? [])
            remote.connections = try section.integer("connections", in: 1...32) ?? remote.connections
            remote.idle = try section.duration("idle", in: 1...86_400) ?? remote.idle
            remote.allowsPairing = try section.flag("pair") ?? remote.allowsPairing
        }
        try reader.section("read") { section throws(ConfigurationError) in try read.read(&section) }
        try reader.section("esphome") { section throws(ConfigurationError) in
            esphome = try ESPHomeSettings(&section, contents)
        }
        try reader.section("health") { health throws(ConfigurationError) in
            healthInterval = try health.duration("interval", in: 1...3600) ?? healthInterval
        }
        try reader.finish()
        // Otherwise Home Assistant would consider a value expired before the gateway repeats it.
        guard pipeline.expiry >= pipeline.repetition * 2 else {
            throw ConfigurationError(
                path: "publish.expire",
                reason: "expected at least twice publish.repeat; otherwise values expire between repetitions")
        }
    }

    private mutating func readTopics(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        if let name = try reader.text("preset") {
            guard let preset = PresetName(rawValue: name) else {
                let names = PresetName.allCases.map(\.rawValue).joined(separator: ", ")
                throw reader.error("preset", "expected one of \(names)")
            }
            choose(preset)
        }
        try reader.section("topics") { section throws(ConfigurationError) in
            if let base = try section.text("base") { topics.base = base }
            if let discovery = try section.text("discovery") { topics.discovery = discovery }
            guard Topics.isPrefix(topics.base) else {
                throw section.error("base", "expected a topic prefix without + and #")
            }
            guard Topics.isPrefix(topics.discovery) else {
                throw section.error("discovery", "expected a topic prefix without + and #")
            }
        }
    }

    private mutating func readKeys(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        for (name, text, line) in try reader.texts("keys") ?? [] {
            let path = "keys.\(name)"
            guard let address = DeviceAddress(name) else {
                throw ConfigurationError(path: path, line: line, reason: "expected an address as the name")
            }
            guard let key = [UInt8](hexadecimal: text), key.count == 16 else {
                throw ConfigurationError(path: path, line: line, reason: "expected 32 hexadecimal digits")
            }
            pipeline.keys[address] = key
        }
    }
}

extension BrokerSettings {
    fileprivate init(
        _ reader: inout ConfigurationReader, _ contents: (String) -> String?
    ) throws(ConfigurationError) {
        guard let url = try reader.text("url"), let settings = BrokerSettings(url: url) else {
            throw reader.error("url", "expected mqtt://HOST, mqtt://HOST:PORT or mqtts://…")
        }
        self = settings
        if let name = try reader.text("protocol") {
            guard let version = Version(rawValue: name) else {
                throw reader.error("protocol", "expected 5 or 3.1.1")
            }
            self.version = version
        }
        if let user = try reader.text("user") { self.user = user }
        if let password = try reader.text("password") { self.password = password }
        if let path = try reader.text("password_file") {
            guard let text = contents(path) else { throw reader.error("password_file", "the file cannot be read") }
            password = String(text.prefix { !$0.isNewline })
        }
        if password != nil, user == nil { throw reader.error("user", "expected a user for the password") }
        clientID = try reader.text("client_id")
        if let interval = try reader.integer("keep_alive", in: 5...3600) { keepAlive = .seconds(interval) }
        longestWait = try reader.duration("longest_wait", in: 0.1...3600) ?? longestWait
        try reader.section("tls") { section throws(ConfigurationError) in
            guard tls != nil else { throw section.error("ca", "TLS requires a URL that begins with mqtts:") }
            tls?.authorities = try section.text("ca")
            tls?.certificate = try section.text("certificate")
            tls?.key = try section.text("key")
            guard (tls?.certificate == nil) == (tls?.key == nil) else {
                throw section.error("certificate", "expected both a certificate and its key, or neither")
            }
        }
    }
}

extension ReadSettings {
    fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        devices = try reader.list("devices", "an address", limit: 1000, DeviceAddress.init(configured:)) ?? []
        let known = ReadableValues.characteristics
        let names = known.map { "\($0)" }.joined(separator: ", ")
        let chosen = try reader.list("characteristics", "one of \(names)", limit: 32) { text in
            BluetoothUUID(text).flatMap { known.contains($0) ? $0 : nil }
        }
        characteristics = chosen ?? characteristics
        interval = try reader.duration("every", in: 1...604_800) ?? interval
    }
}

extension ESPHomeSettings {
    fileprivate init(
        _ reader: inout ConfigurationReader, _ contents: (String) -> String?
    ) throws(ConfigurationError) {
        guard let settings = ESPHomeSettings(listen: try reader.text("listen") ?? ":6053") else {
            throw reader.error("listen", "expected :PORT or ADDRESS:PORT")
        }
        self = settings
        let expected = "expected 32 octets in Base64; create them with openssl rand -base64 32"
        if let text = try reader.text("key") {
            guard let key = Self.key(text) else { throw reader.error("key", expected) }
            self.key = key
        }
        if let path = try reader.text("key_file") {
            guard let text = contents(path) else { throw reader.error("key_file", "the file cannot be read") }
            guard let key = Self.key(text.prefix { !$0.isNewline }) else { throw reader.error("key_file", expected) }
            self.key = key
        }
        let isOpen = try reader.flag("open") ?? false
        guard isOpen == (key == nil) else {
            throw reader.error("open", "expected either a key, or open: true for an API without a key")
        }
        allowsPairing = try reader.flag("pair") ?? false
    }
}

extension DeviceFilter {
    fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        allowed = Set(try reader.list("allow", "an address", DeviceAddress.init(configured:)) ?? [])
        denied = Set(try reader.list("deny", "an address", DeviceAddress.init(configured:)) ?? [])
        services = Set(try reader.list("services", "a UUID") { BluetoothUUID($0) } ?? [])
        companies = Set(
            try reader.list("companies", "a company identifier, such as 0x0499") {
                UInt16($0.hasPrefix("0x") ? $0.dropFirst(2) : Substring($0), radix: $0.hasPrefix("0x") ? 16 : 10)
            } ?? [])
        minimumRSSI = try reader.integer("rssi", in: -127...20).map { Int8($0) }
    }
}

extension DeviceAddress {
    fileprivate init?(configured text: String) {
        guard let address = DeviceAddress(text) else { return nil }
        self = address.plain
    }
}

extension PipelineSettings {
    fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        repetition = try reader.duration("repeat", in: 1...86_400) ?? repetition
        if let window = try reader.duration("average", in: 0...3600) { averaging = window == .zero ? nil : window }
        deviceRate = try reader.number("device_rate", in: 0.001...1000) ?? deviceRate
        deviceBurst = try reader.integer("device_burst", in: 1...10_000) ?? deviceBurst
        totalRate = try reader.number("total_rate", in: 0.1...1_000_000) ?? totalRate
        totalBurst = try reader.integer("total_burst", in: 1...1_000_000) ?? totalBurst
        expiry = try reader.duration("expire", in: 2...604_800) ?? expiry
        capacity = try reader.integer("devices", in: 1...1_000_000) ?? capacity
    }
}

extension YamlError {
    fileprivate var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        case .duplicatedKeysInMapping(_, let context): context.mark.line
        default: nil
        }
    }

    fileprivate var problem: String {
        switch self {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _): problem
        case .duplicatedKeysInMapping: "a member appears twice"
        default: "it cannot be parsed"
        }
    }
}
