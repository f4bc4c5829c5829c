import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

/// What a client keeps of a server (Core 5.4, Vol 3, Part G, 2.5.2 and 7.3). The peer has Generic Attribute at 1 to 6,
/// with Service Changed at 3, its descriptor at 4, and the Database Hash at 6.
@Suite("A host does not rediscover attributes that it knows")
struct AttributeCachingTests {
    private let user = UserID(number: 1)
    private static let whole = GATTClientOperation.discoverAll(includes: true)

    private static let mtu = "02 05 02", name = "08 01 00 FF FF 00 2A", watch = "12 04 00 02 00"
    private static let hash = "08 01 00 FF FF 2A 2B"
    /// What the host asks for by itself, in that order.
    private static let services = ["10 01 00 FF FF 00 28", "10 07 00 FF FF 00 28"]
    private static let attributes = ["08 01 00 06 00 03 28", "04 04 00 04 00"]
    /// What a discovery of everything asks for.
    private static let discovery = services + ["08 01 00 06 00 03 28", "04 04 00 04 00"]

    private func scene(hash: UInt8? = 0xA1, configuration: HostConfiguration = HostConfiguration(seed: 7))
        -> SharedScene
    {
        var scene = SharedScene(users: user, configuration: configuration)
        scene.responses = [
            bytes("10 01 00 FF FF 00 28"): bytes("11 06 01 00 06 00 01 18"),
            bytes("08 01 00 06 00 03 28"): bytes("09 07 02 00 20 03 00 05 2A 05 00 02 06 00 2A 2B"),
        ]
        setHash(hash, of: &scene)
        return scene
    }

    private func setHash(_ hash: UInt8?, of scene: inout SharedScene) {
        scene.responses[bytes(Self.hash)] = hash.map {
            bytes("09 12 06 00") + [UInt8](repeating: $0, count: 16)
        }
    }

