import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing

/// Bonding modes and procedures (Core 5.4, Vol 3, Part C, 9.4).
@Suite("GAP: bonding")
struct BondingTests {
    private static let strength = KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16)

    /// Lets one end of a link begin to pair, and both agree; how it ended for either.
    private func pair(
        _ pair: HostWorld.Pair, from beginner: LinkRole, _ parameters: PairingParameters, in world: inout HostWorld
    ) throws -> [LinkRole: Result<KeyStrength, PairingError>] {
        let (index, link) =
            beginner == .central ? (pair.central, pair.centralLink) : (pair.peripheral, pair.peripheralLink)
        try world.hosts[index].pair(link, parameters, at: world.now)
        let ends = try world.answerPairing(pair, parameters)
        world.run(for: .seconds(1))
        return ends.compactMapValues(\.outcome)
    }

    private func security(of pair: HostWorld.Pair, in world: HostWorld) -> [LinkSecurity?] {
        [
            world.hosts[pair.central].information(of: pair.centralLink)?.security,
            world.hosts[pair.peripheral].information(of: pair.peripheralLink)?.security,
        ]
    }

    @Test(
        "GAP/BOND/BON: the keys of a pairing encrypt the next link, whichever device began",
        arguments: LinkRole.allCases)
    func bonding(_ beginner: LinkRole) throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: .seconds(600))
        let peripheral = world.startSecure(rotation: .seconds(600))
        let first = try world.connectSecure(central, to: peripheral)
        let outcomes = try pair(first, from: beginner, PairingParameters(), in: &world)
        #expect(outcomes == [.central: .success(Self.strength), .peripheral: .success(Self.strength)])
        world.disconnect(first)
        let kept = try #require(world.hosts[central].bonds.first), served = world.hosts[peripheral].bonds
        // Each has the key for the link, and the one that the peer's private addresses are made with.
        #expect(kept.identity?.resolvingKey == HostWorld.key(of: 2))
        #expect(served.map { $0.identity?.resolvingKey } == [HostWorld.key(of: 1)])
        #expect(kept.centralKey != nil && served.first?.peripheralKey != nil)

        let second = try world.connectSecure(central, to: peripheral, kept.peer)
        world.run(for: .seconds(1))
        let expected = LinkSecurity(
            isEncrypted: true, usesSecureConnections: true, encryptionKeySize: 16, isBonded: true)
        #expect(security(of: second, in: world) == [expected, expected])
        let events = [central, peripheral].flatMap { world.seen[$0].map(\.event) }
        #expect(!events.contains { $0.isConsentAsked || $0.pairingOutcome != nil }, "nobody pairs again")
    }

    @Test(
        "GAP/BOND/NBON: devices that do not bond exchange no keys, and pair again on the next link, whichever begins",
        arguments: LinkRole.allCases)
    func nonBondable(_ beginner: LinkRole) throws {
        var world = HostWorld()
        let central = world.startSecure(), peripheral = world.startSecure()
        for _ in 0..<2 {
            let link = try world.connectSecure(central, to: peripheral)
            world.run(for: .seconds(1))
            #expect(security(of: link, in: world).allSatisfy { $0?.isEncrypted == false })
            world.transcript = []
            let outcomes = try pair(link, from: beginner, PairingParameters(isBonding: false), in: &world)
            #expect(outcomes == [.central: .success(Self.strength), .peripheral: .success(Self.strength)])
            let expected = LinkSecurity(isEncrypted: true, usesSecureConnections: true, encryptionKeySize: 16)
            #expect(security(of: link, in: world) == [expected, expected])
            // Pairing Request and Pairing Response, without the bonding flags and without keys to distribute.
            let features = (world.transcript ?? []).filter { line in
                line.contains(" > [2, ") && [1, 2].contains { line.contains(", 11, 0, 7, 0, 6, 0, \($0), ") }
            }.compactMap { $0.split(separator: "[").last?.dropLast().split(separator: ", ").compactMap { UInt8($0) } }
            #expect(features.map(\.count) == [16, 16])
            #expect(features.allSatisfy { $0[12] & 0x03 == 0 && $0.suffix(2) == [0, 0] })
            world.transcript = nil
            world.disconnect(link)
            #expect(world.hosts.allSatisfy { $0.bonds == [] })
        }
    }
}
