import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost

/// How enhanced ATT bearers come about and end.
@Suite("Enhanced ATT bearers (Vol 3, Part F, 3.2.11 and Part G, 5.3)")
struct EnhancedBearerTests {
    var scene = EnhancedBearerScene()

    private static let reads = bytes("0400 08 0100 FFFF 3A2B"), readsClient = bytes("0400 08 0100 FFFF 292B")
    private static let asksForFirst = bytes("0500 17 01 0A00 2700 0502 0502 FF00 4000")
    private static let asksForSecond = bytes("0500 17 02 0A00 2700 0502 0502 FF00 4100")

    // MARK: - This host asks

    @Test("EATT: a client requests bearers once the link is encrypted and the server reports support")
    mutating func asked() throws {
        try scene.connect(isEncrypted: false)
        _ = try scene.start(.read(3))
        #expect(scene.sent() == [bytes("0400 0A 0300")])
        #expect(scene.receive("0B AA") == [])
        scene.encrypt()
        // What `encrypt` has sent is forgotten: it is the first question, asked again here.
        #expect(scene.receive("09 03 0F00 01") == [Self.readsClient])
        #expect(scene.receive("09 03 0B00 01") == [bytes("0400 12 0B00 07")])
        #expect(scene.receive("13") == [Self.asksForFirst])
        #expect(scene.bearers.isEmpty)
        #expect(scene.receive("18 01 0A00 0002 4000 0500 0000 5000", on: 0x05) == [Self.asksForSecond])
        #expect(scene.bearers.count == 1)
        #expect(scene.receive("18 02 0A00 0002 4000 0500 0000 5100", on: 0x05) == [])
        #expect(scene.bearers.count == 2)
        #expect(scene.controller.takeEvents() == [])
    }

    @Test(
        "EATT: a client requests no bearers if the server does not report support",
        arguments: ["09 03 0F00 02", "09 03 0F00 FE", "09 02 0F00", "01 08 0100 0A", "01 08 0100 02"])
    mutating func notOffered(_ answer: String) throws {
        try scene.connect()
        _ = try scene.start(.read(3))
        #expect(scene.sent() == [bytes("0400 0A 0300")])
        #expect(scene.receive("0B AA") == [Self.reads])
        #expect(scene.receive(answer) == [])
        // Never again on this link.
        _ = try scene.start(.read(3))
        #expect(scene.sent() == [bytes("0400 0A 0300")])
    }

    @Test(
        "EATT: bearers are requested even if Client Supported Features is missing or already set",
        arguments: ["01 08 0100 0A", "09 03 0B00 06", "09 04 0B00 0704"])
    mutating func withoutClientFeatures(_ answer: String) throws {
        try scene.connect()
        _ = try scene.start(.read(3))
        scene.receive("0B AA")
        #expect(scene.receive("09 03 0F00 01") == [Self.readsClient])
        #expect(scene.receive(answer) == [Self.asksForFirst])
    }

    @Test("EATT: one bit of Client Supported Features is set, and bearers are requested even if that is refused")
    mutating func refusedClientFeatures() throws {
        try scene.connect()
        _ = try scene.start(.read(3))
        scene.receive("0B AA")
        scene.receive("09 03 0F00 01")
        #expect(scene.receive("09 04 0B00 05FF") == [bytes("0400 12 0B00 07FF")])
        #expect(scene.receive("01 12 0B00 13") == [Self.asksForFirst])
    }

    @Test("EATT: no bearers are requested before the peer's server is used, or on an unencrypted link")
    mutating func notUsed() throws {
        try scene.connect()
        #expect(scene.sent() == [])
        scene = EnhancedBearerScene()
        try scene.connect(isEncrypted: false)
        _ = try scene.start(.read(3))
        _ = scene.sent()
        #expect(scene.receive("0B AA") == [])
    }

