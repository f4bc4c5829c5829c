import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import Testing

@testable import BluetoothHost

@Suite("Pairings whose bond is being stored")
struct StoredBondTests {
    private struct Scene {
        var world = HostWorld()
        let pair: HostWorld.Pair
        /// The bond that the central has to store.
        var made: MadeBond
    }

    /// A central that stores bonds and has one to store; its peer does not store any.
    private func storing() throws -> Scene {
        var world = HostWorld()
        let central = world.startSecure { $0.storesBonds = true }
        let peripheral = world.startSecure()
        let pair = try world.connectSecure(central, to: peripheral)
        let made = try Self.pair(&world, pair)
        return Scene(world: world, pair: pair, made: made)
    }

    private static func pair(_ world: inout HostWorld, _ pair: HostWorld.Pair) throws -> MadeBond {
        world.seen[pair.peripheral].removeAll()
        try world.hosts[pair.central].pair(pair.centralLink, PairingParameters(), at: world.now)
        let isAsked = world.next(pair.peripheral) { $0.event.isConsentAsked ? true : nil }
        try #require(isAsked == true)
        try world.hosts[pair.peripheral].answerPairing(pair.peripheralLink, .accept(), at: world.now)
        let made: MadeBond? = world.next(pair.central) { if case .bondMade(let made) = $0.event { made } else { nil } }
        world.run(for: .seconds(1))
        return try #require(made)
    }

    /// The reports of the central about bonds and pairings since the last call.
    private func take(_ scene: inout Scene) -> [String] {
        scene.world.settle()
        defer { scene.world.seen[scene.pair.central].removeAll() }
        return scene.world.seen[scene.pair.central].compactMap { seen in
            switch seen.event {
            case .security(_, .paired(_, let isBonded)): "paired, bonded: \(isBonded)"
            case .security(_, .pairingFailed(let error)): "failed: \(error)"
            case .bondChanged(let bond): "changed \(bond.address)"
            case .bondMade: "made"
            case .bondVoid: "void"
            case .link(_, .disconnected): "disconnected"
            default: nil
            }
        }
    }

    private static let failure = BondStoreError.failed(HCIStatus(rawValue: 7))

    private func written(_ scene: inout Scene, _ isStored: Bool) {
        scene.world.hosts[scene.pair.central].bondWritten(
            scene.made, failure: isStored ? nil : Self.failure, at: scene.world.now)
    }

    private func isPending(_ scene: Scene) -> Bool {
        scene.world.hosts[scene.pair.central].isSecurityPending(on: scene.pair.centralLink)
    }

