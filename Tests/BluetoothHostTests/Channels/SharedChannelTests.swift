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

    /// A user with a link to a peer.
    private func connected() -> SharedScene {
        var scene = SharedScene(users: user)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        return scene
    }

    @Test("A cancelled call to open a channel ends at once, and a channel that the peer still opens is not kept")
    func calledOff() throws {
        var scene = connected()
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
        scene.openChannel(1, on: link, parameters, 3, of: user)
        scene.openChannel(2, on: link, parameters, 4, of: other)
        let channels = scene.host.links[0].channels.map(\.id)
        let before = channels.map { scene.host.host.information(of: $0, on: link) != nil }
        #expect(before == [true, true])
        scene.perform(.detach, of: user)
        let after = channels.map { scene.host.host.information(of: $0, on: link) != nil }
        #expect(after == [false, true])
    }

    @Test("A user gets the credits of several SDUs together, once half of its SDUs have been sent")
    func credits() throws {
        var scene = connected()
        let link = try #require(scene.links.first)
        let parameters = ChannelParameters(mtu: 256, mps: 64, window: 4)
        // Credits for one SDU.
        scene.openChannel(on: link, parameters, 2, of: user, credits: 5)
        let channel = try #require(scene.host.links[0].channels.first?.id)
        let credit = SharedHost.channelCredit
        for number in 0..<UInt8(credit) {
            scene.perform(.channel(link, .send(channel, Array(repeating: number, count: 100))), of: user)
        }
        // One SDU has used the peer's credits. Few SDUs waited then, so its credit has been returned.
        #expect(scene.host.links[0].channels[0].outstanding == credit - 1)
        #expect(scene.host.host.waitingCount(of: channel, on: link) == credit - 1)
        scene.completesPackets = false
        scene.receive(bytes("16 03 0400 5000 FF00"), on: 0x40, channel: 0x05)
        var waited: [Int] = []
        while waited.last != 0 {
            let waiting = scene.host.host.waitingCount(of: channel, on: link)
            let expected = waiting > credit / 2 ? credit - 1 : waiting
            #expect(scene.host.links[0].channels[0].outstanding == expected, "\(waiting) wait")
            waited.append(waiting)
            try #require(waited.count < 180)
            scene.receive(packet: bytes("04 13 05 01 4000 0200"))
        }
        #expect(waited.contains { $0 > credit / 2 } && waited.contains(credit / 2))
    }
}
