import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import TestSupport
import Testing

@Suite("Users that fall behind with the values of a link")
struct SharedReceivingTests {
    private let first = UserID(number: 1), second = UserID(number: 2)

    /// The ways in which a user can be done with a link.
    enum Ending: CaseIterable {
        case resume, release, detach
    }

    @Test(
        "A user that resumes or leaves a link no longer holds up another user's values",
        arguments: Ending.allCases)
    func done(_ ending: Ending) throws {
        var configuration = HostConfiguration(seed: 7)
        configuration.receiveBufferCount = 8
        var scene = SharedScene(users: first, second, configuration: configuration)
        for (token, user) in [(1 as UInt64, first), (2, second)] {
            scene.connect(to: PeerTests.first, token, of: user)
            if user == first { scene.reportConnection(0x40, peer: PeerTests.first) }
        }
        let link = try #require(scene.links.first)
        scene.subscribe(link, 3, of: second)
        _ = (scene.take(first), scene.take(second))

        scene.perform(.holdReceiving(link), of: first)
        _ = scene.takeCommands()
        for number in UInt8(0)..<4 { scene.notify(number, on: 0x40) }
        #expect(scene.takeCommands() == [], "the controller gets no credit back")
        switch ending {
        case .resume: scene.perform(.resumeReceiving(link), of: first)
        case .release: scene.perform(.release(link), of: first)
        case .detach: scene.perform(.detach, of: first)
        }
        #expect(scene.takeCommands() == [.hostNumberOfCompletedPackets])
        #expect(scene.take(second) == (0..<4).map { "\(link) value \($0)" })
    }

    @Test("Values that arrive while a subscription is ending do not go to a user that subscribes meanwhile")
    func endOfASubscription() throws {
        var scene = SharedScene(users: first, second)
        scene.responses[bytes("12 04 00 00 00")] = []
        for (token, user) in [(1 as UInt64, first), (2, second)] {
            scene.connect(to: PeerTests.first, token, of: user)
            if user == first { scene.reportConnection(0x40, peer: PeerTests.first) }
        }
        let link = try #require(scene.links.first)
        scene.subscribe(link, 3, of: first)
        #expect(scene.takeWrites() == ["64: 04 00 01 00"])
        _ = (scene.take(first), scene.take(second))

        scene.perform(.unsubscribe(link, CallToken(rawValue: 3)), 4, of: first)
        scene.subscribe(link, 5, of: second)
        scene.notify(1, on: 0x40)
        #expect(scene.take(first) == ["\(link) value 1"])
        #expect(scene.take(second) == [], "it may be the end of a message")

        scene.receive(bytes("13"), on: 0x40)
        #expect(scene.takeWrites() == ["64: 04 00 01 00"])
        scene.notify(2, on: 0x40)
        #expect(scene.take(first) == ["4 done"])
        #expect(scene.take(second) == ["5 done", "\(link) value 2"])
    }

    @Test("A subscription begins with the write of its descriptor; earlier values do not belong to it")
    func beginning() throws {
        var scene = SharedScene(users: first)
        scene.showsBeginnings = true
        scene.interruptions[bytes("04 04 00 04 00")] = [bytes("1B 03 00 01")]
        scene.interruptions[bytes("12 04 00 01 00")] = [bytes("1B 03 00 02")]
        scene.connect(to: PeerTests.first, 1, of: first)
        scene.reportConnection(0x40, peer: PeerTests.first)
        let link = try #require(scene.links.first)
        _ = scene.take(first)

        scene.subscribe(link, 3, of: first)
        #expect(scene.take(first) == ["\(link) value 1", "3 began", "\(link) value 2", "3 done"])
        // Another listener has no request to wait for.
        scene.subscribe(link, 4, of: first)
        #expect(scene.take(first) == ["4 began", "4 done"])
    }

    @Test("A subscription has not begun while its write waits behind another request, even a cancelled one")
    func beginningBehindAnotherRequest() throws {
        var scene = SharedScene(users: first)
        scene.showsBeginnings = true
        scene.connect(to: PeerTests.first, 1, of: first)
        scene.reportConnection(0x40, peer: PeerTests.first)
        let link = try #require(scene.links.first)
        scene.subscribe(link, 3, of: first)
        scene.perform(.unsubscribe(link, CallToken(rawValue: 3)), 4, of: first)
        _ = (scene.take(first), scene.takePDUs())

        scene.responses[bytes("0A 03 00")] = []
        scene.responses[bytes("12 04 00 01 00")] = []
        scene.perform(.perform(link, .read(SharedScene.value)), 5, of: first)
        scene.subscribe(link, 6, of: first)
        scene.notify(1, on: 0x40)
        #expect(scene.take(first) == ["\(link) value 1"])
        scene.perform(.cancel, 5, of: first)
        scene.notify(2, on: 0x40)
        #expect(scene.take(first) == ["5 failed: \(HostError.cancelled)", "\(link) value 2"])

        #expect(scene.takePDUs() == ["0A 03 00"])
        scene.receive(bytes("0B 07"), on: 0x40)
        #expect(scene.takePDUs() == ["12 04 00 01 00"])
        scene.notify(3, on: 0x40)
        scene.receive(bytes("13"), on: 0x40)
        #expect(scene.take(first) == ["6 began", "\(link) value 3", "6 done"])
    }
}
