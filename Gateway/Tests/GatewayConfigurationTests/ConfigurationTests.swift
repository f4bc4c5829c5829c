import BluetoothBase
import GatewayConfiguration
import GatewayPipeline
import Testing

@Suite struct ConfigurationTests {
    /// 32 octets: 0, 1, 2 and so on.
    static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    @Test func everythingIsRead() throws {
        let configuration = try Configuration(
            yaml: """
                gateway: attic
                preset: theengs
                broker:
                  url: mqtts://broker.example
                  protocol: "5"
                  user: me
                  password_file: secret
                  client_id: x1
                  keep_alive: 20
                  longest_wait: 2.5
                  tls: {ca: ca.pem, certificate: me.pem, key: me.key}
                topics: {base: house, discovery: ha}
                adapters: [hci0, "tcp-client:localhost:6402"]
                scan: {active: no}
                filter:
                  allow: ["A4:C1:38:11:22:33"]
                  deny: "C0:00:00:00:00:01"
                  services: [FCD2]
                  companies: [0x0499, 76]
                  rssi: -80
                publish: {repeat: 5, average: 30, device_rate: 2, device_burst: 4, total_rate: 9, total_burst: 8, expire: 40, devices: 7}
                keys:
                  "54:48:E6:8F:80:A5": 231D39C1D7CC1AB1AEE224CD096DB932
                spool: {path: s.sqlite, messages: 100, megabytes: 2}
                remote: {allow: "A4:C1:38:11:22:33", connections: 2, idle: 60, pair: yes}
                read: {devices: "A4:C1:38:11:22:33", characteristics: [2A6E, 2a19], every: 60}
                esphome: {listen: "[::1]:99", key_file: key, pair: true}
                health: {interval: 5}
                """, gateway: "host", contents: { ["secret": "pass\n", "key": Self.key + "\n"][$0] })
        var expected = Configuration(gateway: "attic")
        expected.choose(.theengs)
        expected.topics.base = "house"
        expected.topics.discovery = "ha"
        var tls = BrokerSettings.TLS()
        (tls.authorities, tls.certificate, tls.key) = ("ca.pem", "me.pem", "me.key")
        var broker = BrokerSettings(host: "broker.example", port: 8883, tls: tls)
        (broker.version, broker.user, broker.password, broker.clientID) = (.v5, "me", "pass", "x1")
        broker.keepAlive = .seconds(20)
        broker.longestWait = .milliseconds(2500)
        expected.broker = broker
        expected.adapters = ["hci0", "tcp-client:localhost:6402"]
        expected.isScanActive = false
        expected.pipeline.filter.allowed = [DeviceAddress("A4:C1:38:11:22:33/P")!]
        expected.pipeline.filter.denied = [DeviceAddress("C0:00:00:00:00:01/R")!]
        expected.pipeline.filter.services = ["FCD2"]
        expected.pipeline.filter.companies = [0x0499, 76]
        expected.pipeline.filter.minimumRSSI = -80
        expected.pipeline.repetition = .seconds(5)
        expected.pipeline.averaging = .seconds(30)
        (expected.pipeline.deviceRate, expected.pipeline.deviceBurst) = (2, 4)
        (expected.pipeline.totalRate, expected.pipeline.totalBurst) = (9, 8)
        expected.pipeline.expiry = .seconds(40)
        expected.pipeline.capacity = 7
        expected.pipeline.keys = [
            DeviceAddress("54:48:E6:8F:80:A5")!: [UInt8](hexadecimal: "231D39C1D7CC1AB1AEE224CD096DB932")!
        ]
        expected.spool.path = "s.sqlite"
        (expected.spool.messages, expected.spool.octets) = (100, 2 << 20)
        expected.remote.allowed = [DeviceAddress("A4:C1:38:11:22:33/P")!]
        expected.remote.connections = 2
        expected.remote.idle = .seconds(60)
        expected.remote.allowsPairing = true
        expected.read.devices = [DeviceAddress("A4:C1:38:11:22:33/P")!]
        expected.read.characteristics = ["2A6E", "2A19"]
        expected.read.interval = .seconds(60)
        expected.esphome = ESPHomeSettings(listen: "[::1]:99")
        expected.esphome?.key = Array(0..<32)
        expected.esphome?.allowsPairing = true
        expected.healthInterval = .seconds(5)
        #expect(configuration == expected)
    }

    @Test func emptyFileIsTheDefault() throws {
        #expect(try Configuration(yaml: "", gateway: "host") == Configuration(gateway: "host"))
        #expect(try Configuration(yaml: "broker:\n", gateway: "host") == Configuration(gateway: "host"))
    }

