import BluetoothBase
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

/// Attacks on devices that are bonded, by a new pairing: BLERP (Sacchetti and Antonioli, NDSS 2026), mynewt-nimble
/// issue 2206 and CVE-2025-62235. `Documentation/Security.md` has a row for each.
@Suite("Attacks by a new pairing")
struct RepairingTests {
    // MARK: - An impersonator who pairs again

    @Test("A central with a bonded peer's address does not replace the bond by Just Works, whatever the user answers")
    func centralImpersonation() throws {
        var scene = try RepairingScene(.peripheral)
        scene.loseKey()
        try scene.reconnect()
        let outcome = try scene.pair(
            from: scene.peer, attacker: .init(parameters: PairingParameters()),
            victim: .init(parameters: PairingParameters()))
        #expect(outcome == .failure(.local(.authenticationRequirements)))
        #expect(scene.world.hosts[scene.victim].faults[.bondUnproven] == 1)
        #expect(scene.world.hosts[scene.victim].keyStrength(of: scene.victimLink) == nil)
        scene.expectUntouched()
        try scene.expectGenuinePeerIsServed()
    }

    @Test(
        "An impersonating central does not replace the bond without bonding, or after this device's Security Request",
        arguments: [true, false])
    func centralImpersonationVariants(_ asksFirst: Bool) throws {
        var scene = try RepairingScene(.peripheral)
        scene.loseKey()
        try scene.reconnect()
        let attacker = RepairingScene.Person(parameters: PairingParameters(isBonding: false))
        if asksFirst { try scene.world.hosts[scene.victim].encrypt(scene.victimLink, at: scene.world.now) }
        let outcome = try scene.pair(
            from: scene.peer, attacker: attacker, victim: .init(parameters: PairingParameters()))
        #expect(outcome == .failure(.local(.authenticationRequirements)))
        scene.expectUntouched()
    }

    @Test("A peripheral with the address of a bonded peer is disconnected, and the application is not asked to pair")
    func peripheralImpersonation() throws {
        var scene = try RepairingScene(.central)
        scene.loseKey()
        try scene.connect()
        // It asks for more than the bond gives, before the host knows that it does not have the key.
        let outcome = try scene.pair(from: scene.peer, attacker: .init(parameters: .comparing))
        #expect(outcome == nil)
        #expect(!scene.reported.contains { if case .security(_, .requested) = $0 { true } else { false } })
        #expect(scene.reported.contains { $0.disconnection != nil })
        scene.expectUntouched()
        try scene.expectGenuinePeerIsServed()
    }

    @Test("An application that pairs as a central before the link is encrypted cannot replace the bond by Just Works")
    func pairingBeforeEncryption() throws {
        var controller = SecurityTests.bonded()
        let link = try controller.connect()
        try controller.host.pair(link, PairingParameters(), at: controller.now)
        controller.settle()
        // Pairing Request: bonding, MITM, Secure Connections.
        #expect(controller.takeData().last?.dropFirst(8).prefix(4) == bytes("01 03 00 0D")[...])
        controller.receiveFrame(bytes("02 03 00 09 10 00 00"), on: 0x06)
        #expect(controller.takeData().last?.dropFirst(8) == bytes("05 03")[...])
        #expect(controller.host.bonds.map(\.strength) == [SecurityTests.strength])
    }

    @Test(
        "A bond without a key for the role of the link is replaced by Just Works in neither role",
        arguments: LinkRole.allCases)
    func noKeyForRole(_ role: LinkRole) throws {
        // In legacy pairing the peripheral of the link distributes the key that the link will be encrypted with.
        var scene = try RepairingScene(role) { policy in
            policy.offersSecureConnections = false
            if role == .central { policy.wantedKeys = [.identity] } else { policy.distributedKeys = [.identity] }
        }
        #expect((role == .central ? scene.bond.centralKey : scene.bond.peripheralKey) == nil)
        #expect((role == .central ? scene.bond.peripheralKey : scene.bond.centralKey) != nil)
        scene.loseKey()
        try scene.reconnect()
        #expect(scene.world.hosts[scene.victim].keyStrength(of: scene.victimLink) == nil)
        let person = RepairingScene.Person(parameters: PairingParameters())
        let outcome = try scene.pair(from: scene.peer, attacker: person, victim: person)
        #expect(outcome == .failure(.local(.authenticationRequirements)))
        #expect(scene.world.hosts[scene.victim].faults[.bondUnproven] == 1)
        scene.expectUntouched()
    }

