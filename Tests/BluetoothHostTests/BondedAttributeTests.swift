import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

/// What a bond keeps of a peer's server (Core 5.4, Vol 3, Part G, 2.5.2). The peer has one service of 1 to 4.
@Suite("A bond stores the discovered attributes")
struct BondedAttributeTests {
    private let user = UserID(number: 1)
    private static let mtu = "02 05 02", hash = "08 01 00 FF FF 2A 2B", name = "08 01 00 FF FF 00 2A"
    private static let services = ["10 01 00 FF FF 00 28", "10 05 00 FF FF 00 28"]
    private static let characteristics = "08 01 00 04 00 03 28", watch = "12 04 00 02 00"

    private static let cache: AttributeCache = {
        var cache = AttributeCache()
        let found = DiscoveredDatabase(
            services: [DiscoveredService(uuid: .genericAttribute, startHandle: 1, endHandle: 4)],
            characteristics: [
                DiscoveredCharacteristic(
                    uuid: .serviceChanged, declarationHandle: 2, valueHandle: 3, endHandle: 4, properties: .indicate)
            ], descriptors: [DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: 4)])
        cache.learn(.database(found), of: .discoverAll(includes: true))
        return cache
    }()

    private func scene(_ attributes: AttributeCache?, hash: UInt128? = nil) -> SharedScene {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        // Nothing but what is asked about attributes.
        configuration.enhancedBearers = 0
        var scene = SharedScene(users: user, configuration: configuration)
        scene.responses = [
            bytes("10 01 00 FF FF 00 28"): bytes("11 06 01 00 04 00 01 18"),
            bytes("08 01 00 04 00 03 28"): bytes("09 07 02 00 20 03 00 05 2A"),
        ]
        var bond = Bond(
            peer: PeerID(PeerTests.first), address: PeerTests.first,
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
        bond.centralKey = LongTermKey(key: 1)
        bond.attributes = attributes
        bond.databaseHash = hash
        bond.serviceChangedHandle = attributes == nil ? nil : 3
        scene.host.setIdentity(
            DeviceIdentity(address: DeviceAddress(1, kind: .public), resolvingKey: 1), bonds: [bond], at: .zero)
        return scene
    }

    private func connect(_ scene: inout SharedScene, encrypts: Bool = true) throws -> LinkIdentifier {
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        if encrypts { scene.reportEncryption() }
        return try #require(scene.links.last)
    }

    private func discover(_ scene: inout SharedScene, _ link: LinkIdentifier) -> [String] {
        _ = scene.takePDUs()
        scene.perform(.perform(link, .discoverAll(includes: true)), 2, of: user)
        return scene.takePDUs()
    }

    @Test("Without a hash, the stored attributes of a bonded peer are used until Service Changed arrives")
    func noHash() throws {
        var scene = scene(Self.cache)
        let link = try connect(&scene)
        #expect(scene.takePDUs() == [Self.mtu, Self.name, Self.watch])
        #expect(discover(&scene, link) == [])
        _ = scene.host.takeBondChanges()
        scene.receive(bytes("1D 03 00 01 00 04 00"), on: 0x40)
        // At once: the program may end before the link does.
        #expect(scene.host.host.bonds.map(\.attributes) == [nil])
        #expect(scene.host.takeBondChanges().count == 1)
        #expect(Array(discover(&scene, link).prefix(3)) == [Self.hash] + Self.services)
        scene.reportDisconnection(0x40)
        #expect(scene.host.host.bonds.map(\.attributes) == [Self.cache])
    }

    @Test("A user can clear the attributes stored with a bond", arguments: [true, false])
    func forgotten(isConnected: Bool) throws {
        var scene = scene(Self.cache)
        if isConnected { _ = try connect(&scene) }
        _ = scene.host.takeBondChanges()
        scene.perform(.forgetAttributes(PeerID(PeerTests.first)), 9, of: user)
        #expect(scene.host.host.bonds.map(\.attributes) == [nil])
        #expect(scene.host.takeBondChanges().count == 1)
        let link = try isConnected ? #require(scene.links.last) : connect(&scene)
        _ = scene.takePDUs()
        if isConnected { #expect(Array(discover(&scene, link).prefix(3)) == [Self.hash] + Self.services) }
    }

    @Test("A peer whose bond is removed is discovered again")
    func removed() throws {
        var scene = scene(Self.cache)
        scene.perform(.removeBond(PeerID(PeerTests.first)), 9, of: user)
        _ = try connect(&scene, encrypts: false)
        #expect(Array(scene.takePDUs().prefix(4)) == [Self.mtu, Self.hash] + Self.services)
    }

    @Test(
        "With a hash, the stored attributes are used only if the hash is unchanged", arguments: [0xA1, 0xA2] as [UInt8])
    func hash(octet: UInt8) throws {
        var scene = scene(Self.cache, hash: UInt128(0xA1) * (.max / 0xFF))
        scene.responses[bytes(Self.hash)] = bytes("09 12 06 00") + [UInt8](repeating: octet, count: 16)
        let link = try connect(&scene)
        let isSame = octet == 0xA1
        var expected = [Self.mtu, Self.hash]
        if !isSame { expected += Self.services }
        expected.append(Self.name)
        if !isSame { expected += [Self.characteristics, "04 04 00 04 00"] }
        expected.append(Self.watch)
        #expect(scene.takePDUs() == expected)
        if isSame { #expect(discover(&scene, link) == []) }
        scene.reportDisconnection(0x40)
        #expect(scene.host.host.bonds.map(\.databaseHash) == [UInt128(octet) * (.max / 0xFF)])
    }

    @Test("Attributes discovered on an encrypted link are stored with their hash when the link ends")
    func learned() throws {
        var scene = scene(nil)
        scene.responses[bytes(Self.hash)] = bytes("09 12 06 00 01") + [UInt8](repeating: 0, count: 15)
        let link = try connect(&scene)
        #expect(!discover(&scene, link).isEmpty)
        scene.reportDisconnection(0x40)
        #expect(scene.host.host.bonds.map(\.databaseHash) == [1])
        #expect(scene.host.host.bonds.map(\.attributes) == [Self.cache])
    }

    @Test("On an unencrypted link, the hash is not read, and the stored attributes are neither used nor changed")
    func unencrypted() throws {
        var scene = scene(Self.cache)
        scene.accept(0x40, from: PeerTests.first, for: user)
        let link = try #require(scene.links.last)
        #expect(Array(discover(&scene, link).prefix(2)) == Self.services)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        scene.reportDisconnection(0x40)
        #expect(scene.host.host.bonds.map(\.attributes) == [Self.cache])
    }
}
