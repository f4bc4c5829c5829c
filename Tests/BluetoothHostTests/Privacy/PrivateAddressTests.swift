import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Bonded devices that change their private addresses (GAP/PRIV/CONN/BV-10 to BV-12)")
struct PrivateAddressTests {
    /// Which of the two has private addresses, and whether each one's controller can resolve the other's.
    struct Case: CustomTestStringConvertible, Sendable {
        var centralRotates: Bool
        var peripheralRotates: Bool
        var centralList: UInt8
        var peripheralList: UInt8

        var testDescription: String {
            "\(centralRotates ? "private" : "public") central, list of \(centralList); "
                + "\(peripheralRotates ? "private" : "public") peripheral, list of \(peripheralList)"
        }
    }

    static let cases: [Case] = [(true, false), (false, true), (true, true)].flatMap { roles in
        [(8, 8), (8, 0), (0, 8), (0, 0)].map {
            Case(centralRotates: roles.0, peripheralRotates: roles.1, centralList: $0.0, peripheralList: $0.1)
        }
    }

    @Test("Both devices keep their names on every link and in every sighting", arguments: cases)
    func rotation(_ one: Case) throws {
        var world = HostWorld()
        let central = world.startSecure(
            rotation: one.centralRotates ? .seconds(60) : nil, resolvingListSize: one.centralList)
        let peripheral = world.startSecure(
            rotation: one.peripheralRotates ? .seconds(60) : nil, resolvingListSize: one.peripheralList)
        let pair = try world.connectSecure(central, to: peripheral)
        // Their check values hold the addresses on the air, so that pairing fails where one of them is another.
        let bonds = try one.centralRotates ? world.bond(pair) : world.bondOnRequest(pair)
        #expect(bonds.central.address == world.hosts[peripheral].controller?.address)
        #expect(bonds.peripheral.address == world.hosts[central].controller?.address)
        world.disconnect(pair)

        // The address also changes while the device advertises. Only those who have the key know whose it is.
        let observer = world.start()
        if one.peripheralRotates {
            try world.hosts[peripheral].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
            let seen = Set(world.sightings(by: observer, for: .seconds(130)).map(\.address))
            #expect(seen.count >= 2)
            #expect(seen.allSatisfy { HostWorld.crypto.resolves($0, resolvingKey: HostWorld.key(of: 2)) })
            world.hosts[peripheral].stopAdvertising(at: world.now)
            world.settle()
        }

        var addresses: Set<DeviceAddress> = []
        for _ in 0..<3 {
            world.run(for: .seconds(61))
            addresses.insert(try #require(world.address(of: peripheral)))
            try world.hosts[peripheral].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
            let sightings = world.sightings(by: central, for: .seconds(1))
            #expect(!sightings.isEmpty && sightings.allSatisfy { $0.peer == bonds.central.peer })
            let again = try world.connectSecure(central, to: peripheral, bonds.central.peer)
            #expect(world.hosts[central].information(of: again.centralLink)?.peer == bonds.central.peer)
            #expect(world.hosts[peripheral].information(of: again.peripheralLink)?.peer == bonds.peripheral.peer)
            world.run(for: .seconds(1))
            for (host, link) in [(central, again.centralLink), (peripheral, again.peripheralLink)] {
                #expect(world.hosts[host].information(of: link)?.security.isEncrypted == true)
            }
            world.disconnect(again)
        }
        #expect(addresses.count == (one.peripheralRotates ? 3 : 1))
    }

    @Test("The address changes during advertising, scanning and connecting, which all continue", arguments: [0, 8])
    func rotationWhileActive(_ size: UInt8) throws {
        var world = HostWorld()
        let device = world.startSecure(rotation: .seconds(10), resolvingListSize: size)
        let other = world.start()
        try world.hosts[device].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
        try world.hosts[device].startScanning(ScanParameters(), at: world.now)
        let absent = PeerID(DeviceAddress(0xB0_00_00_00_00_01, kind: .public))
        _ = try world.hosts[device].connect(to: absent, timeout: nil, at: world.now)
        var addresses: Set<DeviceAddress> = []
        for _ in 0..<4 {
            let seen = Set(world.sightings(by: other, for: .seconds(9)).map(\.address))
            #expect(seen.allSatisfy { HostWorld.crypto.resolves($0, resolvingKey: HostWorld.key(of: 1)) })
            #expect((1...2).contains(seen.count))
            addresses.formUnion(seen)
            let controller = world.air[world.controllers[device]]
            #expect(controller.isAdvertising && controller.isScanning && controller.isInitiating)
            world.run(for: .seconds(1))
        }
        #expect((4...5).contains(addresses.count))
    }

    @Test(
        "In network privacy mode, links from a bonded peer's identity address end, whether host or controller resolves",
        arguments: [0, 8])
    func networkPrivacyMode(_ size: UInt8) throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: .seconds(60))
        let peripheral = world.startSecure(resolvingListSize: size) { $0.peerPrivacyMode = .network }
        let pair = try world.connectSecure(central, to: peripheral)
        let bonds = try world.bond(pair)
        world.disconnect(pair)
        let again = try world.connectSecure(central, to: peripheral)
        world.disconnect(again)

