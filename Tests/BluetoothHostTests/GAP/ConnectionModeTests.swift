import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing
import VirtualRadio

/// Connection modes and procedures (Core 5.4, Vol 3, Part C, 9.3).
@Suite("GAP: connecting")
struct ConnectionModeTests {
    typealias Command = ScriptedController.Command

    /// The procedures by which a central connects.
    enum Procedure: CustomTestStringConvertible {
        /// To any of several peers that it knows, by the filter accept list (9.3.5).
        case auto
        /// To a peer of its choice among those that it finds (9.3.6).
        case general
        /// To a peer that it finds among those that it knows (9.3.7).
        case selective
        /// To one peer (9.3.8).
        case direct

        var testDescription: String { "\(self)" }
    }

    /// Case of the qualification, the procedure, whether the peer advertises for this central only, and whether both
    /// have private addresses.
    static let cases: [(code: String, Procedure, isDirected: Bool, isPrivate: Bool)] = [
        ("GAP/CONN/ACEP/BV-01", .auto, true, false), ("GAP/CONN/ACEP/BV-03", .auto, true, true),
        ("GAP/CONN/ACEP/BV-04", .auto, false, true), ("GAP/CONN/GCEP/BV-01", .general, true, false),
        ("GAP/CONN/GCEP/BV-02", .general, false, false), ("GAP/CONN/GCEP/BV-05", .general, true, true),
        ("GAP/CONN/GCEP/BV-06", .general, false, true), ("GAP/CONN/SCEP/BV-01", .selective, true, false),
        ("GAP/CONN/SCEP/BV-03", .selective, true, true), ("GAP/CONN/DCEP/BV-01", .direct, true, false),
        ("GAP/CONN/DCEP/BV-03", .direct, false, false), ("GAP/CONN/DCEP/BV-05", .direct, true, true),
        ("GAP/CONN/DCEP/BV-06", .direct, false, true),
    ]