    @Test("A pairing succeeds once its bond is stored")
    func stored() throws {
        var scene = try storing()
        #expect(take(&scene) == [])
        #expect(isPending(scene))
        #expect(throws: HostError.busy) {
            try scene.world.hosts[scene.pair.central].pair(
                scene.pair.centralLink, PairingParameters(), at: scene.world.now)
        }
        written(&scene, true)
        #expect(take(&scene) == ["paired, bonded: true"])
        #expect(!isPending(scene) && scene.world.hosts[scene.pair.central].bonds == [scene.made.bond])
        written(&scene, true)
        #expect(take(&scene) == [], "it is reported once")
    }

    @Test("A bond that cannot be stored fails the pairing, and is removed")
    func failed() throws {
        var scene = try storing()
        written(&scene, false)
        #expect(take(&scene) == ["failed: \(PairingError.bondNotStored(Self.failure))"])
        let host = scene.world.hosts[scene.pair.central]
        #expect(host.bonds.isEmpty && !isPending(scene))
        let security = try #require(host.information(of: scene.pair.centralLink)?.security)
        #expect(security.isEncrypted && !security.isBonded, "the link goes on")
    }

    @Test("If a renewed bond cannot be stored, the former bond is kept")
    func former() throws {
        var scene = try storing()
        written(&scene, true)
        let former = scene.made
        scene.made = try Self.pair(&scene.world, scene.pair)
        #expect(scene.made.former?.centralKey == former.bond.centralKey)
        #expect(scene.made.bond.centralKey != former.bond.centralKey)
        _ = take(&scene)
        written(&scene, false)
        #expect(take(&scene) == ["failed: \(PairingError.bondNotStored(Self.failure))"])
        #expect(scene.world.hosts[scene.pair.central].bonds.map(\.centralKey) == [former.bond.centralKey])
    }

    @Test("If storing takes longer than a pairing may, the pairing fails and the bond is removed again")
    func slow() throws {
        var scene = try storing()
        _ = take(&scene)
        scene.world.run(for: .seconds(28))
        #expect(take(&scene) == [])
        #expect(isPending(scene))
        scene.world.run(for: .seconds(3))
        #expect(take(&scene) == ["failed: \(PairingError.bondNotStored(nil))", "void"])
        #expect(scene.world.hosts[scene.pair.central].bonds.isEmpty && !isPending(scene))
        written(&scene, true)
        #expect(take(&scene) == [])
        #expect(scene.world.hosts[scene.pair.central].bonds.isEmpty)
    }

    @Test("If the bond is removed meanwhile, the pairing succeeds without one")
    func removed() throws {
        var scene = try storing()
        _ = take(&scene)
        scene.world.hosts[scene.pair.central].removeBond(with: scene.made.bond.peer, at: scene.world.now)
        written(&scene, true)
        #expect(take(&scene) == ["paired, bonded: false"])
        #expect(scene.world.hosts[scene.pair.central].bonds.isEmpty)
    }

    @Test("A storage timeout restores neither a bond that was removed meanwhile nor the former one")
    func removedBeforeTimeout() throws {
        var scene = try storing()
        written(&scene, true)
        scene.made = try Self.pair(&scene.world, scene.pair)
        #expect(scene.made.former != nil)
        _ = take(&scene)
        scene.world.hosts[scene.pair.central].removeBond(with: scene.made.bond.peer, at: scene.world.now)
        scene.world.run(for: .seconds(31))
        #expect(take(&scene) == ["failed: \(PairingError.bondNotStored(nil))"])
        #expect(scene.world.hosts[scene.pair.central].bonds.isEmpty)
    }

    @Test(
        "A link that ends during storing fails the pairing; the bond stays if it can be stored",
        arguments: [true, false])
    func ended(_ isStored: Bool) throws {
        var scene = try storing()
        _ = take(&scene)
        try scene.world.hosts[scene.pair.central].disconnect(scene.pair.centralLink, at: scene.world.now)
        scene.world.run(for: .seconds(2))
        let lines = take(&scene).filter { !$0.hasPrefix("changed") }
        #expect(lines == ["failed: \(PairingError.disconnected)", "disconnected"])
        #expect(scene.world.hosts[scene.pair.central].bonds.count == 1)
        written(&scene, isStored)
        #expect(take(&scene) == [])
        #expect(scene.world.hosts[scene.pair.central].bonds.count == (isStored ? 1 : 0))
    }

    @Test("A link that began while a bond was being removed is encrypted once the removal has failed")
    func removalFailed() throws {
        var scene = try storing()
        let central = scene.pair.central
        written(&scene, true)
        scene.world.run(for: .seconds(1))
        let removed = scene.world.hosts[central].removeBond(with: scene.made.bond.peer, at: scene.world.now)
        let bond = try #require(removed)
        try scene.world.hosts[central].disconnect(scene.pair.centralLink, at: scene.world.now)
        scene.world.run(for: .seconds(2))
        scene.world.seen[central].removeAll()
        scene.world.seen[scene.pair.peripheral].removeAll()
        let link = try scene.world.connectSecure(central, to: scene.pair.peripheral).centralLink
        scene.world.run(for: .seconds(1))
        let before = try #require(scene.world.hosts[central].information(of: link)?.security)
        #expect(!before.isEncrypted && !before.isBonded, "to this host the peer is a stranger")
        scene.world.hosts[central].bondSettled(of: bond.peer, stored: bond, at: scene.world.now)
        #expect(scene.world.hosts[central].isSecurityPending(on: link))
        scene.world.run(for: .seconds(1))
        let after = try #require(scene.world.hosts[central].information(of: link)?.security)
        #expect(after.isEncrypted && after.isBonded)
        #expect(scene.world.hosts[central].bonds.map(\.centralKey) == [bond.centralKey])
    }

    @Test("If the link has ended by the time the bond is settled, nothing is encrypted")
    func settledAfterTheLink() throws {
        var controller = SecurityTests.ready()
        _ = try controller.connect()
        controller.reportDisconnection()
        controller.commands.removeAll()
        let bond = SecurityTests.bond()
        controller.host.bondSettled(of: bond.peer, stored: bond, at: controller.now)
        controller.settle()
        #expect(controller.host.bonds == [bond])
        #expect(!controller.takeOpcodes().contains(.leEnableEncryption))
    }

    @Test("A bond that falls back to the stored one restores the identity address of its peer")
    func settledIdentity() throws {
        var controller = SecurityTests.ready()
        let first = DeviceAddress(0x4000_0000_0001, kind: .random),
            identity = DeviceAddress(0xC000_0000_0001, kind: .random)
        let stored = Bond(
            peer: PeerID(first), address: identity, identity: DeviceIdentity(address: identity, resolvingKey: 5),
            peripheralKey: LongTermKey(key: 1), strength: SecurityTests.strength)
        controller.host.restore(stored, at: controller.now)
        controller.host.removeBond(with: stored.peer, at: controller.now)
        // Without an identity, while the removal is being stored.
        let other = Bond(
            peer: PeerID(first), address: first, peripheralKey: LongTermKey(key: 2), strength: SecurityTests.strength)
        controller.host.restore(other, at: controller.now)
        #expect(controller.host.peers.address(of: stored.peer) == first)
        controller.host.bondSettled(of: stored.peer, stored: stored, at: controller.now)
        #expect(controller.host.bonds == [stored])
        #expect(controller.host.peers.address(of: stored.peer) == identity)
        controller.host.bondSettled(of: stored.peer, stored: nil, at: controller.now)
        #expect(controller.host.bonds == [])
        #expect(controller.host.peers.address(of: stored.peer) == first)
    }

    @Test("A peer that pairs again during storing is answered once the previous pairing has ended")
    func held() throws {
        var world = HostWorld()
        let central = world.startSecure()
        let peripheral = world.startSecure { $0.storesBonds = true }
        let pair = try world.connectSecure(central, to: peripheral)
        func ask() throws { try world.hosts[central].pair(pair.centralLink, PairingParameters(), at: world.now) }
        try ask()
        let isAsked = world.next(peripheral) { $0.event.isConsentAsked ? true : nil }
        #expect(isAsked == true)
        try world.hosts[peripheral].answerPairing(pair.peripheralLink, .accept(), at: world.now)
        let found: MadeBond? = world.next(peripheral) { if case .bondMade(let made) = $0.event { made } else { nil } }
        let made = try #require(found)
        world.run(for: .seconds(1))
        try ask()
        world.run(for: .seconds(1))
        #expect(!world.seen[peripheral].contains { $0.event.isConsentAsked || $0.event.isBonded != nil })
        world.hosts[peripheral].bondWritten(made, failure: nil, at: world.now)
        world.settle()
        let order = world.seen[peripheral].compactMap { seen in
            seen.event.isConsentAsked ? "asked" : seen.event.isBonded.map { "paired \($0)" }
        }
        #expect(order == ["paired true", "asked"])
    }
}