        // Somebody with the address of the peer's identity.
        let impostor = world.start {
            $0.publicAddress = bonds.peripheral.address
        }
        try world.hosts[peripheral].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
        let target = try #require(world.address(of: peripheral))
        _ = try world.hosts[impostor].connect(to: PeerID(target), timeout: .seconds(5), at: world.now)
        world.run(for: .seconds(10))
        #expect(world.hosts[peripheral].connectedLinks == [])
        // A controller that resolves addresses ignores such a device by itself.
        #expect((world.hosts[peripheral].faults[.identityAddressUsed] > 0) == (size == 0))
    }

    @Test("The address uses a restored resolving key, even if the controller is being given another address")
    func restoredKey() throws {
        var controller = ScriptedController.ready([.leSetRandomAddress: .silence]) {
            $0.security = SecurityConfiguration(
                crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 1), resolvingKey: 1)
            $0.privacy = .resolvable()
        }
        controller.host.setResolvingKey(2, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [])
        controller.complete(.leSetRandomAddress)
        let command = try #require(controller.commands.last)
        #expect(command.opcode == .leSetRandomAddress)
        controller.complete(.leSetRandomAddress)
        let address = try #require(controller.host.privateAddress)
        #expect(HostWorld.crypto.resolves(address, resolvingKey: 2))
    }

    @Test(
        "A device serves Resolvable Private Address Only, and Central Address Resolution as its controller supports it",
        arguments: [0, 8])
    func characteristics(_ size: UInt8) throws {
        var world = HostWorld()
        let device = world.startSecure(rotation: .seconds(60), resolvingListSize: size)
        let other = world.startSecure()
        let pair = try world.connectSecure(other, to: device)
        for (uuid, value) in [(0x2AA6, size == 0 ? 0 : 1), (0x2AC9, 0)] as [(UInt16, UInt8)] {
            _ = try world.hosts[other].start(
                .readByUUID(BluetoothUUID(uuid)), on: pair.centralLink, at: world.now)
            let read = world.next(other) { $0.event.completed }
            guard case .values(let values)? = read else {
                Issue.record("\(uuid) was not read")
                continue
            }
            #expect(values.map(\.value) == [[value]])
            // One without does not have them.
            _ = try world.hosts[device].start(
                .readByUUID(BluetoothUUID(uuid)), on: pair.peripheralLink, at: world.now)
            let missing = world.next(device) { $0.event.brief.hasPrefix("operation failed") ? true : nil }
            #expect(missing == true)
        }
    }

    @Test(
        "GAP/PRIV/CONN/BV-12: an address made with an unknown key, or with a key of zero, belongs to a stranger",
        arguments: [0, 8], [false, true])
    func strangers(_ size: UInt8, _ isPrivate: Bool) throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: isPrivate ? .seconds(60) : nil, resolvingListSize: size)
        let peripheral = world.startSecure(rotation: .seconds(60))
        let pair = try world.connectSecure(central, to: peripheral)
        let bonds = try world.bond(pair)
        world.disconnect(pair)
        // A bond whose peer has distributed no key.
        var keyless = bonds.central
        keyless.address = DeviceAddress(0xC0_00_00_00_00_77, kind: .random)
        keyless.peer = PeerID(keyless.address)
        keyless.identity = DeviceIdentity(address: keyless.address, resolvingKey: 0)
        world.hosts[central].restore(keyless, at: world.now)
        world.settle()

        for key in [HostWorld.key(of: 99), 0] {
            var entropy = SeededGenerator(seed: 5)
            let forged = HostWorld.crypto.resolvablePrivateAddress(resolvingKey: key, entropy: &entropy)
            let stranger = world.start { _ in
            } host: {
                $0.ownAddress = .staticRandom(forged)
            }
            try world.hosts[stranger].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
            let sightings = world.sightings(by: central, for: .seconds(1))
            #expect(!sightings.isEmpty && sightings.allSatisfy { $0.peer == PeerID(forged) })
            let link = try world.connectSecure(central, to: stranger, PeerID(forged))
            #expect(world.hosts[central].information(of: link.centralLink)?.peer == PeerID(forged))
            #expect(world.hosts[central].bondStrength(of: link.centralLink) == nil)
            world.disconnect(link)
            let reversed = try world.connectSecure(stranger, to: central)
            #expect(world.hosts[central].information(of: reversed.peripheralLink)?.peer == PeerID(forged))
            #expect(world.hosts[central].bondStrength(of: reversed.peripheralLink) == nil)
            world.disconnect(reversed)
        }
    }

    @Test("A device that uses a bonded peer's resolving key gets no access to the bond", arguments: [0, 8])
    func stolenKey(_ size: UInt8) throws {
        var world = HostWorld()
        let central = world.startSecure(resolvingListSize: size)
        let peripheral = world.startSecure(rotation: .seconds(60))
        let pair = try world.connectSecure(central, to: peripheral)
        let bond = try world.bond(pair).central
        world.disconnect(pair)
        let thief = world.startSecure(rotation: .seconds(60)) {
            $0.security?.resolvingKey = HostWorld.key(of: UInt64(peripheral + 1))
        }
        let link = try world.connectSecure(central, to: thief)
        // It has not the key of the bond, with which the host encrypts.
        let ending = world.next(central) { $0.event.disconnection?.1 }
        #expect(ending != nil)
        #expect(world.hosts[central].bonds == [bond])

        // Where it is the central, nothing is encrypted at first. It cannot pair by Just Works.
        world.disconnect(link)
        let reversed = try world.connectSecure(thief, to: central)
        #expect(world.hosts[central].information(of: reversed.peripheralLink)?.peer == bond.peer)
        try world.hosts[thief].pair(reversed.centralLink, PairingParameters(), at: world.now)
        world.run(for: .seconds(1))
        try world.hosts[central].answerPairing(reversed.peripheralLink, .accept(), at: world.now)
        world.run(for: .seconds(1))
        let outcome = world.seen[central].compactMap { $0.event.pairingOutcome }
        #expect(outcome == [.failure(.local(.authenticationRequirements))])
        #expect(world.hosts[central].bonds == [bond])
        #expect(world.hosts[central].faults[.bondUnproven] == 1)
    }

    @Test("S11: a device that distributes a bonded peer's identity address with another key gets no bond")
    func claimedIdentity() throws {
        var world = HostWorld()
        let central = world.startSecure(), peripheral = world.startSecure()
        let pair = try world.connectSecure(central, to: peripheral)
        let bond = try world.bond(pair).central
        world.disconnect(pair)
        // Its controller has the address of the peer's, and its private addresses are made with its own key.
        let thief = world.startSecure(rotation: .seconds(60), publicAddress: bond.address)
        let link = try world.connectSecure(central, to: thief)
        #expect(world.hosts[central].information(of: link.centralLink)?.peer != bond.peer)
        try world.hosts[central].pair(link.centralLink, PairingParameters(), at: world.now)
        world.run(for: .seconds(1))
        try world.hosts[thief].answerPairing(link.peripheralLink, .accept(), at: world.now)
        world.run(for: .seconds(1))
        #expect(world.seen[central].compactMap { $0.event.isBonded } == [false])
        #expect(world.hosts[central].bonds == [bond])
        #expect(world.hosts[central].faults[.bondClaimed] == 1)
    }

    @Test("The host waits for two bonded peers with private addresses at once", arguments: [0, 1, 8])
    func several(_ size: UInt8) throws {
        var world = HostWorld()
        let central = world.startSecure(resolvingListSize: size)
        let peripherals = [
            world.startSecure(rotation: .seconds(20)), world.startSecure(rotation: .seconds(25)),
        ]
        var names: [PeerID] = []
        for peripheral in peripherals {
            let pair = try world.connectSecure(central, to: peripheral)
            names.append(try world.bond(pair).central.peer)
            world.disconnect(pair)
        }
        for name in names { _ = try world.hosts[central].connect(to: name, timeout: nil, at: world.now) }
        world.run(for: .seconds(60))
        for (peripheral, name) in zip(peripherals, names).reversed() {
            try world.hosts[peripheral].startAdvertising(AdvertisingParameters(data: []), at: world.now)
            let pair = try world.linked(central, peripheral)
            #expect(world.hosts[central].information(of: pair.centralLink)?.peer == name)
        }
    }

    @Test("A name based on a private address resolves to the bonded peer", arguments: [0, 8])
    func namesOfPrivateAddresses(_ size: UInt8) throws {
        var world = HostWorld()
        let central = world.startSecure(resolvingListSize: size)
        let peripheral = world.startSecure(rotation: .seconds(60))
        let pair = try world.connectSecure(central, to: peripheral)
        let bond = try world.bond(pair).central
        world.disconnect(pair)
        world.run(for: .seconds(61))
        let name = PeerID(try #require(world.address(of: peripheral)))
        #expect(name != bond.peer)
        #expect(world.hosts[central].lastingPeer(of: name) == bond.peer)
        world.run(for: .seconds(61))
        let again = try world.connectSecure(central, to: peripheral, name)
        #expect(world.hosts[central].information(of: again.centralLink)?.peer == bond.peer)
        world.disconnect(again)
        world.hosts[central].removeBond(with: bond.peer, at: world.now)
        world.settle()
        #expect(world.hosts[central].lastingPeer(of: name) == name)
    }

    @Test("Resolvable addresses without a resolving key are rejected")
    func keyless() throws {
        var world = HostWorld()
        let host = world.start { _ in
        } host: {
            $0.privacy = .resolvable()
        }
        let now = world.now
        #expect(throws: HostError.unsupported(.resolvableAddresses)) {
            try world.hosts[host].startAdvertising(AdvertisingParameters(data: []), at: now)
        }
        #expect(throws: HostError.unsupported(.resolvableAddresses)) {
            try world.hosts[host].startScanning(ScanParameters(), at: now)
        }
        #expect(throws: HostError.unsupported(.resolvableAddresses)) {
            _ = try world.hosts[host].connect(to: PeerID(DeviceAddress(1, kind: .public)), timeout: nil, at: now)
        }
    }

    @Test("After a reset, the host has a new private address and the controller has its list again")
    func reset() throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: .seconds(600))
        let peripheral = world.startSecure(rotation: .seconds(600))
        let pair = try world.connectSecure(central, to: peripheral)
        let bond = try world.bond(pair).central
        world.disconnect(pair)
        let address = world.address(of: central)
        world.air.reportHardwareError(1, on: world.controllers[central])
        world.run(for: .seconds(1))
        #expect(world.address(of: central) != address)
        _ = try world.connectSecure(central, to: peripheral, bond.peer)
    }
}
