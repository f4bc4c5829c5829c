import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing
import VirtualRadio

/// A central that has private addresses (Core 5.4, Vol 3, Part C, 10.7.2).
@Suite("A central with private addresses")
struct CentralPrivacyTests {
    @Test(
        """
        GAP/PRIV/CONN/BV-11: a central connects to its bonded peer under changing resolvable addresses, and not to \
        a device whose address is made with another key
        """, arguments: [0, 8])
    func connects(_ size: UInt8) throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: .seconds(60), resolvingListSize: size)
        // Its host resolves addresses itself, and so knows the one that the central uses.
        let peripheral = world.startSecure(rotation: .seconds(60), resolvingListSize: 0)
        let pair = try world.connectSecure(central, to: peripheral)
        let bonds = try world.bond(pair)
        world.disconnect(pair)

        var addresses: Set<DeviceAddress> = []
        for _ in 0..<2 {
            // Controllers that make private addresses change them once the time is over.
            world.run(for: .seconds(61))
            let again = try world.connectSecure(central, to: peripheral, bonds.central.peer)
            let information = try #require(world.hosts[peripheral].information(of: again.peripheralLink))
            #expect(information.peer == bonds.peripheral.peer)
            #expect(HostWorld.crypto.resolves(information.address, resolvingKey: HostWorld.key(of: 1)))
            addresses.insert(information.address)
            world.disconnect(again)
        }
        #expect(addresses.count == 2)

        var entropy = SeededGenerator(seed: 5)
        let forged = HostWorld.crypto.resolvablePrivateAddress(resolvingKey: HostWorld.key(of: 99), entropy: &entropy)
        let stranger = world.start { _ in
        } host: {
            $0.ownAddress = .staticRandom(forged)
        }
        try world.hosts[stranger].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
        let sightings = world.sightings(by: central, for: .seconds(1))
        #expect(!sightings.isEmpty && sightings.allSatisfy { $0.peer == PeerID(forged) })
        _ = try world.hosts[central].connect(to: bonds.central.peer, timeout: .seconds(20), at: world.now)
        world.run(for: .seconds(21))
        #expect(world.hosts.allSatisfy { $0.connectedLinks == [] })
        #expect(world.seen[central].contains { $0.event.brief.hasPrefix("connection failed") })
    }
}
