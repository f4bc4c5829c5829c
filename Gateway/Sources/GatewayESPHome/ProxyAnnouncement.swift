/// The DNS-SD announcement of a proxy: an instance of `_esphomelib._tcp`, as for ESPHome's boards.
public struct ProxyAnnouncement: Equatable, Sendable {
    /// The DNS-SD service type of ESPHome's native API.
    public static let service = "_esphomelib._tcp"
    /// The name of the instance, by which clients tell proxies apart.
    public var name: String
    /// The TCP port of the API.
    public var port: UInt16
    /// The TXT record, which clients can read before they connect (RFC 6763, 6).
    public var records: [(key: String, value: String)]

    /// Whether the names, the ports and the TXT records, including their order, are equal.
    public static func == (first: Self, second: Self) -> Bool {
        first.name == second.name && first.port == second.port
            && first.records.map { [$0.key, $0.value] } == second.records.map { [$0.key, $0.value] }
    }

    /// Creates the announcement of a proxy. If the API is encrypted, a TXT record names the protocol of its handshake.
    public init(_ identity: ProxyIdentity, port: UInt16, isEncrypted: Bool) {
        // A label of a domain name has at most 63 octets.
        name = String(identity.name.prefix(63))
        self.port = port
        records = [
            ("mac", identity.addressDigits.lowercased()), ("friendly_name", identity.friendlyName),
            ("version", ProxyIdentity.interface), ("network", "ethernet"),
            ("project_name", ProxyIdentity.project), ("project_version", identity.version),
        ]
        if isEncrypted { records.append(("api_encryption", NoiseResponder.protocolName)) }
    }

    /// The service file for Avahi that announces the proxy (avahi.service(5)).
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

    /// Escapes text for XML. The gateway's name may contain any character. Control characters, which XML does not
    /// allow, are removed.
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
