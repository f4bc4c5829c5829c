import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Says yes, and knows what the peer has made of out-of-band data.
private struct OutOfBand: OutOfBandPairing {
    let data: OutOfBandData?
    func allowsPairing(with peer: Connection, features: PairingFeatures) async -> Bool { true }
    func outOfBandData(of peer: Connection) async -> OutOfBandData? { data }
}

@Suite("Out-of-band pairing and bonded peers", .timeLimit(.minutes(30)))
struct BondedPeerTests {
    @Test(
        "Out-of-band data of either device, or of both, authenticates the pairing",
        arguments: [(true, false), (false, true), (true, true)])
    func outOfBand(_ centralKnows: Bool, _ peripheralKnows: Bool) async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            let ofCentral = peripheralKnows ? try await scene.central.outOfBandData() : nil
            let ofPeripheral = centralKnows ? try await scene.peripheral.outOfBandData() : nil
            try await scene.peripheral.withPairingAgent(OutOfBand(data: ofCentral)) {
                try await scene.central.withPairingAgent(OutOfBand(data: ofPeripheral)) {
                    let connection = try await scene.central.connect(to: scene.address)
                    try await connection.pair(PairRequest(requiresAuthentication: true))
                    #expect(try await connection.read(try scene.handle(SecureScene.authenticated)) == [2])
                }
            }
        }
        #expect(try await scene.central.bonds.map(\.strength.model) == [.outOfBand])
        #expect(try await scene.peripheral.bonds.map(\.strength.model) == [.outOfBand])
    }

    @Test("Pairing with superseded out-of-band data fails")
    func wrongData() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            // What was handed out first is void.
            let old = try await scene.peripheral.outOfBandData()
            _ = try await scene.peripheral.outOfBandData()
            try await scene.peripheral.withPairingAgent(OutOfBand(data: nil)) {
                let connection = try await scene.central.connect(to: scene.address)
                await #expect(throws: BluetoothError.pairingFailed(.local(.confirmValueFailed))) {
                    try await connection.pair(PairRequest(peerOutOfBandData: old))
                }
                #expect(connection.security == .unprotected)
            }
        }
    }

    @Test("Pairing again with authentication replaces the bond of a central that has lost its own")
    func centralLostBond() async throws {
        let scene = try await SecureScene(), screens = Screens()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Comparing(screens: screens)) {
                try await scene.central.withPairingAgent(Comparing(screens: screens)) {
                    let connection = try await scene.central.connect(to: scene.address)
                    try await connection.pair()
                    try await connection.disconnect()
                    try await scene.central.removeBond(with: PeerID(scene.address))
                    let anew = try await scene.central.connect(to: scene.address)
                    #expect(anew.security.isEncrypted == false)
                    try await anew.pair(PairRequest(requiresAuthentication: true))
                    #expect(anew.security.isBonded)
                    #expect(try await scene.peripheral.bonds.map(\.strength.model) == [.numericComparison])
                }
            }
        }
    }

    @Test("A peripheral whose read the central refuses requests security and repeats the read")
    func peripheralOnDemand() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            let service = try await scene.central.publish(
                GATTServiceDefinition(
                    uuid: "F200",
                    characteristics: [
                        .init(
                            uuid: "F201", properties: .read, permissions: GATTPermissions(read: .encrypted),
                            value: .constant([9]))
                    ]))
            let handle = try #require(service["F201"]).handle
            try await scene.central.withPairingAgent(Consenting()) {
                try await scene.peripheral.withPairingAgent(Consenting()) {
                    let connection = try await scene.central.connect(to: scene.address)
                    let server = try #require(scene.peripheral.connections.first)
                    #expect(try await server.read(handle) == [9])
                    #expect(connection.security.isBonded)
                }
            }
        }
    }

    @Test(
        "If a bond is too weak for a value, the devices pair again and the request is repeated",
        arguments: [true, false])
    func weakBond(_ centralReads: Bool) async throws {
        let scene = try await SecureScene(), screens = Screens()
        try await scene.radio.passing {
            let service = try await scene.central.publish(
                GATTServiceDefinition(
                    uuid: "F200",
                    characteristics: [
                        .init(
                            uuid: "F201", properties: .read, permissions: GATTPermissions(read: .authenticated),
                            value: .constant([2]))
                    ]))
            try await scene.peripheral.withPairingAgent(Displaying(screens: screens)) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                #expect(try await scene.central.bonds.map(\.strength.model) == [.justWorks])
                try await scene.central.withPairingAgent(Entering(screens: screens)) {
                    let server = try #require(scene.peripheral.connections.first)
                    let value =
                        centralReads
                        ? try await connection.read(try scene.handle(SecureScene.authenticated))
                        : try await server.read(try #require(service["F201"]).handle)
                    #expect(value == [2])
                }
            }
        }
        #expect(try await scene.peripheral.bonds.map(\.strength.model) == [.passkeyEntry])
    }

    @Test("A bonded central that reconnects gets servicesChanged for changes made while it was away")
    func servicesChangedWhileAway() async throws {
        let scene = try await SecureScene()
        let events = scene.central.events()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
            }
        }
        // The peer is asked to tell of changes as soon as there is nothing else to do.
        await scene.radio.advance(by: .seconds(3))
        try await scene.radio.passing {
            try await scene.central.connections.first?.disconnect()
            let added = try await scene.peripheral.publish(
                GATTServiceDefinition(
                    uuid: "F300", characteristics: [.init(uuid: "F301", properties: .read, value: .constant([1]))]))
            _ = try await scene.central.connect(to: scene.address)
            for try await case .servicesChanged(_, let handles) in events {
                #expect(handles.overlaps(added.handles.range))
                return
            }
        }
    }

    @Test("A device with a static address keeps its bonds on another controller, and back on the first")
    func anotherController() async throws {
        let radio = VirtualRadio(time: .manual), bonds = MemoryBondStore()
        let ports = [radio.addController(), radio.addController()], peer = radio.addController()
        try await radio.passing {
            let peripheral = try await Adapter.open(peer, seed: 9)
            try await peripheral.advertise(AdvertisementData(name: "Secure"))
            let address = try #require(peripheral.information?.address)
            try await peripheral.withPairingAgent(Consenting()) {
                // A bond of the second controller's own address is another device's, and stays.
                let other = try await Adapter.open(ports[1], seed: 7, bonds: bonds)
                try await other.connect(to: address).pair()
                await other.close()
                for (run, port) in [ports[0], ports[1], ports[0]].enumerated() {
                    let central = try await Adapter.open(
                        port, seed: UInt64(run), bonds: bonds,
                        address: DeviceAddress(0xC0_00_00_00_00_07, kind: .random))
                    let connection = try await central.connect(to: address)
                    #expect(connection.security.isBonded == (run > 0))
                    if run == 0 { try await connection.pair() }
                    try await connection.disconnect()
                    await central.close()
                }
                let again = try await Adapter.open(ports[1], seed: 8, bonds: bonds)
                #expect(try await again.connect(to: address).security.isBonded)
                await again.close()
            }
        }
        #expect(try bonds.identities().count == 2)
    }
}
