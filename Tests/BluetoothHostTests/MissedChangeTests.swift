import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

/// Changes of a peer's services that come before its host has subscribed to Service Changed, and which no server
/// indicates (Core 5.4, Vol 3, Part G, 7.1). The peer has Generic Attribute at 1 to 6, with Service Changed at 3, its
/// descriptor at 4 and the Database Hash at 6, and another service at 7 to 9.
@Suite("Changes of services before the host watches Service Changed")
struct MissedChangeTests {
    private let user = UserID(number: 1)
    private static let hash = "08 01 00 FF FF 2A 2B", watch = "12 04 00 02 00", read = "0A 09 00"
    private static let all = "10 01 00 FF FF 00 28", rest = "10 0A 00 FF FF 00 28", restWithout = "10 07 00 FF FF 00 28"
    private static let battery = "06 01 00 FF FF 00 28 0F 18"

    private func scene(hash: UInt8?) -> SharedScene {
        var scene = SharedScene(users: user)
        scene.responses[bytes("08 01 00 06 00 03 28")] = bytes("09 07 02 00 20 03 00 05 2A 05 00 02 06 00 2A 2B")
        setServices(hash, hasBattery: true, of: &scene)
        scene.silences = [bytes(Self.watch)]
        return scene
    }

    private func setServices(_ hash: UInt8?, hasBattery: Bool, of scene: inout SharedScene) {
        let battery = hasBattery ? " 07 00 09 00 0F 18" : ""
        scene.responses[bytes(Self.all)] = bytes("11 06 01 00 06 00 01 18" + battery)
        scene.responses[bytes(Self.battery)] = hasBattery ? bytes("07 07 00 09 00") : nil
        scene.responses[bytes(Self.hash)] = hash.map { bytes("09 12 06 00") + [UInt8](repeating: $0, count: 16) }
    }

