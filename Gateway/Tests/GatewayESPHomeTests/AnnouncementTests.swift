import Testing
@testable import GatewayESPHome

@Suite struct AnnouncementTests {
    @Test func serviceFile() {
        let identity = ProxyIdentity(gateway: "Attic <2>\u{1B}", version: "1.0")
        let file = ProxyAnnouncement(identity, port: 6053, isEncrypted: true).serviceFile
        #expect(
            file == """
                <?xml version="1.0" standalone="no"?>
                <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
                <service-group>
                  <name>attic--2--</name>
                  <service>
                    <type>_esphomelib._tcp</type>
                    <port>6053</port>
                    <txt-record>mac=\(identity.addressDigits.lowercased())</txt-record>
                    <txt-record>friendly_name=Attic &lt;2&gt;</txt-record>
                    <txt-record>version=\(ProxyIdentity.interface)</txt-record>
                    <txt-record>network=ethernet</txt-record>
                    <txt-record>project_name=swift-bluetooth-le.ble-gateway</txt-record>
                    <txt-record>project_version=1.0</txt-record>
                    <txt-record>api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256</txt-record>
                  </service>
                </service-group>

                """)
    }

    @Test func openPort() {
        let open = ProxyAnnouncement(ProxyIdentity(gateway: "a", version: "1.0"), port: 1, isEncrypted: false)
        #expect(!open.records.contains { $0.key == "api_encryption" })
        #expect(open != ProxyAnnouncement(ProxyIdentity(gateway: "a", version: "1.0"), port: 1, isEncrypted: true))
    }
}
