/// How a proxy is announced in a network by DNS-SD, as ESPHome's boards are: an instance of `_esphomelib._tcp`.
public struct ProxyAnnouncement: Equatable, Sendable {
    public static let service = "_esphomelib._tcp"
    /// The instance, by which clients tell proxies apart.
    public var name: String
    public var port: UInt16
    /// What is known of it before anybody connects (RFC 6763, 6).
    public var records: [(key: String, value: String)]

    public static func == (first: Self, second: Self) -> Bool {
        first.name == second.name && first.port == second.port
            && first.records.map { [$0.key, $0.value] } == second.records.map { [$0.key, $0.value] }
    }

    public init(_ identity: ProxyIdentity, port: UInt16, isEncrypted: Bool) {
        // No label of a domain name is longer.
        name = String(identity.name.prefix(63))
        self.port = port
        records = [
            ("mac", identity.addressDigits.lowercased()), ("friendly_name", identity.friendlyName),
            ("version", ProxyIdentity.interface), ("network", "ethernet"),
            ("project_name", ProxyIdentity.project), ("project_version", identity.version),
        ]
        if isEncrypted { records.append(("api_encryption", NoiseResponder.protocolName)) }
    }

    /// The service file of Avahi that announces it (avahi.service(5)).
    public var serviceFile: String {
        """
        <?xml version="1.0" standalone="no"?>
        <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
        <service-group>
          <name>\(Self.escaped(name))</name>
          <service>
            <type>\(Self.service)</type>
            <port>\(port)</port>
        \(records.map { "    <txt-record>\(Self.escaped("\($0.key)=\($0.value)"))</txt-record>" }.joined(separator: "\n"))
          </service>
        </service-group>

        """
    }

    /// Text in XML. The gateway's name may contain anything; what XML cannot hold is left out.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case _ where scalar.properties.generalCategory == .control: ""
            default: String(scalar)
            }
        }.joined()
    }
}
