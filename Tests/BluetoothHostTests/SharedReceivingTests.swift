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
}
