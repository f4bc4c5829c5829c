import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing
import VirtualRadio

/// Broadcast mode and the observation procedure (Core 5.4, Vol 3, Part C, 9.1).
@Suite("GAP: broadcasting and observing")
struct BroadcastTests {
    /// The addresses a device uses.
    enum Addresses: CaseIterable, CustomTestStringConvertible {
        case identity, resolvable, nonResolvable

        var testDescription: String { "\(self)" }

        var privacy: OwnPrivacy {
            switch self {
            case .identity: .off
            case .resolvable: .resolvable(rotation: .seconds(60))
            case .nonResolvable: .nonResolvable(rotation: .seconds(60))
            }
        }

        func contains(_ address: DeviceAddress, keyOf number: UInt64) -> Bool {
            switch self {
            case .identity: address.kind == .public
            case .resolvable: HostWorld.crypto.resolves(address, resolvingKey: HostWorld.key(of: number))
            case .nonResolvable: address.kind == .random && address.value >> 46 == 0
            }
        }
    }

    /// Data without flags, as in broadcast mode.
    static let data = bytes("05 16 0F18 64 2A")
    static let response = bytes("04 09 41 62 63")

    /// Case of the qualification, whether there is a scan response, and the addresses.
    static let modes: [(String, Bool, Addresses)] = [
        ("GAP/BROB/BCST/BV-01", false, .identity), ("GAP/BROB/BCST/BV-02", true, .identity),
        ("GAP/BROB/BCST/BV-03", false, .resolvable), ("GAP/BROB/BCST/BV-04", false, .nonResolvable),
        ("resolvable, with a scan response", true, .resolvable),
    ]

    @Test("A broadcaster can be observed, but not connected to", arguments: modes)
    func broadcast(_ code: String, _ hasResponse: Bool, _ addresses: Addresses) throws {
        var world = HostWorld()
        let broadcaster = world.startSecure { $0.privacy = addresses.privacy }
        let observer = world.start()
        world.transcript = []
        let parameters = AdvertisingParameters(
            isConnectable: false, data: Self.data, scanResponse: hasResponse ? Self.response : [])
        try world.hosts[broadcaster].startAdvertising(parameters, at: world.now)
        world.settle()
        // ADV_NONCONN_IND, or ADV_SCAN_IND where there is a scan response.
        let octets = world.transcript?.first { $0.contains("0 > [1, 6, 32, 15") }
        #expect(octets?.contains("15, 48, 0, 96, 0, \(hasResponse ? 2 : 3),") == true)
        world.transcript = nil

        var seen: Set<DeviceAddress> = []
        for _ in 0..<2 {
            let sightings = world.sightings(by: observer, for: .seconds(1))
            #expect(sightings.isEmpty == false)
            for sighting in sightings {
                #expect(addresses.contains(sighting.address, keyOf: 1))
                #expect(!sighting.type.contains(.connectable))
                #expect(sighting.type.contains(.scannable) == hasResponse)
            }
            #expect(sightings.contains { $0.type.contains(.scanResponse) } == hasResponse)
            #expect(world.advertisingOctets(of: observer) == (hasResponse ? [Self.data, Self.response] : [Self.data]))
            seen.formUnion(sightings.map(\.address))
            let target = try #require(sightings.first?.address)
            _ = try world.hosts[observer].connect(to: PeerID(target), timeout: .seconds(2), at: world.now)
            world.run(for: .seconds(61))
            #expect(world.hosts[observer].connectedLinks == [] && world.hosts[broadcaster].connectedLinks == [])
        }
        #expect(seen.count == (addresses == .identity ? 1 : 2))
    }