    @Test("Each procedure connects to its peer, and to no other", arguments: cases)
    func establish(_ code: String, _ procedure: Procedure, _ isDirected: Bool, _ isPrivate: Bool) throws {
        var world = HostWorld()
        let rotation: Duration? = isPrivate ? .seconds(60) : nil
        let central = world.startSecure(rotation: rotation), peripheral = world.startSecure(rotation: rotation)
        let stranger = world.start()
        var names = (
            peripheral: PeerID(try #require(world.address(of: peripheral))),
            central: PeerID(try #require(world.address(of: central)))
        )
        if isPrivate {
            let pair = try world.connectSecure(central, to: peripheral)
            let bonds = try world.bond(pair)
            names = (bonds.central.peer, bonds.peripheral.peer)
            world.disconnect(pair)
            // They have other addresses now.
            world.run(for: .seconds(61))
        }
        try world.hosts[stranger].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: world.now)
        try world.hosts[peripheral].startAdvertising(
            AdvertisingParameters(data: [2, 1, 6], peer: isDirected ? names.central : nil), at: world.now)
        world.settle()
        world.transcript = []
        switch procedure {
        case .direct: _ = try world.hosts[central].connect(to: names.peripheral, timeout: nil, at: world.now)
        case .auto:
            let absent = PeerID(DeviceAddress(0xB0_00_00_00_00_01, kind: .public))
            for name in [absent, names.peripheral] {
                _ = try world.hosts[central].connect(to: name, timeout: nil, at: world.now)
            }
        case .general, .selective:
            let found = world.sightings(by: central, for: .seconds(1)).filter {
                procedure == .general || $0.peer == names.peripheral
            }
            let sighting = try #require(found.first { $0.peer == names.peripheral })
            #expect(sighting.type.contains(.directed) == isDirected && sighting.type.contains(.connectable))
            #expect(procedure == .selective || found.contains { $0.peer != names.peripheral })
            _ = try world.hosts[central].connect(to: sighting.peer, timeout: nil, at: world.now)
        }
        let pair = try world.linked(central, peripheral)
        #expect(world.hosts[central].information(of: pair.centralLink)?.peer == names.peripheral)
        #expect(world.hosts[peripheral].information(of: pair.peripheralLink)?.peer == names.central)
        #expect(world.hosts[stranger].connectedLinks == [])
        // The filter policies of LE Create Connection: the accept list for several peers, the peer's address for one.
        let commands = (world.transcript ?? []).filter { $0.contains("\(central) > [1, 13, 32, 25") }
        let fields = commands.compactMap { $0.split(separator: "[").last?.split(separator: ", ") }
        let policies = fields.map { $0[8] }
        #expect(policies.first == "0" && policies.contains("1") == (procedure == .auto))
        // Its own address is public, or a private one that the controller makes. The link is between private addresses.
        #expect(fields.allSatisfy { $0[16] == (isPrivate ? "3" : "0") })
        guard isPrivate else { return }
        let used = try #require(world.privateAddresses(ofLastLinkOf: central))
        #expect(HostWorld.crypto.resolves(used.own, resolvingKey: HostWorld.key(of: 1)))
        #expect(HostWorld.crypto.resolves(used.peer, resolvingKey: HostWorld.key(of: 2)))
    }

    @Test("The auto connection establishment procedure first puts its peers into the filter accept list")
    func acceptList() throws {
        var controller = ScriptedController.ready()
        for number in UInt64(1)...2 {
            let peer = PeerID(DeviceAddress(0xC0_00_00_00_00_00 | number, kind: .random))
            _ = try controller.host.connect(to: peer, timeout: nil, at: controller.now)
        }
        controller.settle()
        // The first attempt goes for its peer at once, and makes room for both.
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        let commands = controller.commands.drop { $0.opcode != .leClearFilterAcceptList }
        #expect(
            commands.map(\.opcode) == [
                .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leAddDeviceToFilterAcceptList,
                .leCreateConnection,
            ])
        #expect(commands.dropFirst().first?.parameters == [1, 1, 0, 0, 0, 0, 0xC0])
        #expect(commands.last?.parameters.prefix(12) == [0x60, 0, 0x60, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("GAP/CONN/DCON/BV-01: in directed connectable mode, only the target peer sees the device and can connect")
    func directed() throws {
        var world = HostWorld()
        let device = world.start(), peer = world.start(), stranger = world.start()
        let name = PeerID(try #require(world.address(of: peer)))
        let own = PeerID(try #require(world.address(of: device)))
        world.transcript = []
        try world.hosts[device].startAdvertising(AdvertisingParameters(data: [], peer: name), at: world.now)
        let overheard = world.sightings(by: stranger, for: .seconds(1))
        #expect(overheard == [])
        // ADV_DIRECT_IND from the public address, for that of the peer.
        let command = "\(device) > [1, 6, 32, 15, 48, 0, 96, 0, 4, 0, 0, 2, 0, 0, 0, 0, 160, "
        #expect(world.transcript?.contains { $0.contains(command) } == true)
        world.transcript = nil
        _ = try world.hosts[stranger].connect(to: own, timeout: .seconds(5), at: world.now)
        world.run(for: .seconds(6))
        #expect(world.hosts[stranger].connectedLinks == [])
        let sightings = world.sightings(by: peer, for: .seconds(1))
        #expect(!sightings.isEmpty && sightings.allSatisfy { $0.type.contains([.directed, .connectable]) })
        #expect(sightings.allSatisfy { $0.peer == own })
        _ = try world.hosts[peer].connect(to: own, timeout: .seconds(5), at: world.now)
        let pair = try world.linked(peer, device)
        #expect(world.hosts[device].information(of: pair.peripheralLink)?.peer == name)
        world.disconnect(pair)
        #expect(world.hosts.allSatisfy { $0.connectedLinks == [] })
    }

    @Test("GAP/CONN/UCON/BV-06: a peripheral with resolvable addresses accepts connections under each of them")
    func privateAddresses() throws {
        var world = HostWorld()
        let device = world.startSecure(rotation: .seconds(60)), other = world.start()
        var addresses: Set<DeviceAddress> = []
        for _ in 0..<3 {
            let pair = try world.connectSecure(other, to: device)
            let address = try #require(world.hosts[other].information(of: pair.centralLink)?.address)
            #expect(HostWorld.crypto.resolves(address, resolvingKey: HostWorld.key(of: 1)))
            addresses.insert(address)
            world.disconnect(pair)
            world.run(for: .seconds(61))
        }
        #expect(addresses.count == 3)
    }

    @Test(
        "GAP/CONN/TERM/BV-01: either side ends the link with Remote User Terminated Connection",
        arguments: LinkRole.allCases)
    func terminate(_ role: LinkRole) throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        world.hosts[peripheral].stopAdvertising(at: world.now)
        world.run(for: .seconds(1))
        world.transcript = []
        let (index, link) = role == .central ? (central, pair.centralLink) : (peripheral, pair.peripheralLink)
        try world.hosts[index].disconnect(link, at: world.now)
        world.run(for: .seconds(1))
        // Disconnect, with 0x13, and Disconnection Complete with 0x16 here and 0x13 there.
        let lines = world.transcript ?? []
        #expect(lines.contains { $0.contains(" \(index) > [1, 6, 4, 3, ") && $0.hasSuffix("19]") })
        #expect(lines.contains { $0.contains(" \(index) < [4, 5, 4, 0, ") && $0.hasSuffix("22]") })
        let other = index == central ? peripheral : central
        #expect(lines.contains { $0.contains(" \(other) < [4, 5, 4, 0, ") && $0.hasSuffix("19]") })
        #expect(world.hosts.allSatisfy { $0.connectedLinks == [] })
    }
}
