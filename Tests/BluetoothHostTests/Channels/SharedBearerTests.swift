import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

/// Which bearer the operations of users take, and which order they keep.
@Suite("Several users and several ATT bearers")
struct SharedBearerTests {
    private static let user = UserID(number: 1), other = UserID(number: 2)
    private var scene: SharedScene
    private let link: LinkIdentifier

    /// A bonded peer, with a link that is encrypted and on which it has opened two bearers, 0x50 and 0x51. It leaves
    /// reads and writes of the attributes 10 to 13 unanswered.
    init() throws {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: Self.user, Self.other, configuration: configuration)
        let peer = ScriptedController.peer
        scene.restore(SecurityTests.bond())
        for handle in 10...13 as ClosedRange<UInt8> { scene.responses[[0x0A, handle, 0]] = [] }
        scene.responses[[0x12, 10, 0, 1]] = []
        scene.connect(to: peer, 1, of: Self.user)
        scene.reportConnection(0x40, peer: peer)
        scene.receive(EncryptionChange(status: .success, connectionHandle: 0x40, encryption: .on))
        link = try #require(scene.links.first)
        scene.receive(bytes("17 01 0C00 2700 0002 0002 1000 5000 5100"), on: 0x40, channel: 0x05)
        _ = (scene.takeRequests(), scene.takeWrites(), scene.take(Self.user), scene.take(Self.other))
        #expect(scene.host.host.enhancedBearerCount(of: link) == 2)
        self.scene = scene
    }

    private mutating func read(_ handle: AttributeHandle, _ token: UInt64, keepsOrder: Bool = false) {
        scene.perform(.perform(link, .read(handle)), token, of: Self.user, keepsOrder: keepsOrder)
    }

    private mutating func answer(_ pdu: String, on bearer: UInt8) {
        scene.receive(bytes("0\(bytes(pdu).count)00" + pdu), on: 0x40, channel: bearer)
    }

    @Test("unordered calls use a bearer each; calls for the same attribute run one after the other")
    mutating func spread() {
        read(10, 1)
        read(11, 2)
        read(12, 3)
        #expect(scene.takeSDUs() == ["50: 0A 0A 00", "51: 0A 0B 00"])
        #expect(scene.takeRequests() == ["64: 0A 0C 00"])
        read(11, 4)
        #expect(scene.takeSDUs() == [])
        // The slowest one holds up none of the others.
        answer("0B BB", on: 0x41)
        #expect(scene.takeSDUs() == ["51: 0A 0B 00"])
        scene.receive(bytes("0B CC"), on: 0x40)
        answer("0B BC", on: 0x41)
        #expect(scene.take(Self.user) == ["2 done", "3 done", "4 done"])
    }

    @Test("ordered calls run and end in order, and hold up no other user")
    mutating func ordered() {
        read(10, 1, keepsOrder: true)
        read(11, 2, keepsOrder: true)
        scene.perform(.perform(link, .read(12)), 3, of: Self.other)
        #expect(scene.takeSDUs() == ["50: 0A 0A 00", "51: 0A 0C 00"])
        answer("0B AA", on: 0x40)
        #expect(scene.takeSDUs() == ["50: 0A 0B 00"])
        #expect(scene.take(Self.user) == ["1 done"])
        #expect(scene.takeRequests() == [])
    }

    @Test("abandoned calls that wait for their turn are never sent, and the call in progress still ends")
    mutating func abandoned() {
        read(10, 1, keepsOrder: true)
        read(11, 2, keepsOrder: true)
        scene.perform(.writeWithoutResponse(link, 11, [1]), of: Self.user)
        #expect(scene.takeSDUs() == ["50: 0A 0A 00"])
        scene.perform(.abandon(link), of: Self.user)
        #expect(scene.take(Self.user) == ["2 failed: cancelled"])
        answer("0B AA", on: 0x40)
        #expect(scene.take(Self.user) == ["1 done"])
        let sent = scene.takeSDUs() + scene.takePDUs()
        #expect(!sent.contains { $0.hasSuffix("0A 0B 00") || $0.hasSuffix("52 0B 00 01") })
    }

    @Test("a long write uses the fixed channel, after earlier requests for its attribute on other bearers")
    mutating func longWrite() {
        read(10, 1)
        read(11, 2)
        let value = [UInt8](repeating: 7, count: 21)
        scene.responses[[0x16, 11, 0, 0, 0] + value.prefix(18)] = []
        scene.perform(.write(link, 11, value), 3, of: Self.user, keepsOrder: false)
        scene.perform(.write(link, 11, value), 4, of: Self.user, keepsOrder: false)
        read(11, 5)
        answer("0B AA", on: 0x40)
        scene.perform(.cancel, 4, of: Self.user)
        #expect(scene.take(Self.user) == ["1 done", "4 failed: cancelled"])
        #expect(scene.takeRequests() == [])
        answer("0B BB", on: 0x41)
        #expect(scene.takeRequests() == ["64: 16 0B 00 00 00" + String(repeating: " 07", count: 18)])
        #expect(scene.take(Self.user) == ["2 done"])
        #expect(scene.takeSDUs().count == 2)
    }

    @Test("if the peer closes a bearer, a write in progress fails and reads move to another bearer")
    mutating func closed() {
        read(13, 1)
        scene.perform(.write(link, 10, [1]), 2, of: Self.user, keepsOrder: false)
        read(10, 3)
        read(12, 4)
        #expect(scene.takeSDUs() == ["50: 0A 0D 00", "51: 12 0A 00 01"])
        #expect(scene.takeRequests() == ["64: 0A 0C 00"])
        scene.receive(bytes("06 02 0400 4100 5100"), on: 0x40, channel: 0x05)
        #expect(scene.take(Self.user) == ["2 failed: \(HostError.client(.bearerClosed))"])
        // The read that had not begun waits on the fixed channel now, and so does this one, which does no harm twice.
        scene.receive(bytes("06 03 0400 4000 5000"), on: 0x40, channel: 0x05)
        for _ in 0..<3 { scene.receive(bytes("0B AA"), on: 0x40) }
        #expect(scene.takeRequests() == ["64: 0A 0A 00", "64: 0A 0D 00"])
        #expect(scene.take(Self.user) == ["4 done", "3 done", "1 done"])
    }

    @Test("an operation whose bearer closes each time is tried on four bearers")
    mutating func closedEachTime() {
        read(10, 1)
        #expect(scene.takeSDUs() == ["50: 0A 0A 00"])
        for round in 0..<4 as Range<UInt8> {
            #expect(scene.take(Self.user) == [])
            // The one it is on, and then another one in its place.
            let local = hexadecimal(0x40 + round % 2), remote = hexadecimal(0x50 + round % 2)
            scene.receive(bytes("06 \(hexadecimal(round + 2)) 0400 \(local)00 \(remote)00"), on: 0x40, channel: 0x05)
            scene.receive(
                bytes("17 \(hexadecimal(round + 9)) 0A00 2700 0002 0002 1000 \(remote)00"), on: 0x40, channel: 0x05)
            #expect(scene.takeSDUs() == (round < 3 ? ["\(hexadecimal(0x51 - round % 2)): 0A 0A 00"] : []))
        }
        #expect(scene.take(Self.user) == ["1 failed: \(HostError.client(.bearerClosed))"])
        #expect(scene.takeRequests() == [])
    }

    @Test("operations that wait for a bearer end with the link")
    mutating func linkEnded() {
        read(10, 1)
        read(11, 2)
        scene.perform(.write(link, 11, [UInt8](repeating: 7, count: 21)), 3, of: Self.user, keepsOrder: false)
        scene.reportDisconnection(0x40)
        let failed = scene.take(Self.user).filter { $0.contains("failed") }
        #expect(
            failed == (1...3).map { "\($0) failed: \(HostError.disconnected(.supervisionTimeout))" })
    }

    @Test("an update over a bearer without credits waits until the peer grants one")
    mutating func credits() throws {
        let definition = GATTServiceDefinition(
            uuid: "180F",
            characteristics: [
                GATTCharacteristicDefinition(uuid: "2A19", properties: [.read, .notify], value: .constant([1]))
            ])
        scene.perform(.publish(definition, at: nil), 1, of: Self.user)
        let database = scene.host.host.server.database
        let last = AttributeHandle(UInt16(database.count))
        answer("12 \(last.text) 0100", on: 0x40)
        #expect(scene.takeSDUs() == ["50: 13"])
        // The peer has given 16 credits, of which the answer took one.
        for number in 0..<16 as Range<UInt8> {
            scene.perform(.update(link, AttributeHandle(last.rawValue - 1), [number]), of: Self.user)
        }
        #expect(scene.takeSDUs().count == 15)
        #expect(scene.host.host.queuedFrameCount(of: link) == 1)
        scene.receive(bytes("16 02 0400 5000 0100"), on: 0x40, channel: 0x05)
        #expect(scene.takeSDUs().last?.hasSuffix("0F") == true)
    }
}