    /// Connects, discovers everything, and says what the peer was asked for that.
    private func visit(_ scene: inout SharedScene, _ token: UInt64 = 1, encrypts: Bool = false) throws -> [String] {
        scene.connect(to: PeerTests.first, token, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        if encrypts { scene.reportEncryption() }
        let link = try #require(scene.links.last)
        scene.perform(.perform(link, Self.whole), token + 1, of: user)
        #expect(scene.take(user).last == "\(token + 1) done")
        return scene.takePDUs()
    }

    private func leave(_ scene: inout SharedScene) {
        scene.reportDisconnection(0x40)
        scene.run(for: .seconds(60))
        _ = scene.take(user)
        _ = scene.takePDUs()
    }

    /// Without a hash. With one it is read again once changes are watched.
    private static let unknown = [mtu, hash] + services + [name] + attributes + [watch] + discovery
    private static let new = [mtu, hash] + services + [name] + attributes + [watch, hash] + discovery
    /// With the hash of the last time.
    private static let known = [mtu, hash, name, watch, hash]

    @Test("With an unchanged Database Hash, two requests replace the discovery")
    func sameHash() throws {
        var scene = scene()
        #expect(try visit(&scene) == Self.new)
        leave(&scene)
        for token in [3, 5] as [UInt64] {
            let requests = try visit(&scene, token)
            #expect(requests == Self.known)
            #expect(requests.filter { Self.discovery.contains($0) || $0 == Self.hash }.count <= 3)
            leave(&scene)
        }
    }

    @Test("With a different hash, or without one, everything is discovered again", arguments: [0xA2, nil] as [UInt8?])
    func otherHash(hash: UInt8?) throws {
        var scene = scene()
        _ = try visit(&scene)
        leave(&scene)
        setHash(hash, of: &scene)
        #expect(try visit(&scene, 3) == (hash == nil ? Self.unknown : Self.new))
    }

    @Test("If the hash changes before the host watches Service Changed, the discovered attributes are not kept")
    func changesUnwatched() throws {
        var scene = scene()
        scene.silences = [bytes(Self.watch)]
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        // In steps, because Swift 6.2.3 takes too long to check the whole expression.
        let discovery: [String] = Self.services + [Self.name] + Self.attributes
        #expect(scene.takePDUs() == [Self.mtu, Self.hash] + discovery + [Self.watch])
        // Its application changes the services, and takes the change back after the link.
        setHash(0xA2, of: &scene)
        scene.receive(bytes("13"), on: 0x40)
        #expect(scene.takePDUs() == [Self.hash])
        leave(&scene)
        scene.silences = []
        setHash(0xA1, of: &scene)
        #expect(try visit(&scene, 3) == Self.new)
    }

    @Test("Attributes found while the hash is read again are kept")
    func foundMeanwhile() throws {
        var scene = scene()
        scene.silences = [bytes(Self.watch)]
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        // Asked for in time not to wait for the hash, and answered before it.
        scene.perform(.perform(try #require(scene.links.last), Self.whole), 2, of: user)
        _ = scene.takePDUs()
        scene.receive(bytes("13"), on: 0x40)
        #expect(scene.takePDUs() == Self.discovery + [Self.hash])
        leave(&scene)
        scene.silences = []
        #expect(try visit(&scene, 3) == Self.known)
    }

    @Test(
        "The hash is read again before discovered attributes are used; if the link ends before that, none are kept",
        arguments: [false, true])
    func used(isUsed: Bool) throws {
        var scene = scene()
        scene.silences = [bytes(Self.name), bytes(Self.watch)]
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        let link = try #require(scene.links.last)
        scene.perform(.perform(link, Self.whole), 2, of: user)
        scene.receive(bytes("01 08 01 00 0A"), on: 0x40)
        _ = scene.takePDUs()
        if isUsed {
            scene.perform(.perform(link, .read(0x0009)), 3, of: user)
            scene.receive(bytes("13"), on: 0x40)
            #expect(scene.takePDUs() == [Self.hash, "0A 09 00"])
        }
        leave(&scene)
        scene.silences = []
        #expect(try visit(&scene, 4) == (isUsed ? Self.known : Self.new))
    }

    @Test("A peer with neither a hash nor a bond is discovered on each link")
    func noHash() throws {
        var scene = scene(hash: nil)
        for token in [1, 3] as [UInt64] {
            #expect(try visit(&scene, token) == Self.unknown)
            leave(&scene)
        }
    }

    @Test("A peer whose hash cannot be read is discovered on each link")
    func refusedHash() throws {
        var scene = scene()
        // Unlikely Error, one that is too short, and two.
        let two = "09 12 06 00 " + String(repeating: "A1 ", count: 16) + "07 00" + String(repeating: " A1", count: 16)
        for (token, response) in [(1, "01 08 01 00 0E"), (3, "09 04 06 00 01 02"), (5, two)] as [(UInt64, String)] {
            scene.responses[bytes(Self.hash)] = bytes(response)
            #expect(try visit(&scene, token) == Self.unknown)
            leave(&scene)
        }
    }

    @Test("Known attributes answer discoveries until Service Changed; newly found ones answer on the next link")
    func serviceChanged() throws {
        var scene = scene()
        _ = try visit(&scene)
        var link = try #require(scene.links.last)
        scene.perform(.perform(link, Self.whole), 8, of: user)
        #expect(scene.takePDUs() == Self.discovery)
        leave(&scene)
        _ = try visit(&scene, 9)
        link = try #require(scene.links.last)
        scene.perform(.perform(link, Self.whole), 3, of: user)
        #expect(scene.takePDUs() == [])
        #expect(scene.confirmationCount == 0)
        scene.receive(bytes("1D 03 00 02 00 05 00"), on: 0x40)
        #expect(scene.confirmationCount == 1)
        #expect(scene.take(user).contains("\(link) changed 2 to 5"))
        setHash(0xA2, of: &scene)
        scene.perform(.perform(link, Self.whole), 4, of: user)
        #expect(scene.takePDUs() == [Self.hash] + Self.discovery)
        leave(&scene)
        #expect(try visit(&scene, 5) == Self.known)
    }

    @Test("If the services change during a discovery, its result is discarded and the discovery is repeated")
    func changeDuringDiscovery() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        // The indication overtakes the response.
        scene.interruptions[bytes("08 01 00 06 00 03 28")] = [bytes("1D 03 00 01 00 FF FF")]
        scene.perform(.perform(link, Self.whole), 3, of: user)
        #expect(scene.takePDUs() == [Self.hash] + Self.discovery + [Self.hash] + Self.discovery)
        leave(&scene)
        #expect(try visit(&scene, 5) == Self.known)
    }

    @Test("Database Out Of Sync invalidates the known attributes, and users are notified")
    func outOfSync() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.responses[bytes("0A 03 00")] = bytes("01 0A 03 00 12")
        scene.perform(.perform(link, .read(3)), 3, of: user)
        #expect(scene.take(user).contains("\(link) changed 1 to 65535"))
        #expect(scene.takePDUs() == ["0A 03 00"])
        scene.perform(.perform(link, Self.whole), 4, of: user)
        #expect(scene.takePDUs() == [Self.hash] + Self.discovery)
    }

    @Test("Calls wait for the hash in order, and can be cancelled while they wait")
    func waiting() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        _ = scene.take(user)
        scene.silences = [bytes(Self.hash)]
        scene.perform(.perform(link, Self.whole), 3, of: user)
        scene.perform(.perform(link, .read(3)), 4, of: user)
        scene.perform(.perform(link, .read(6)), 5, of: user)
        scene.perform(.cancel, 4, of: user)
        #expect(scene.take(user) == ["4 failed: cancelled"])
        #expect(scene.takePDUs() == [Self.hash])
        scene.receive(bytes("09 12 06 00") + [UInt8](repeating: 0xA1, count: 16), on: 0x40)
        #expect(scene.takePDUs() == Self.discovery + ["0A 06 00"])
        #expect(scene.take(user).map { $0.prefix(1) } == ["3", "5"])

        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        scene.perform(.perform(link, Self.whole), 6, of: user)
        leave(&scene)
        scene.silences = []
        #expect(try visit(&scene, 7).prefix(3) == [Self.mtu, Self.hash, Self.services[0]])
    }

