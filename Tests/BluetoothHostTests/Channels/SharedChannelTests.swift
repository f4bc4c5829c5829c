import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Credit-based channels of several users")
struct SharedChannelTests {
    private let user = UserID(number: 1)

    @Test("A cancelled call to open a channel ends at once, and a channel that the peer still opens is not kept")
    func calledOff() throws {
        var scene = SharedScene(users: user)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        _ = scene.take(user)
        let parameters = ChannelParameters(mtu: 256, mps: 64, window: 4)
        scene.perform(.channel(link, .open(psm: 0x25, parameters, count: nil)), 2, of: user)
        #expect(scene.take(user) == [])
        scene.perform(.cancel, 2, of: user)
        #expect(scene.take(user) == ["2 failed: cancelled"])
        scene.receive(bytes("15 01 0A00 5000 6400 1700 0100 0000"), on: 0x40, channel: 0x05)
        #expect(scene.take(user) == [])
        #expect(scene.host.links[0].channels.isEmpty)
    }

    @Test("The channels of a user that detaches are closed, and those of other users of the link stay open")
    func detached() throws {
        let other = UserID(number: 2)
        var scene = SharedScene(users: user, other)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        scene.connect(to: ScriptedController.peer, 2, of: other)
        let link = try #require(scene.links.first)
        let parameters = ChannelParameters(mtu: 256, mps: 64, window: 4)
        scene.perform(.channel(link, .open(psm: 0x25, parameters, count: nil)), 3, of: user)
        scene.receive(bytes("15 01 0A00 5000 6400 1700 0100 0000"), on: 0x40, channel: 0x05)
        scene.perform(.channel(link, .open(psm: 0x25, parameters, count: nil)), 4, of: other)
        scene.receive(bytes("15 02 0A00 5100 6400 1700 0100 0000"), on: 0x40, channel: 0x05)
        let channels = scene.host.links[0].channels.map(\.id)
        let before = channels.map { scene.host.host.information(of: $0, on: link) != nil }
        #expect(before == [true, true])
        scene.perform(.detach, of: user)
        let after = channels.map { scene.host.host.information(of: $0, on: link) != nil }
        #expect(after == [false, true])
    }
}