    @Test("Advertised data arrives unchanged, octet by octet")
    func octets() throws {
        var world = HostWorld()
        let broadcaster = world.start(), observer = world.start()
        let parameters = AdvertisingParameters(isConnectable: false, data: Self.data, scanResponse: Self.response)
        try world.hosts[broadcaster].startAdvertising(parameters, at: world.now)
        try world.hosts[observer].startScanning(ScanParameters(), at: world.now)
        world.run(for: .seconds(1))
        let received = Set(world.seen[observer].map(\.bytes).filter { !$0.isEmpty })
        #expect(received == [Self.data, Self.response])
    }

    /// Case of the qualification, whether the observer asks, and its addresses.
    static let observers: [(String, Bool, Addresses)] = [
        ("GAP/BROB/OBSV/BV-01", false, .identity), ("GAP/BROB/OBSV/BV-02", true, .identity),
        ("GAP/BROB/OBSV/BV-05", true, .nonResolvable), ("GAP/BROB/OBSV/BV-05", true, .resolvable),
    ]

    @Test(
        "An observer gets the data, requests scan responses only in active scans, and uses its configured address",
        arguments: observers)
    func observe(_ code: String, _ isActive: Bool, _ addresses: Addresses) throws {
        var controller = ScriptedController {
            $0.security = SecurityConfiguration(
                crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 1), resolvingKey: HostWorld.key(of: 1))
            $0.privacy = addresses.privacy
        }
        controller.start()
        let own = controller.commands.last { $0.opcode == .leSetRandomAddress }?.parameters
        if let own {
            let value = own.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            #expect(addresses.contains(DeviceAddress(value, kind: .random), keyOf: 1))
        }
        #expect((own == nil) == (addresses == .identity))
        controller.commands.removeAll()
        try controller.host.startScanning(ScanParameters(isActive: isActive), at: controller.now)
        controller.settle()
        let ownType: UInt8 = addresses == .identity ? 0 : 1
        #expect(
            controller.commands == [
                .init(opcode: .leSetScanParameters, parameters: [isActive ? 1 : 0, 0x60, 0, 0x60, 0, ownType, 0]),
                .init(opcode: .leSetScanEnable, parameters: [1, 0]),
            ])

        var world = HostWorld()
        let broadcaster = world.start()
        let observer = world.startSecure { $0.privacy = addresses.privacy }
        let parameters = AdvertisingParameters(isConnectable: false, data: Self.data, scanResponse: Self.response)
        try world.hosts[broadcaster].startAdvertising(parameters, at: world.now)
        try world.hosts[observer].startScanning(ScanParameters(isActive: isActive), at: world.now)
        world.run(for: .seconds(1))
        #expect(world.advertisingOctets(of: observer) == (isActive ? [Self.data, Self.response] : [Self.data]))
    }

    @Test("GAP/BROB/OBSV/BV-06: with both addresses private, a bonded broadcaster and its scan response are recognized")
    func observePrivately() throws {
        var world = HostWorld()
        let observer = world.startSecure(rotation: .seconds(60)), peer = world.startSecure(rotation: .seconds(60))
        let pair = try world.connectSecure(observer, to: peer)
        let bond = try world.bond(pair).central
        world.disconnect(pair)
        for _ in 0..<2 {
            world.run(for: .seconds(61))
            let parameters = AdvertisingParameters(isConnectable: false, data: Self.data, scanResponse: Self.response)
            try world.hosts[peer].startAdvertising(parameters, at: world.now)
            let sightings = world.sightings(by: observer, for: .seconds(1))
            #expect(sightings.contains { $0.type.contains(.scanResponse) })
            #expect(world.advertisingOctets(of: observer) == [Self.data, Self.response])
            #expect(!sightings.isEmpty && sightings.allSatisfy { $0.peer == bond.peer })
        }
    }

    @Test("A device with non-resolvable addresses can neither connect nor accept connections")
    func unsupported() {
        var controller = ScriptedController.ready([:]) { $0.privacy = .nonResolvable() }
        #expect(throws: HostError.unsupported(.connectableAddress)) {
            try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        }
        #expect(throws: HostError.unsupported(.connectableAddress)) {
            _ = try controller.host.connect(
                to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        }
    }
}