    /// A link on which the host has just asked to watch for changes.
    private func connect(_ scene: inout SharedScene, _ token: UInt64 = 1) throws -> LinkIdentifier {
        scene.connect(to: PeerTests.first, token, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        return try #require(scene.links.last)
    }

    /// The peer answers that changes are watched from now on.
    private func confirm(_ scene: inout SharedScene) -> (lines: [String], requests: [String]) {
        _ = (scene.take(user), scene.takePDUs())
        scene.receive(bytes("13"), on: 0x40)
        return (scene.take(user), scene.takePDUs())
    }

    private func changes(_ lines: [String]) -> [String] { lines.filter { $0.contains("changed") } }

    @Test("The Database Hash reveals a missed change, and users are notified", arguments: [true, false])
    func hash(changes isChanged: Bool) throws {
        var scene = scene(hash: 0xA1)
        let link = try connect(&scene)
        if isChanged { setServices(0xA2, hasBattery: false, of: &scene) }
        let (lines, requests) = confirm(&scene)
        #expect(requests == [Self.hash])
        #expect(changes(lines) == (isChanged ? ["\(link) changed 1 to 65535"] : []))
    }

    @Test("A missed change is also found if only attributes from an earlier link were used")
    func knownServices() throws {
        var scene = scene(hash: 0xA1)
        _ = try connect(&scene)
        _ = confirm(&scene)
        scene.reportDisconnection(0x40)
        scene.run(for: .seconds(60))
        let link = try connect(&scene, 2)
        scene.perform(.perform(link, .discoverPrimaryServices()), 3, of: user)
        setServices(0xA2, hasBattery: false, of: &scene)
        let (lines, requests) = confirm(&scene)
        #expect(requests == [Self.hash] && changes(lines) == ["\(link) changed 1 to 65535"])
        scene.perform(.perform(link, .discoverPrimaryServices()), 4, of: user)
        #expect(scene.takePDUs() == [Self.hash, Self.all, Self.restWithout])
    }

    @Test("After a missed change, an operation on discovered attributes fails instead of reaching other attributes")
    func used() throws {
        var scene = scene(hash: 0xA1)
        let link = try connect(&scene)
        setServices(0xA2, hasBattery: false, of: &scene)
        scene.perform(.perform(link, .read(0x0009)), 2, of: user)
        let (lines, requests) = confirm(&scene)
        #expect(requests == [Self.hash], "and no read")
        #expect(lines.contains("2 failed: \(HostError.servicesChanged)"))
        #expect(changes(lines).contains("\(link) changed 1 to 65535"))
    }

    @Test("A peer that no longer returns its hash is discovered again, and users are not notified of a change")
    func refusedHash() throws {
        var scene = scene(hash: 0xA1)
        let link = try connect(&scene)
        // Unlikely Error.
        scene.responses[bytes(Self.hash)] = bytes("01 08 01 00 0E")
        let (lines, requests) = confirm(&scene)
        #expect(requests == [Self.hash] && changes(lines) == [])
        scene.perform(.perform(link, .discoverPrimaryServices()), 4, of: user)
        #expect(scene.takePDUs() == [Self.all, Self.rest])
    }

    @Test(
        "On a peer without a hash, discovering the services again reveals a missed change", arguments: [true, false],
        [true, false])
    func withoutHash(changes isChanged: Bool, byUUID: Bool) throws {
        var scene = scene(hash: nil)
        scene.silences.insert(bytes("08 01 00 FF FF 00 2A"))
        let link = try connect(&scene)
        let uuid: BluetoothUUID? = byUUID ? "180F" : nil
        scene.perform(.perform(link, .discoverPrimaryServices(uuid: uuid)), 2, of: user)
        // Of no name. Then the discovery, and the rest of what the host asks for.
        scene.receive(bytes("01 08 01 00 0A"), on: 0x40)
        #expect(scene.take(user).contains { $0.hasPrefix("2 found") })
        if isChanged { setServices(nil, hasBattery: false, of: &scene) }
        let (lines, requests) = confirm(&scene)
        #expect(requests == (isChanged ? [Self.all, Self.restWithout] : [Self.all, Self.rest]))
        #expect(changes(lines) == (isChanged ? ["\(link) changed 7 to 9"] : []))
    }

    @Test("If no user has discovered anything, a peer without a hash gets no further requests")
    func nothingFound() throws {
        var scene = scene(hash: nil)
        _ = try connect(&scene)
        setServices(nil, hasBattery: false, of: &scene)
        let (lines, requests) = confirm(&scene)
        #expect(requests == [] && changes(lines) == [])
    }

    // MARK: - What users have found

    private static func service(_ uuid: BluetoothUUID, _ start: UInt16, _ end: UInt16) -> DiscoveredService {
        DiscoveredService(
            uuid: uuid, startHandle: AttributeHandle(start), endHandle: AttributeHandle(end))
    }

    private static let first = service("1801", 1, 6), second = service("180F", 7, 9), moved = service("180F", 10, 12)

    @Test(
        "The changed handles are those of services that were added, removed or moved",
        arguments: [
            (nil, [first, second], [first, second], nil), (nil, [first, second], [first], 7...9),
            (nil, [first], [first, second], 7...9), (nil, [first, second], [first, moved], 7...12),
            ("180F", [second], [first, second], nil), ("180F", [second], [second], nil),
            ("180F", [second], [first], 7...9),
            ("180F", [], [first], nil), ("180F", [], [first, second], 7...9),
            // Some servers give the end in another way where it is asked for by UUID.
            ("180F", [service("180F", 7, 0xFFFF)], [first, second], nil),
            (nil, [service("180F", 7, 8)], [second], 7...9),
        ] as [(BluetoothUUID?, [DiscoveredService], [DiscoveredService], ClosedRange<UInt16>?)])
    func told(
        uuid: BluetoothUUID?, found: [DiscoveredService], now: [DiscoveredService], handles: ClosedRange<UInt16>?
    ) {
        var told = ToldServices()
        #expect(told.isEmpty && told.changes(to: now) == nil)
        told.add(.services(found), of: .discoverPrimaryServices(uuid: uuid))
        #expect(!told.isEmpty)
        #expect(
            told.changes(to: now) == handles.map { AttributeHandle($0.lowerBound)...AttributeHandle($0.upperBound) })
    }

    @Test("With more than 256 recorded services and answers, all handles count as changed")
    func tooMany() {
        var told = ToldServices()
        for _ in 0..<128 { told.add(.services([Self.second]), of: .discoverPrimaryServices(uuid: "180F")) }
        #expect(told.changes(to: [Self.second]) == nil)
        told.add(.services([]), of: .discoverPrimaryServices(uuid: "180D"))
        #expect(told.changes(to: [Self.second]) == 0x0001...0xFFFF)
    }
}