    @Test(arguments: [
        ("gatway: x", "line 1, gatway: unknown member; expected one of"),
        ("gateway: a/b", "line 1, gateway: expected a name without"),
        ("preset: nice", "line 1, preset: expected one of homeassistant, theengs, raw"),
        ("broker:\n  url: http://x", "line 2, broker.url: expected mqtt://HOST"),
        ("broker: {user: x}", "broker.url: expected mqtt://HOST"),
        ("broker:\n  url: mqtt://x\n  tls: {ca: y}", "line 3, broker.tls.ca: TLS requires a URL that begins with"),
        ("broker:\n  url: mqtts://x\n  tls: {key: y}", "broker.tls.certificate: expected both a certificate and"),
        ("broker:\n  url: mqtt://x\n  password: y", "broker.user: expected a user"),
        ("broker:\n  url: mqtt://x\n  password_file: no", "line 3, broker.password_file: the file cannot be read"),
        ("filter:\n  allow:\n  - A4:C1:38:11:22:33\n  - nobody", "line 4, filter.allow[1]: expected an address"),
        ("filter: {rssi: 200}", "line 1, filter.rssi: expected a number from -127 to 20"),
        ("keys:\n  A4:C1:38:11:22:33: 00", "line 2, keys.A4:C1:38:11:22:33: expected 32 hexadecimal digits"),
        ("publish: {repeat: 600}", "publish.expire: expected at least twice publish.repeat"),
        ("publish: {total_rate: nan}", "line 1, publish.total_rate: expected a number from"),
        ("topics: {base: 'a/#'}", "line 1, topics.base: expected a topic prefix"),
        ("esphome: {listen: 6053}", "line 1, esphome.listen: expected :PORT or ADDRESS:PORT"),
        ("esphome: {listen: ':6053'}", "esphome.open: expected either a key, or open: true"),
        ("esphome: {open: true, key: \(key)}", "line 1, esphome.open: expected either a key, or open: true"),
        ("esphome: {key: AAEC}", "line 1, esphome.key: expected 32 octets in Base64"),
        ("esphome:\n  key_file: no", "line 2, esphome.key_file: the file cannot be read"),
        ("read: {devices: x}", "line 1, read.devices[0]: expected an address"),
        ("read: {characteristics: 2A37}", "read.characteristics[0]: expected one of 2A19, 2A6E, 2A26"),
        ("gateway: \"a\\u202eb\"", "line 1, gateway: expected a name without"),
        ("topics: {base: \"a/\\eb\"}", "line 1, topics.base: expected a topic prefix"),
        ("broker:\n  url: mqtt://x\n  client_id: \"a\\0b\"", "line 3, broker.client_id: expected a string without"),
        ("\"a\\e[31m\": 1", "line 1, \"a\\u001b[31m\": unknown member"),
        ("- a", "line 1: expected a mapping"),
        ("a: [", "not valid YAML"),
        ("gateway: x\ngateway: y", "a member appears twice"),
    ])
    func errorsNameTheirPlace(yaml: String, message: String) {
        #expect {
            _ = try Configuration(yaml: yaml, gateway: "host")
        } throws: { error in
            "\(error)".contains(message)
        }
    }

    @Test func topicsFollowThePresetUnlessTheyAreSaid() throws {
        var configuration = Configuration(gateway: "host")
        configuration.choose(.theengs)
        #expect(configuration.topics.base == "home")
        configuration.choose(.raw)
        #expect(configuration.topics.base == "ble")
        configuration = try Configuration(yaml: "topics: {base: house}", gateway: "host")
        configuration.choose(.theengs)
        #expect(configuration.topics.base == "house")
    }

    @Test(arguments: [
        ("mqtt://h", "h", 1883, false, nil as String?, nil as String?), ("mqtts://h", "h", 8883, true, nil, nil),
        ("mqtt://h:99/", "h", 99, false, nil, nil), ("mqtt://[::1]:99", "::1", 99, false, nil, nil),
        ("mqtt://[::1]", "::1", 1883, false, nil, nil), ("mqtt://u:p@x:y@h", "h", 1883, false, "u", "p@x:y"),
    ])
    func urls(url: String, host: String, port: UInt16, isSecure: Bool, user: String?, password: String?) throws {
        let settings = try #require(BrokerSettings(url: url))
        #expect(settings.host == host)
        #expect(settings.port == port)
        #expect((settings.tls != nil) == isSecure)
        #expect(settings.user == user)
        #expect(settings.password == password)
        let address = host.contains(":") ? "[\(host)]" : host
        #expect(settings.displayName == "\(isSecure ? "mqtts" : "mqtt")://\(address):\(port)")
    }

    @Test(arguments: [
        (":6053", "::", UInt16(6053)), ("127.0.0.1:1", "127.0.0.1", 1), ("[fe80::1]:65535", "fe80::1", 65_535),
    ])
    func places(text: String, host: String, port: UInt16) throws {
        let settings = try #require(ESPHomeSettings(listen: text))
        #expect((settings.host, settings.port) == (host, port))
        #expect(settings.key == nil)
        #expect(!settings.allowsPairing)
    }

    @Test(arguments: ["", "6053", ":", ":x", ":65536", "::1:6053", "host"])
    func noPlaces(text: String) {
        #expect(ESPHomeSettings(listen: text) == nil)
    }

    @Test(arguments: ["", "h", "mqtt://", "http://h", "mqtt://h:0", "mqtt://h:x", "mqtt://h/p"])
    func notURLs(url: String) {
        #expect(BrokerSettings(url: url) == nil)
    }
}
