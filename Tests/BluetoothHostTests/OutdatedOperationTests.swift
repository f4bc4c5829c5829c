import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Operations interrupted by a change of services")
struct OutdatedOperationTests {
    private let user = UserID(number: 1)
    /// Service Changed, for 0x0005...0x000F.
    private let change = bytes("1D 03 00 05 00 0F 00")
    private static let isOver = "failed: \(HostError.servicesChanged)"

    /// A link to a peer of which the host watches Service Changed, and which does not answer a read of 0x0020.
    private func watched(_ configuration: HostConfiguration = HostConfiguration(seed: 7)) throws -> (
        SharedScene, LinkIdentifier
    ) {
        var scene = SharedScene(users: user, configuration: configuration)
        scene.responses = [
            bytes("10 01 00 FF FF 00 28"): bytes("11 06 01 00 04 00 01 18"),
            bytes("08 01 00 04 00 03 28"): bytes("09 07 02 00 20 03 00 05 2A"),
            bytes("0A 20 00"): [],
        ]
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        #expect(scene.takeWrites() == ["64: 04 00 02 00"])
        _ = (scene.take(user), scene.takeRequests())
        return (scene, try #require(scene.links.first))
    }

    /// What the user was told, but for the change itself.
    private func ends(_ scene: inout SharedScene) -> [String] {
        scene.take(user).filter { !$0.contains(" changed ") }
    }

    /// What the peer was asked for, but for its Database Hash.
    private func requests(_ scene: inout SharedScene) -> [String] {
        scene.takeRequests().filter { $0 != "64: 08 01 00 FF FF 2A 2B" }
    }

    static let outdated: [GATTClientOperation] = [
        .read(0x0006), .readLong(0x000F), .readByUUID(.deviceName, in: 0x0001...0x0005),
        .readMultiple([0x0003, 0x0006]),
        .readMultipleVariable([0x0006, 0x0003]), .write(0x0006, [1]), .writeLong(0x0006, [1]),
        .writeReliably([AttributeValue(handle: 0x0006, value: [1])]),
        .configure(descriptor: 0x0007, .notifications),
    ]

    @Test(
        "An operation waiting for its turn fails, because its handle may now belong to another attribute",
        arguments: outdated)
    func waiting(_ operation: GATTClientOperation) throws {
        var (scene, link) = try watched()
        scene.perform(.perform(link, .read(0x0020)), 2, of: user)
        scene.perform(.perform(link, operation), 3, of: user)
        scene.receive(change, on: 0x40)
        #expect(ends(&scene) == ["3 \(Self.isOver)"])
        scene.receive(bytes("0B 07"), on: 0x40)
        #expect(ends(&scene) == ["2 done"])
        #expect(requests(&scene) == ["64: 0A 20 00"])
        #expect(scene.takeWrites() == [])
    }

    static let untouched: [(GATTClientOperation, String)] = [
        (.read(0x0004), "0A 04 00"), (.read(0x0010), "0A 10 00"), (.readByUUID(.deviceName), "08 01 00 FF FF 00 2A"),
        (.discoverCharacteristics(in: 0x0001...0xFFFF, uuid: nil), "08 01 00 FF FF 03 28"),
    ]

    @Test("Operations on other attributes continue, and so do discoveries", arguments: untouched)
    func goesOn(_ operation: GATTClientOperation, _ request: String) throws {
        var (scene, link) = try watched()
        scene.perform(.perform(link, .read(0x0020)), 2, of: user)
        scene.perform(.perform(link, operation), 3, of: user)
        scene.receive(change, on: 0x40)
        scene.receive(bytes("0B 07"), on: 0x40)
        #expect(requests(&scene) == ["64: 0A 20 00", "64: \(request)"])
    }

    @Test("A read in progress fails, because its value may belong to another attribute")
    func reading() throws {
        var (scene, link) = try watched()
        scene.responses[bytes("0A 06 00")] = []
        scene.perform(.perform(link, .readLong(0x0006)), 2, of: user)
        scene.receive(change, on: 0x40)
        #expect(ends(&scene) == ["2 \(Self.isOver)"])
        // Behind the answer, which nobody waits for.
        scene.perform(.perform(link, .readByUUID(.deviceName)), 3, of: user)
        #expect(requests(&scene) == ["64: 0A 06 00"])
        scene.receive(bytes("0B") + [UInt8](repeating: 1, count: 22), on: 0x40)
        #expect(requests(&scene) == ["64: 08 01 00 FF FF 00 2A"])
    }

    @Test("A write that was already sent ends with the peer's answer")
    func writing() throws {
        var (scene, link) = try watched()
        scene.responses[bytes("12 06 00 01")] = []
        scene.perform(.perform(link, .write(0x0006, [1])), 2, of: user)
        scene.receive(change, on: 0x40)
        #expect(ends(&scene) == [])
        scene.receive(bytes("13"), on: 0x40)
        #expect(ends(&scene) == ["2 done"])
    }

    @Test("The answer to a subscription that ended with its service does not complete the next one")
    func subscribing() throws {
        var (scene, link) = try watched()
        let request = SubscriptionRequest(characteristic: 0x0006, end: 0x0007, configuration: .notifications)
        scene.responses[bytes("04 07 00 07 00")] = bytes("05 01 07 00 02 29")
        scene.responses[bytes("12 07 00 01 00")] = []
        scene.perform(.subscribe(link, request), 2, of: user)
        #expect(requests(&scene) == ["64: 04 07 00 07 00"])
        scene.receive(change, on: 0x40)
        scene.perform(.subscribe(link, request), 3, of: user)
        #expect(ends(&scene) == ["2 \(Self.isOver)"])
        #expect(requests(&scene) == [])
        scene.receive(bytes("13"), on: 0x40)
        #expect(requests(&scene) == ["64: 04 07 00 07 00"])
        scene.receive(bytes("13"), on: 0x40)
        #expect(ends(&scene) == ["3 done"])
    }

    @Test("Descriptors found for a subscription that has ended are not used for the next one")
    func findingDescriptors() throws {
        var (scene, link) = try watched()
        let request = SubscriptionRequest(characteristic: 0x0006, end: 0x0007, configuration: .notifications)
        scene.responses[bytes("04 07 00 07 00")] = []
        scene.perform(.subscribe(link, request), 2, of: user)
        scene.receive(change, on: 0x40)
        scene.perform(.subscribe(link, request), 3, of: user)
        #expect(ends(&scene) == ["2 \(Self.isOver)"])
        #expect(requests(&scene) == ["64: 04 07 00 07 00"])
        scene.receive(bytes("05 01 07 00 01 29"), on: 0x40)
        #expect(requests(&scene) == ["64: 04 07 00 07 00"])
        scene.receive(bytes("05 01 07 00 02 29"), on: 0x40)
        #expect(scene.takeWrites() == ["64: 07 00 01 00"])
        #expect(ends(&scene) == ["3 done"])
    }

    @Test(
        "An operation that waits for pairing is not retried once its services have changed",
        arguments: [bytes("05 05"), []])
    func awaitingPairing(_ failure: [UInt8]) throws {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var (scene, link) = try watched(configuration)
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 2, of: user)
        // Insufficient Authentication.
        scene.responses[bytes("0A 06 00")] = bytes("01 0A 06 00 05")
        scene.responses[bytes("0A 21 00")] = bytes("01 0A 21 00 05")
        scene.perform(.perform(link, .read(0x0006)), 3, of: user)
        scene.perform(.perform(link, .read(0x0021)), 4, of: user)
        #expect(ends(&scene) == ["2 done"], "they wait")
        scene.receive(change, on: 0x40)
        #expect(ends(&scene) == ["3 \(Self.isOver)"])
        // Pairing Failed, or none: other attributes still wait.
        if failure.isEmpty {
            #expect(ends(&scene) == [])
        } else {
            scene.receive(failure, on: 0x40, channel: 0x06)
            #expect(
                ends(&scene)
                    == [
                        "4 failed: \(HostError.client(.att(ATTError(.insufficientAuthentication, for: .readRequest, at: 0x0021))))"
                    ])
        }
        #expect(requests(&scene) == ["64: 0A 06 00", "64: 0A 21 00"])
    }

    /// A call that crosses the change: it was made before its user knew, and is carried out behind the change.
    @Test("A call made before its user knew of a change is not carried out after the change", arguments: outdated)
    func crossing(_ operation: GATTClientOperation) throws {
        var (scene, link) = try watched()
        scene.receive(change, on: 0x40)
        _ = (scene.take(user), scene.takeRequests(), scene.takeWrites())
        scene.perform(.perform(link, operation), 3, of: user, knownChanges: 0)
        #expect(ends(&scene) == ["3 " + Self.isOver])
        #expect(requests(&scene) == [] && scene.takeWrites() == [])
        // Who knows, or does not count, gets what it asks for.
        scene.perform(.perform(link, operation), 4, of: user, knownChanges: 1)
        scene.perform(.perform(link, operation), 5, of: user)
        #expect(!ends(&scene).contains { $0.hasSuffix(Self.isOver) })
    }

    @Test("Writes and subscriptions made before their user knew of a change fail; writes without response are dropped")
    func crossingWrites() throws {
        var (scene, link) = try watched()
        scene.receive(change, on: 0x40)
        _ = (scene.take(user), scene.takeRequests(), scene.takeWrites(), scene.takePDUs())
        scene.perform(.write(link, 0x0006, [1]), 3, of: user, knownChanges: 0)
        let request = SubscriptionRequest(characteristic: 0x0006, end: 0x0008, configuration: .notifications)
        scene.perform(.subscribe(link, request), 4, of: user, knownChanges: 0)
        #expect(ends(&scene) == ["3 " + Self.isOver, "4 " + Self.isOver])
        scene.perform(.writeWithoutResponse(link, 0x0006, [1]), of: user, knownChanges: 0)
        #expect(
            requests(&scene) == [] && scene.takeWrites() == [] && scene.takePDUs().filter { $0.hasPrefix("52") } == [])
        // Outside the handles that have changed, all goes on.
        scene.perform(.writeWithoutResponse(link, 0x0010, [1]), of: user, knownChanges: 0)
        #expect(scene.takePDUs().filter { $0.hasPrefix("52") } == ["52 10 00 01"])
    }
}
