import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Directed and limited advertising")
struct DirectedAdvertisingTests {
    @Test(
        "GAP/CONN/DCON/BV-04: a bonded peer is reached although its address changes, and nobody else can connect",
        arguments: [false, true])
    func bonded(_ isPrivate: Bool) throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: .seconds(60))
        let peripheral = world.startSecure(rotation: isPrivate ? .seconds(60) : nil)
        let pair = try world.connectSecure(central, to: peripheral)
        let bonds = try world.bond(pair)
        world.disconnect(pair)
        let stranger = world.start()
        for _ in 0..<2 {
            world.run(for: .seconds(61))
            world.transcript = []
            try world.hosts[peripheral].startAdvertising(
                AdvertisingParameters(data: [], peer: bonds.peripheral.peer), at: world.now)
            world.run(for: .seconds(1))
            // ADV_DIRECT_IND, for which the controller makes private addresses of both devices.
            let command = "\(peripheral) > [1, 6, 32, 15, 48, 0, 96, 0, 4, \(isPrivate ? 3 : 2), "
            #expect(world.transcript?.contains { $0.contains(command) } == true)
            let overheard = world.sightings(by: stranger, for: .seconds(1))
            #expect(overheard == [])
            let sightings = world.sightings(by: central, for: .seconds(1))
            #expect(
                !sightings.isEmpty
                    && sightings.allSatisfy { $0.peer == bonds.central.peer && $0.type.contains(.directed) })

            let address = try #require(world.address(of: peripheral))
            let attempt = try world.hosts[stranger].connect(to: PeerID(address), timeout: nil, at: world.now)
            _ = try world.hosts[central].connect(to: bonds.central.peer, timeout: nil, at: world.now)
            let again = try world.linked(central, peripheral)
            #expect(world.hosts[peripheral].information(of: again.peripheralLink)?.peer == bonds.peripheral.peer)
            let used = try #require(world.privateAddresses(ofLastLinkOf: peripheral))
            #expect(HostWorld.crypto.resolves(used.peer, resolvingKey: HostWorld.key(of: 1)))
            #expect(!isPrivate || HostWorld.crypto.resolves(used.own, resolvingKey: HostWorld.key(of: 2)))
            world.hosts[stranger].cancelConnecting(attempt, at: world.now)
            world.disconnect(again)
        }
    }

    @Test("Without a resolving list, directed advertising uses the bonded peer's identity address")
    func withoutList() throws {
        var world = HostWorld()
        let central = world.startSecure(), peripheral = world.startSecure(resolvingListSize: 0)
        let pair = try world.connectSecure(central, to: peripheral)
        let bonds = try world.bond(pair)
        world.disconnect(pair)
        try world.hosts[peripheral].startAdvertising(
            AdvertisingParameters(data: [], peer: bonds.peripheral.peer), at: world.now)
        _ = try world.hosts[central].connect(to: bonds.central.peer, timeout: nil, at: world.now)
        _ = try world.linked(central, peripheral)
    }

    @Test(
        """
        GAP/CONN/DCON/BV-05: a bonded peer that does not resolve addresses is advertised to under its identity \
        address, and does not connect from a private one
        """, arguments: [true, false], [false, true])
    func withoutResolution(_ isThoughtToResolve: Bool, _ isPrivate: Bool) throws {
        var world = HostWorld()
        let central = world.startSecure(rotation: isPrivate ? .seconds(60) : nil, resolvingListSize: 0)
        let peripheral = world.startSecure(rotation: .seconds(60))
        let pair = try world.connectSecure(central, to: peripheral)
        let bonds = try world.bond(pair)
        world.disconnect(pair)
        world.run(for: .seconds(61))
        var parameters = AdvertisingParameters(data: [], peer: bonds.peripheral.peer)
        parameters.peerResolvesAddresses = isThoughtToResolve
        try world.hosts[peripheral].startAdvertising(parameters, at: world.now)
        world.run(for: .seconds(1))
        let sightings = world.sightings(by: central, for: .seconds(1))
        let isFound = !isThoughtToResolve && !isPrivate
        #expect(sightings.isEmpty == !isFound)
        #expect(sightings.allSatisfy { $0.peer == bonds.central.peer && $0.type.contains(.directed) })
        guard isFound else {
            _ = try world.hosts[central].connect(to: bonds.central.peer, timeout: .seconds(5), at: world.now)
            world.run(for: .seconds(6))
            #expect(world.hosts.allSatisfy { $0.connectedLinks == [] })
            return
        }
        _ = try world.hosts[central].connect(to: bonds.central.peer, timeout: nil, at: world.now)
        let again = try world.linked(central, peripheral)
        #expect(world.hosts[peripheral].information(of: again.peripheralLink)?.peer == bonds.peripheral.peer)
    }

    @Test("A peer without private addresses is advertised to under its own address")
    func fixed() throws {
        var controller = ScriptedController.ready()
        let peer = DeviceAddress(0xC0_00_00_00_00_09, kind: .random)
        try controller.host.startAdvertising(AdvertisingParameters(data: [], peer: PeerID(peer)), at: controller.now)
        controller.settle()
        #expect(
            controller.commands.first
                == .init(
                    opcode: .leSetAdvertisingParameters,
                    parameters: [0x30, 0, 0x60, 0, 4, 0, 1, 9, 0, 0, 0, 0, 0xC0, 7, 0]))
    }

    @Test("Directed advertising must be connectable")
    func invalid() {
        var controller = ScriptedController.ready()
        let peer = PeerID(DeviceAddress(0xC0_00_00_00_00_09, kind: .random))
        #expect(throws: HostError.invalidParameters) {
            try controller.host.startAdvertising(
                AdvertisingParameters(isConnectable: false, data: [], peer: peer), at: controller.now)
        }
    }

    /// The flags, the duration asked for, and how long it lasts; nil where that is refused (Vol 3, Part C, 9.2.3).
    static let durations: [(flags: UInt8, asked: Duration?, lasts: Duration?)] = [
        (0x05, nil, .seconds(180)), (0x05, .seconds(30), .seconds(30)), (0x05, .seconds(180), .seconds(180)),
        (0x05, .seconds(181), nil), (0x05, .zero, nil), (0x06, .seconds(181), .seconds(181)),
    ]

    @Test("Limited discoverable mode ends after 180 seconds at most", arguments: durations)
    func limited(_ flags: UInt8, _ asked: Duration?, _ lasts: Duration?) throws {
        var world = HostWorld()
        let host = world.start(), other = world.start()
        let parameters = AdvertisingParameters(data: [2, 1, flags], duration: asked)
        guard let lasts else {
            #expect(throws: HostError.invalidParameters) {
                try world.hosts[host].startAdvertising(parameters, at: world.now)
            }
            return
        }
        try world.hosts[host].startAdvertising(parameters, at: world.now)
        world.run(for: lasts - .seconds(2))
        // A link in between does not give it more time.
        let address = try #require(world.address(of: host))
        _ = try world.hosts[other].connect(to: PeerID(address), timeout: nil, at: world.now)
        world.run(for: .seconds(1))
        #expect(world.air[world.controllers[host]].isAdvertising)
        #expect(world.seen[host].map(\.event.brief).contains("advertising ended") == false)
        world.run(for: .milliseconds(1100))
        #expect(!world.air[world.controllers[host]].isAdvertising)
        #expect(world.seen[host].last?.event.brief == "advertising ended")
        #expect(!world.hosts[host].isAdvertisingWanted())
    }
}