    @Test(
        "A peer that has lost its keys may replace the bond if both users authenticate it, or if the policy allows it",
        arguments: [true, false])
    func lostBond(_ isAuthenticated: Bool) throws {
        var scene = try RepairingScene(.peripheral) { $0.requirement.protectsBonds = isAuthenticated }
        scene.loseKey()
        try scene.reconnect()
        let person = RepairingScene.Person(parameters: isAuthenticated ? .comparing : PairingParameters())
        let outcome = try scene.pair(from: scene.peer, attacker: person, victim: person)
        let model: AssociationModel = isAuthenticated ? .numericComparison : .justWorks
        #expect(outcome == .success(KeyStrength(model: model, usesSecureConnections: true, keySize: 16)))
        let bond = try #require(scene.world.hosts[scene.victim].bonds.first)
        #expect(bond.peripheralKey != scene.bond.peripheralKey && bond.strength.model == model)
    }

    // MARK: - A pairing that lowers the level

    struct Downgrade: CustomTestStringConvertible {
        var testDescription: String
        var policy = SecurityPolicy(minimumKeySize: 7)
        var capability = IOCapability.displayYesNo
        var reason = PairingFailure.authenticationRequirements
    }

    static let downgrades = [
        Downgrade(testDescription: "Just Works after MITM protection", capability: .noInputNoOutput),
        Downgrade(
            testDescription: "legacy pairing after LE Secure Connections",
            policy: SecurityPolicy(offersSecureConnections: false), capability: .keyboardDisplay),
        Downgrade(
            testDescription: "a shorter key", policy: SecurityPolicy(minimumKeySize: 7, maximumKeySize: 7),
            reason: .encryptionKeySize),
    ]

    @Test(
        "Keys weaker than the bond are rejected, whichever device begins, even if the peer has proved the old key",
        arguments: downgrades, LinkRole.allCases)
    func downgrade(_ downgrade: Downgrade, _ role: LinkRole) throws {
        for begins in [true, false] {
            var scene = try RepairingScene(role, bondedBy: .comparing) { $0.minimumKeySize = 7 }
            #expect(scene.bond.strength.model == .numericComparison)
            scene.world.hosts[scene.peer].security?.policy = downgrade.policy
            try scene.reconnect()
            #expect(scene.world.hosts[scene.victim].keyStrength(of: scene.victimLink) == scene.bond.strength)
            // The device that is attacked can do everything, so the peer decides.
            let person = RepairingScene.Person(parameters: PairingParameters(ioCapability: .keyboardDisplay))
            let attacker = RepairingScene.Person(
                parameters: PairingParameters(ioCapability: downgrade.capability))
            // The peer may forget what it knows, to be asked for nothing better.
            scene.loseKey()
            let outcome = try scene.pair(from: begins ? scene.victim : scene.peer, attacker: attacker, victim: person)
            // A Security Request for no more than the bond gives changes nothing.
            let isIgnored = role == .central && !begins
            let expected: Result<KeyStrength, PairingError>? = isIgnored ? nil : .failure(.local(downgrade.reason))
            #expect(outcome == expected)
            scene.expectUntouched()
        }
    }

    // MARK: - A Security Request that provokes a pairing

    static let requests: [UInt8] = [0x00, 0x01, 0x04, 0x05, 0x08, 0x09, 0x0D, 0x1D, 0x3D, 0xC1, 0xFF]

