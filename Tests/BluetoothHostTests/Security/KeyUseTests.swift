import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

/// The use of the keys after a pairing (Core 5.4, Vol 3, Part H, 2.3.4, 2.4.4 and 2.4.6).
@Suite("Keys in use")
struct KeyUseTests {
    @Test(
        "SM/CEN/EKS/BV-01, SM/PER/EKS/BV-02: a key of the smallest accepted size protects this link and the next one",
        arguments: LinkRole.allCases, [false, true])
    func shortestKey(_ role: LinkRole, _ secure: Bool) throws {
        let device = SecurityPolicy(offersSecureConnections: secure, minimumKeySize: 7)
        let tester = SecurityPolicy(offersSecureConnections: secure, minimumKeySize: 7, maximumKeySize: 7)
        var scene = try SecurityModeTests.Scene(
            .encrypted, central: role == .central ? device : tester, peripheral: role == .peripheral ? device : tester)
        let strength = KeyStrength(model: .justWorks, usesSecureConnections: secure, keySize: 7)
        #expect(
            try scene.pair(from: .central) == [.central: .success(strength), .peripheral: .success(strength)])
        let protected = LinkSecurity(
            isEncrypted: true, usesSecureConnections: secure, encryptionKeySize: 7, isBonded: true)
        for role in LinkRole.allCases { #expect(scene.security(role) == protected) }

        try scene.world.hosts[scene.pair.central].disconnect(scene.pair.centralLink, at: scene.world.now)
        scene.world.run(for: .seconds(1))
        scene.pair = try scene.world.connectSecure(scene.pair.central, to: scene.pair.peripheral)
        scene.world.run(for: .seconds(1))
        for role in LinkRole.allCases {
            #expect(scene.security(role) == protected)
            #expect(try scene.read(by: role) == .success(.value([7])))
        }
    }

    @Test(
        "SM/PER/KDU/BV-07: a central encrypts the link again with the key that the peripheral has distributed over it")
    func encryptedAgain() throws {
        let legacy = SecurityPolicy(offersSecureConnections: false, distributedKeys: .encryption)
        var scene = try SecurityModeTests.Scene(.encrypted, central: legacy, peripheral: legacy)
        #expect(try scene.pair(from: .central).count == 2)
        let key = try #require(scene.world.hosts[scene.pair.peripheral].bonds.first?.peripheralKey)
        #expect(key.random != 0 && scene.world.hosts[scene.pair.central].bonds.first?.centralKey == key)
        func encrypt() throws(HostError) {
            try scene.world.hosts[scene.pair.central].encrypt(scene.pair.centralLink, at: scene.world.now)
        }
        for _ in 0..<2 {
            try encrypt()
            #expect(throws: HostError.busy) { try encrypt() }
            // Where it had failed, the link would have ended.
            scene.world.run(for: .seconds(1))
            for role in LinkRole.allCases {
                #expect(
                    scene.security(role) == LinkSecurity(isEncrypted: true, encryptionKeySize: 16, isBonded: true))
                #expect(try scene.read(by: role) == .success(.value([7])))
            }
        }
    }

    @Test(
        "SM/PER/PIS/BV-02: a bonded peripheral asks for security, and the central encrypts with the key that both have",
        arguments: [false, true])
    func peripheralAsks(_ isAuthenticated: Bool) throws {
        var controller = SecurityTests.bonded(
            KeyStrength(
                model: isAuthenticated ? .numericComparison : .justWorks, usesSecureConnections: true, keySize: 16))
        let link = try controller.accept()
        try controller.host.encrypt(link, at: controller.now)
        controller.settle()
        // Security Request: bonding and LE Secure Connections. MITM protection is asked for if the key of the bond has
        // it.
        let request = isAuthenticated ? "0600 0B 0D" : "0600 0B 09"
        #expect(controller.takeData().map { Array($0[6...]) } == [bytes(request)])
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        #expect(
            controller.commands.last
                == .init(opcode: .leLongTermKeyRequestReply, parameters: [0x41, 0] + SecurityTests.keyOctets))
        controller.receive(EncryptionChange(connectionHandle: 0x41, encryption: .on))
        let security = try #require(controller.host.information(of: link)?.security)
        #expect(security.isEncrypted && security.isAuthenticated == isAuthenticated)
    }
}
