import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

/// Encryption, bonds and pairing as the controller and the peer see them. The names give the rows of
/// `Documentation/Security.md` and of the lists of inputs that broke other stacks.
@Suite("Security of links")
struct SecurityTests {
    static let key: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100

    static func ready(_ configure: (inout HostConfiguration) -> Void = { _ in }) -> ScriptedController {
        ScriptedController.ready { configuration in
            configuration.security = SecurityConfiguration(
                crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
            configure(&configuration)
        }
    }

    static let strength = KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16)
    static let legacyStrength = KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16)

    /// A bond with the peer that scripts use.
    static func bond(_ strength: KeyStrength = strength) -> Bond {
        Bond(
            peer: PeerID(ScriptedController.peer), address: ScriptedController.peer,
            centralKey: LongTermKey(key: key), peripheralKey: LongTermKey(key: key), strength: strength)
    }

    /// A host with such a bond.
    static func bonded(_ strength: KeyStrength = strength) -> ScriptedController {
        var controller = ready()
        controller.host.restore(bond(strength), at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        return controller
    }

    static let keyOctets = (0..<16).map { UInt8($0) }

    private func encryptionChange(
        _ controller: inout ScriptedController, _ status: HCIStatus = .success, handle: ConnectionHandle = 0x40
    ) {
        controller.receive(
            EncryptionChange(status: status, connectionHandle: handle, encryption: status == .success ? .on : .off))
    }

    // MARK: - Requests for a key

    @Test(
        "S4: a request for a missing key is refused",
        arguments: [(UInt64(0), UInt16(0)), (0x1122_3344_5566_7788, 0x9ABC)])
    func noKey(_ random: UInt64, _ diversifier: UInt16) throws {
        var controller = Self.ready()
        _ = try controller.accept()
        controller.receive(
            LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: random, encryptedDiversifier: diversifier))
        #expect(controller.commands == [.init(opcode: .leLongTermKeyRequestNegativeReply, parameters: [0x41, 0])])
    }

    static let strengths: [KeyStrength] = [.justWorks, .passkeyEntry].map {
        KeyStrength(model: $0, usesSecureConnections: true, keySize: 16)
    }

    @Test(
        "A bonded central gets its key, and the link its level once the controller reports encryption",
        arguments: strengths)
    func bondedCentral(_ strength: KeyStrength) throws {
        var controller = Self.bonded(strength)
        let link = try controller.accept()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        #expect(
            controller.commands
                == [.init(opcode: .leLongTermKeyRequestReply, parameters: [0x41, 0] + Self.keyOctets)])
        // S18: until then the old level counts.
        #expect(controller.host.information(of: link)?.security.isEncrypted == false)
        encryptionChange(&controller, handle: 0x41)
        let security = try #require(controller.host.information(of: link)?.security)
        #expect(
            security
                == LinkSecurity(
                    isEncrypted: true, isAuthenticated: strength.isAuthenticated, usesSecureConnections: true,
                    encryptionKeySize: 16, isBonded: true))
    }

    @Test("S4: a bonded central that names another key gets none", arguments: [(UInt64(1), UInt16(0)), (0, 1)])
    func wrongDiversifier(_ random: UInt64, _ diversifier: UInt16) throws {
        var controller = Self.bonded()
        _ = try controller.accept()
        controller.receive(
            LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: random, encryptedDiversifier: diversifier))
        #expect(controller.commands == [.init(opcode: .leLongTermKeyRequestNegativeReply, parameters: [0x41, 0])])
    }

    @Test("S4: encryption without a key from this host raises no security level")
    func unexpectedEncryption() throws {
        var controller = Self.ready()
        let link = try controller.connect()
        encryptionChange(&controller)
        #expect(controller.host.information(of: link)?.security == .unprotected)
        #expect(controller.host.faults[.encryptionUnexpected] == 1)
        controller.receive(EncryptionKeyRefreshComplete(connectionHandle: 0x40))
        #expect(controller.host.information(of: link)?.security == .unprotected)
    }

    // MARK: - Bonded peripherals

    @Test("A link to a bonded peripheral is encrypted as soon as it begins", arguments: strengths)
    func bondedPeripheral(_ strength: KeyStrength) throws {
        var controller = Self.bonded(strength)
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection()
        controller.commands.removeAll()
        controller.reportFeatures()
        #expect(
            controller.commands.first
                == .init(
                    opcode: .leEnableEncryption,
                    parameters: [0x40, 0] + [UInt8](repeating: 0, count: 10) + Self.keyOctets))
    }

    @Test("S19: values from a bonded peer over an unencrypted link are dropped")
    func unprotectedValue() throws {
        var controller = Self.bonded()
        let link = try controller.connect()
        controller.receiveFrame(bytes("1B 0300 2A"))
        controller.receiveFrame(bytes("1D 0300 2A"))
        controller.receiveFrame(bytes("23 0300 0100 2A"))
        #expect(controller.takeEvents() == [])
        #expect(controller.host.faults[.valueUnprotected] == 3)
        encryptionChange(&controller)
        #expect(controller.host.information(of: link)?.security.isEncrypted == true)
        _ = controller.takeEvents()
        controller.receiveFrame(bytes("1B 0300 2A"))
        #expect(controller.takeEvents() == ["notification 3"])
    }

    @Test("Service Changed is accepted even over an unencrypted link")
    func unprotectedServiceChanged() throws {
        var controller = Self.bonded()
        let link = try controller.connect()
        controller.receiveFrame(bytes("1D 0800 1000 2300"))
        #expect(controller.takeEvents() == [])
        controller.host.serviceChangedFound(8, of: link)
        controller.host.serviceChangedWatched(on: link)
        controller.receiveFrame(bytes("1D 0800 1000 2300"))
        controller.receiveFrame(bytes("1D 0300 2A"))
        #expect(controller.takeEvents() == ["indication 8"])
        #expect(controller.host.bonds.map(\.serviceChangedHandle) == [nil])
    }

    @Test(
        "S10, GAP/SEC/SEM/BV-45: if a bonded peer lacks its key, the link ends and the bond stays, at levels 2 and 4",
        arguments: [strength, KeyStrength(model: .numericComparison, usesSecureConnections: true, keySize: 16)])
    func keyMissing(_ strength: KeyStrength) throws {
        var controller = Self.bonded(strength)
        let link = try controller.connect()
        _ = try controller.host.start(.read(3), on: link, at: controller.now)
        encryptionChange(&controller, .pinOrKeyMissing)
        #expect(controller.takeOpcodes() == [.disconnect])
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        let events = controller.takeEvents()
        #expect(events.contains { $0.hasPrefix("operation failed") })
        #expect(events.last == "disconnected link 0.1: \(HCIStatus.pinOrKeyMissing.rawValue)")
        #expect(controller.host.bonds.count == 1)
    }

    @Test("S10: a flood of Security Requests from a bonded peer starts no further encryption")
    func floodOfRequests() throws {
        var controller = Self.bonded()
        _ = try controller.connect()
        encryptionChange(&controller)
        _ = controller.takeEvents()
        for _ in 0..<100 { controller.receiveFrame(bytes("0B 01"), on: 0x06) }
        #expect(!controller.takeOpcodes().contains(.leEnableEncryption))
        #expect(controller.takeData() == [])
        #expect(controller.takeEvents() == [])
    }

    // MARK: - Pairing

    @Test("S15: a refused peer must wait, longer each time")
    func repeatedAttempts() throws {
        var controller = Self.ready()
        let link = try controller.accept()
        func attempt() throws -> [[UInt8]] {
            controller.receiveFrame(bytes("01 03 00 01 10 00 00"), on: 0x06, 0x41)
            let answers = controller.takeData()
            // Consent is asked for, and refused.
            if answers.isEmpty {
                try controller.host.answerPairing(link, .refuse, at: controller.now)
                controller.settle()
                return controller.takeData()
            }
            return answers
        }
        let refused = [bytes("4100 0600 0200 0600 0505")], tooMany = [bytes("4100 0600 0200 0600 0509")]
        for wait in [1, 2, 4, 8] {
            #expect(try attempt() == refused)
            #expect(try attempt() == tooMany)
            controller.run(for: .seconds(wait))
        }
    }

    @Test("Pairing uses the address that the peer has on the air, not the identity address that it resolves to")
    func resolvedPeer() throws {
        var controller = Self.ready()
        _ = try controller.host.connect(to: PeerID(PeerTests.identity), timeout: nil, at: controller.now)
        controller.settle()
        var connection = LEEnhancedConnectionComplete(
            connectionHandle: 0x40, role: .central,
            peerAddress: DeviceAddress(PeerTests.identity.value, kind: .randomIdentity),
            interval: ConnectionInterval(rawValue: 24), supervisionTimeout: SupervisionTimeout(rawValue: 400))
        connection.peerResolvablePrivateAddress = PeerTests.first
        controller.receive(connection)
        controller.reportFeatures()
        let link = try #require(controller.host.link(to: PeerID(PeerTests.identity)))
        _ = (controller.takeOpcodes(), controller.takeData())
        try controller.host.pair(link, PairingParameters(), at: controller.now)
        controller.settle()
        // The confirm values of legacy pairing depend on the addresses (Core 5.4, Vol 3, Part H, 2.2.3).
        let own = try #require(controller.host.identity?.address)
        var peer = PairingPeer(role: .peripheral, of: own, at: PeerTests.first)
        for _ in 0..<3 {
            let pdus = controller.takeData().map { Array($0.dropFirst(8)) }
            for pdu in peer.answers(to: pdus, at: controller.now) { controller.receiveFrame(pdu, on: 0x06) }
        }
        #expect(controller.takeOpcodes() == [.leEnableEncryption])
    }

    @Test("H9: a link that ends during pairing ends the pairing once")
    func disconnected() throws {
        var controller = Self.ready()
        let link = try controller.connect()
        try controller.host.pair(link, PairingParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeData().count == 1)
        controller.reportDisconnection()
        #expect(
            controller.takeEvents() == [
                "security: pairingFailed(\(PairingError.disconnected))", "disconnected link 0.1: 8",
            ])
    }
}