    @Test(
        "A Security Request makes a central encrypt, and never pair with a peer that has not proved its key",
        arguments: requests)
    func securityRequest(_ requirements: UInt8) throws {
        for isGenuine in [true, false] {
            var controller = SecurityTests.bonded()
            _ = try controller.connect()
            _ = (controller.takeEvents(), controller.takeData())
            for _ in 0..<3 { controller.receiveFrame([0x0B, requirements], on: 0x06) }
            #expect(controller.takeEvents() == [] && controller.takeData() == [])
            _ = controller.takeOpcodes()
            controller.receive(
                EncryptionChange(
                    status: isGenuine ? .success : .pinOrKeyMissing, connectionHandle: 0x40,
                    encryption: isGenuine ? .on : .off))
            let requested = controller.seen.filter {
                if case .security(_, .requested) = $0.event { true } else { false }
            }
            // Only for more than the bond gives is the application asked, once.
            #expect(requested.count == (isGenuine && requirements & 0x04 != 0 ? 1 : 0))
            #expect(controller.takeOpcodes().contains(.disconnect) == !isGenuine)
            #expect(controller.takeData() == [])
            #expect(controller.host.bonds == [SecurityTests.bond()])
        }
    }

    @Test("A peripheral rejects Security Requests", arguments: requests)
    func securityRequestToPeripheral(_ requirements: UInt8) throws {
        var controller = SecurityTests.bonded()
        _ = try controller.accept()
        controller.receiveFrame([0x0B, requirements], on: 0x06, 0x41)
        #expect(controller.takeData() == [bytes("4100 0600 0200 0600 0507")])
        #expect(controller.host.bonds == [SecurityTests.bond()])
    }

    // MARK: - A key that is missing

    @Test("PIN or Key Missing ends the link each time, and never starts a pairing", arguments: LinkRole.allCases)
    func keyMissing(_ role: LinkRole) throws {
        var scene = try RepairingScene(role)
        scene.loseKey()
        if role == .peripheral {
            // The central encrypts with a key that this device does not have.
            var wrong = scene.genuine
            wrong.centralKey = LongTermKey(key: 1, encryptedDiversifier: 2, random: 3)
            scene.world.hosts[scene.peer].restore(wrong, at: scene.world.now)
        }
        for _ in 0..<3 {
            try scene.reconnect()
            #expect(scene.reported.contains { $0.disconnection != nil })
            #expect(
                !scene.reported.contains {
                    switch $0 {
                    case .security(_, .requested), .security(_, .asked), .security(_, .paired): true
                    default: false
                    }
                })
            scene.expectUntouched()
            scene.disconnect()
        }
        scene.loseKey()
        try scene.expectGenuinePeerIsServed()
    }

    // MARK: - A bond that goes too early

    enum Abandonment: String, CaseIterable {
        case peerDisconnects, peerIsSilent, peerRefuses, victimRefuses
    }

    @Test(
        "A bond is kept until the new pairing succeeds, wherever that pairing fails",
        arguments: Abandonment.allCases,
        LinkRole.allCases)
    func abandoned(_ abandonment: Abandonment, _ role: LinkRole) throws {
        var scene = try RepairingScene(role)
        // As a central the device pairs with a peer that has shown its key only.
        if role == .peripheral { scene.loseKey() }
        try scene.reconnect()
        let attacker: RepairingScene.Person
        var person = RepairingScene.Person(parameters: .comparing)
        switch abandonment {
        case .peerDisconnects, .peerIsSilent: attacker = .silent
        case .peerRefuses: attacker = .init(parameters: .comparing, confirmsNumbers: false)
        case .victimRefuses:
            attacker = .init(parameters: .comparing)
            person.confirmsNumbers = false
        }
        let limit: Duration = abandonment == .peerDisconnects ? .seconds(2) : .seconds(40)
        let outcome = try scene.pair(
            from: role == .central ? scene.victim : scene.peer, attacker: attacker, victim: person, within: limit)
        #expect(
            scene.reported.contains {
                if case .security(_, .asked(.compareNumbers)) = $0 { true } else { false }
            }, "the pairing has come to its authentication")
        if case .success? = outcome { Issue.record("paired") }
        scene.expectUntouched()
        scene.disconnect()
        scene.expectUntouched()
        try scene.expectGenuinePeerIsServed()
    }
}