    @Test("A call cancelled while it waits for the hash passes its turn to the next one")
    func cancelledTurn() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        _ = scene.take(user)
        scene.silences = [bytes(Self.hash)]
        scene.perform(.perform(link, Self.whole), 3, of: user)
        scene.perform(.perform(link, .read(6)), 4, of: user)
        scene.perform(.cancel, 3, of: user)
        #expect(scene.take(user) == ["3 failed: cancelled"])
        scene.receive(bytes("09 12 06 00") + [UInt8](repeating: 0xA1, count: 16), on: 0x40)
        #expect(scene.takePDUs() == [Self.hash, "0A 06 00"])
        #expect(scene.take(user).map { $0.prefix(1) } == ["4"])
    }

    @Test("A change of services while the hash is being read does not cause a second read")
    func changeDuringHash() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        scene.silences = [bytes(Self.hash)]
        scene.perform(.perform(link, Self.whole), 3, of: user)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        scene.perform(.perform(link, Self.whole), 4, of: user)
        #expect(scene.takePDUs() == [Self.hash])
        scene.receive(bytes("09 12 06 00") + [UInt8](repeating: 0xA1, count: 16), on: 0x40)
        #expect(scene.takePDUs().filter { $0 == Self.hash } == [])
    }

    @Test("If a user clears the cache of a peer that is not connected, everything is discovered again")
    func forgottenBetweenLinks() throws {
        var scene = scene()
        _ = try visit(&scene)
        leave(&scene)
        scene.perform(.forgetAttributes(PeerID(PeerTests.first)), 3, of: user)
        #expect(scene.take(user) == ["3 done"])
        #expect(try visit(&scene, 4) == Self.new)
    }

    @Test("Attributes being discovered when a user clears the peer's cache are not kept")
    func forgottenMeanwhile() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.perform(.forgetAttributes(PeerID(PeerTests.first)), 3, of: user)
        scene.silences = [bytes(Self.services[0]), bytes(Self.hash)]
        scene.perform(.perform(link, .discoverPrimaryServices()), 4, of: user)
        scene.receive(bytes("09 12 06 00") + [UInt8](repeating: 0xA1, count: 16), on: 0x40)
        #expect(scene.takePDUs() == [Self.hash, Self.services[0]])
        // Something else is to be found after that, for which the hash is read again.
        scene.perform(.forgetAttributes(PeerID(PeerTests.first)), 5, of: user)
        scene.silences = []
        scene.perform(.perform(link, .discoverCharacteristics(in: 1...6)), 6, of: user)
        scene.receive(bytes("11 06 01 00 06 00 01 18"), on: 0x40)
        _ = scene.takePDUs()
        leave(&scene)
        // By the host, and then by the user.
        #expect(try visit(&scene, 7).filter { $0 == Self.services[0] }.count == 2)
    }

    @Test("No more than 4096 calls wait for the hash")
    func waitingBound() throws {
        var scene = scene()
        _ = try visit(&scene)
        let link = try #require(scene.links.last)
        scene.receive(bytes("1D 03 00 01 00 FF FF"), on: 0x40)
        scene.silences = [bytes(Self.hash)]
        _ = scene.take(user)
        scene.perform(.perform(link, Self.whole), 1, of: user, keepsOrder: false)
        for token in 2...4096 as ClosedRange<UInt64> {
            scene.perform(.perform(link, .read(3)), token, of: user, keepsOrder: false)
        }
        #expect(scene.take(user) == [])
        scene.perform(.perform(link, .read(3)), 4097, of: user, keepsOrder: false)
        #expect(scene.take(user) == ["4097 failed: \(HostError.client(.tooManyOperations))"])
    }

    @Test("The attributes of the 64 most recently used peers without a bond are kept")
    func bound() {
        var kept = PeerAttributes()
        let attributes = DiscoveredAttributes(cache: AttributeCache(), hash: 1)
        let peers = (0...PeerAttributes.capacity).map { PeerID(DeviceAddress(UInt64($0), kind: .public)) }
        for peer in peers.dropLast() { kept.keep(attributes, of: peer) }
        kept.keep(attributes, of: peers[0])
        kept.keep(attributes, of: peers[64])
        #expect(peers.map { kept.find($0) != nil } == [true, false] + [Bool](repeating: true, count: 63))
    }
}
