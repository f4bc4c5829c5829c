import BluetoothBase
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

@Suite("Users of a link that fall behind with its values")
struct SharedReceivingTests {
    private let first = UserID(number: 1), second = UserID(number: 2)

    /// The ways in which a user can be done with a link.
    enum Ending: CaseIterable {
        case resume, release, detach
    }

    @Test(
        "A user that is done with a link holds it no more, so the values of another one go on",
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

    @Test("Values that still come while a subscription is being ended are not for who subscribes meanwhile")
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
}