    @Test("EATT: a peer that grants only one bearer is not asked again for a second")
    mutating func oneGranted() throws {
        try scene.connect()
        try ask()
        #expect(scene.receive("18 01 0A00 0002 4000 0500 0000 5000", on: 0x05) == [Self.asksForSecond])
        // It did not ask at the same time, so it has no more than that.
        #expect(scene.receive("18 02 0A00 0000 0000 0000 0400 0000", on: 0x05) == [])
        #expect(scene.bearers.count == 1)
    }

    @Test("EATT: a peer that closes each bearer as the next one opens is asked four times in all")
    mutating func closedAgainAndAgain() throws {
        try scene.connect()
        try ask()
        #expect(scene.receive("18 01 0A00 0002 4000 0500 0000 5000", on: 0x05) == [Self.asksForSecond])
        scene.receive("06 07 0400 4000 5000", on: 0x05)
        #expect(
            scene.receive("18 02 0A00 0002 4000 0500 0000 5100", on: 0x05)
                == [bytes("0500 17 03 0A00 2700 0502 0502 FF00 4000")])
        scene.receive("06 08 0400 4100 5100", on: 0x05)
        #expect(
            scene.receive("18 03 0A00 0002 4000 0500 0000 5000", on: 0x05)
                == [bytes("0500 17 04 0A00 2700 0502 0502 FF00 4100")])
        scene.receive("06 09 0400 4000 5000", on: 0x05)
        #expect(scene.receive("18 04 0A00 0002 4000 0500 0000 5100", on: 0x05) == [])
        #expect(scene.bearers.count == 1)
    }

    private mutating func ask() throws {
        _ = try scene.start(.read(3))
        scene.receive("0B AA")
        scene.receive("09 03 0F00 01")
        #expect(scene.receive("01 08 0100 0A") == [Self.asksForFirst])
    }

    // MARK: - The peer asks

    @Test("EATT: Server Supported Features reports enhanced bearers only on an encrypted link")
    mutating func features() throws {
        try scene.connect(isEncrypted: false)
        #expect(scene.receive("08 0100 FFFF 3A2B") == [bytes("0400 09 03 0F00 00")])
        #expect(scene.receive("0A 0F00") == [bytes("0400 0B 00")])
        scene.encrypt()
        #expect(scene.receive("0A 0F00") == [bytes("0400 0B 01")])
        #expect(scene.receive("0C 0F00 0100") == [bytes("0400 0D")])
    }

    @Test("EATT: this host publishes Server Supported Features, and accepts bearers")
    mutating func accepted() throws {
        try scene.connect()
        #expect(scene.receive("08 0100 FFFF 3A2B") == [bytes("0400 09 03 0F00 01")])
        #expect(
            scene.receive("17 01 0C00 2700 4000 4000 0500 5000 5100", on: 0x05)
                == [bytes("0500 18 01 0C00 0502 0502 FF00 0000 4000 4100")])
        #expect(scene.bearers.count == 2)
        #expect(scene.controller.host.enhancedBearerCount(of: scene.link) == 2)
        // ATT_MTU is the smaller MTU.
        let endpoint = scene.controller.host.links.at[0].endpoint
        #expect(scene.bearers.compactMap { endpoint.bearer(of: $0)?.mtu } == [64, 64])
    }

    @Test("EATT: this host accepts no more bearers than configured, at once or one after the other")
    mutating func limited() throws {
        try scene.connect()
        #expect(
            scene.receive("17 01 0E00 2700 4000 4000 0500 5000 5100 5200", on: 0x05)
                == [bytes("0500 18 01 0E00 0502 0502 FF00 0400 4000 4100 0000")])
        #expect(
            scene.receive("17 02 0A00 2700 4000 4000 0500 5300", on: 0x05)
                == [bytes("0500 18 02 0A00 0000 0000 0000 0400 0000")])
        #expect(scene.bearers.count == 2)
    }

    @Test("EATT: bearers are refused without encryption")
    mutating func unencrypted() throws {
        try scene.connect(isEncrypted: false)
        let request = "17 01 0A00 2700 4000 4000 0500 5000"
        // There is a bond: encryption will do.
        #expect(scene.receive(request, on: 0x05) == [bytes("0500 18 01 0A00 0000 0000 0000 0800 0000")])
        var other = SecurityTests.ready()
        _ = try other.connect(to: DeviceAddress(0xC0_FF_EE_00_00_02, kind: .public))
        other.receiveFrame(bytes(request), on: 0x05)
        #expect(other.takeData() == [bytes("4000 1200 0E00 0500 18 01 0A00 0000 0000 0000 0500 0000")])
    }

    @Test("EATT: bearers on LE credit-based channels, or with an MTU below 64 octets, are refused")
    mutating func otherMode() throws {
        try scene.connect()
        #expect(
            scene.receive("14 01 0A00 2700 5000 0002 0002 0500", on: 0x05)
                == [bytes("0500 15 01 0A00 0000 0000 0000 0000 0200")])
        #expect(
            scene.receive("17 02 0A00 2700 3F00 4000 0500 5000", on: 0x05)
                == [bytes("0500 18 02 0A00 0000 0000 0000 0C00 0000")])
        #expect(scene.bearers.isEmpty)
    }

    @Test(
        "EATT: a host without bearers or security in its configuration neither offers nor requests bearers",
        arguments: [true, false])
    func off(_ hasSecurity: Bool) throws {
        var scene = EnhancedBearerScene(bearers: hasSecurity ? 0 : 2) { if !hasSecurity { $0.security = nil } }
        try scene.connect(isEncrypted: hasSecurity)
        #expect(scene.receive("08 0100 FFFF 3A2B") == [bytes("0400 01 08 0100 0A")])
        #expect(
            scene.receive("17 01 0A00 2700 4000 4000 0500 5000", on: 0x05)
                == [bytes("0500 18 01 0A00 0000 0000 0000 0200 0000")])
        _ = try scene.start(.read(3))
        #expect(scene.sent() == [bytes("0400 0A 0300")])
        #expect(scene.receive("0B AA") == [])
    }

    // MARK: - Both ask

    /// Both have one bearer and ask for another at once, and refuse each other.
    private mutating func collide() throws {
        scene.open(1)
        _ = try scene.start(.read(3))
        scene.receive("0B AA")
        scene.receive("09 03 0F00 01")
        #expect(scene.receive("01 08 0100 0A") == [bytes("0500 17 01 0A00 2700 0502 0502 FF00 4100")])
        #expect(
            scene.receive("17 02 0A00 2700 0002 4000 0500 5100", on: 0x05)
                == [bytes("0500 18 02 0A00 0000 0000 0000 0400 0000")])
    }

    @Test("EATT: after a collision of requests, the central retries at once while it has requests left")
    mutating func collisionAsCentral() throws {
        try scene.connect()
        try collide()
        for identifier in ["02", "03", "04"] {
            let asksAgain = scene.receive(
                "18 \(previous(identifier)) 0A00 0000 0000 0000 0400 0000", on: 0x05)
            #expect(asksAgain == [bytes("0500 17 \(identifier) 0A00 2700 0502 0502 FF00 4100")])
            scene.receive("17 \(identifier) 0A00 2700 0002 4000 0500 5100", on: 0x05)
        }
        #expect(scene.receive("18 04 0A00 0000 0000 0000 0400 0000", on: 0x05) == [])
        // What the peer asks for now it gets.
        #expect(scene.bearers.count == 1)
        scene.receive("17 05 0A00 2700 0002 4000 0500 5100", on: 0x05)
        #expect(scene.bearers.count == 2)
    }

    private func previous(_ identifier: String) -> String {
        hexadecimal((UInt8(identifier, radix: 16) ?? 1) - 1)
    }

    @Test("EATT: after a collision of requests, the peripheral waits before it retries")
    mutating func collisionAsPeripheral() throws {
        try scene.accept()
        try collide()
        #expect(scene.receive("18 01 0A00 0000 0000 0000 0400 0000", on: 0x05) == [])
        scene.controller.run(for: .milliseconds(99))
        #expect(scene.sent() == [])
        scene.controller.run(for: .milliseconds(1))
        #expect(scene.sent() == [bytes("0500 17 02 0A00 2700 0502 0502 FF00 4100")])
    }

    @Test("EATT: after a collision, a peripheral that has all its bearers by then does not retry")
    mutating func collisionSettled() throws {
        try scene.accept()
        try collide()
        #expect(scene.receive("18 01 0A00 0000 0000 0000 0400 0000", on: 0x05) == [])
        scene.receive("17 03 0A00 2700 0002 4000 0500 5100", on: 0x05)
        #expect(scene.bearers.count == 2)
        scene.controller.run(for: .milliseconds(100))
        #expect(scene.sent() == [])
    }

    // MARK: - The end

    @Test("EATT: if the peer closes a bearer, the bearer's operations fail and the link stays")
    mutating func closed() throws {
        try scene.connect()
        scene.open(2)
        let bearer = scene.bearers[0]
        _ = try scene.start(.write(3, [1]), on: bearer)
        _ = try scene.start(.read(3), on: bearer)
        #expect(scene.sent().first == bytes("5000 0400 12 0300 01"))
        #expect(scene.receive("06 02 0400 4000 5000", on: 0x05) == [bytes("0500 07 02 0400 4000 5000")])
        #expect(
            scene.controller.takeEvents() == [
                "lost: \(LinkLoss.bearerClosed)", "operation failed: \(GATTClientError.bearerClosed)",
                "operation failed: \(GATTClientError.notBegun)",
            ])
        #expect(scene.bearers.count == 1)
        #expect(throws: HostError.client(.disconnected)) { try scene.start(.read(3), on: bearer) }
        #expect(!scene.controller.host.isOpen(bearer, on: scene.link))
    }

    @Test("EATT: a request that is not answered within 30 s closes its bearer, and only that")
    mutating func timedOut() throws {
        try scene.connect()
        scene.open(2)
        _ = try scene.start(.read(3), on: scene.bearers[0])
        _ = try scene.start(.read(4), on: scene.bearers[0])
        // The question about the peer's features.
        scene.receive("01 08 0100 0A")
        _ = scene.sent()
        scene.controller.run(for: .seconds(30))
        #expect(scene.sent() == [bytes("0500 06 01 0400 5000 4000")])
        #expect(
            scene.controller.takeEvents() == [
                "lost: \(LinkLoss.bearerClosed)", "operation failed: \(GATTClientError.transactionTimedOut)",
                "operation failed: \(GATTClientError.notBegun)",
            ])
        #expect(scene.controller.host.faults[.enhancedBearerExpired] == 1)
        #expect(scene.bearers.count == 1)
        #expect(scene.receive("0A 0300").count == 1)
    }

    @Test("EATT: bearers are closed when their link's encryption ends")
    mutating func encryptionEnded() throws {
        try scene.connect()
        scene.open(2)
        scene.controller.receive(EncryptionChange(status: .success, connectionHandle: 0x40, encryption: .off))
        #expect(scene.sent() == [bytes("0500 06 01 0400 5000 4000"), bytes("0500 06 02 0400 5100 4100")])
        #expect(scene.bearers.isEmpty)
    }

    @Test("EATT: bearers end with their link, without further events")
    mutating func linkEnded() throws {
        try scene.connect()
        scene.open(2)
        _ = try scene.start(.read(3), on: scene.bearers[0])
        scene.controller.reportDisconnection()
        #expect(
            scene.controller.takeEvents().filter { !$0.hasPrefix("bond") } == [
                "operation failed: \(GATTClientError.disconnected)", "disconnected link 0.1: 8",
            ])
    }

    @Test("EATT: the MTU grows when the peer reconfigures a bearer")
    mutating func reconfigured() throws {
        try scene.connect()
        scene.open(2, mtu: "4000")
        #expect(
            scene.receive("19 02 0600 0001 0001 5000", on: 0x05) == [bytes("0500 1A 02 0200 0000")])
        let endpoint = scene.controller.host.links.at[0].endpoint
        #expect(scene.bearers.compactMap { endpoint.bearer(of: $0)?.mtu } == [256, 64])
        #expect(scene.controller.takeEvents() == [])
    }
}
