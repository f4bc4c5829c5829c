import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Processed data of a channel is reported together")
struct ConsumedOctetsTests {
    private let user = UserID(number: 1)

    /// A channel to the peer, opened by a user.
    private func open(_ parameters: ChannelParameters) throws -> (SharedScene, LinkIdentifier, OpenedChannel) {
        var scene = SharedScene(users: user)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        scene.openChannel(on: link, parameters, 2, of: user)
        let id = try #require(scene.host.links[0].channels.first?.id)
        let information = try #require(scene.host.host.information(of: id, on: link))
        _ = scene.take(user)
        return (scene, link, OpenedChannel(id: id, information: information))
    }

    @Test(
        "A report is due once the SDUs amount to a quarter of the window, each counting as a K-frame at least",
        arguments: [
            (window: 1, lengths: [1, 200], reports: [64, 202]),
            (window: 2, lengths: [1, 1], reports: [64, 64]),
            (window: 4, lengths: [1, 62, 63, 200], reports: [64, 64, 65, 202]),
            (window: 5, lengths: [100, 1, 100, 1], reports: [102, nil, 166, nil]),
            (window: 64, lengths: [1000, 1000, 46, 1], reports: [nil, 2004, nil, nil]),
        ] as [(window: UInt16, lengths: [Int], reports: [Int?])])
    func due(window: UInt16, lengths: [Int], reports: [Int?]) throws {
        let (_, _, channel) = try open(ChannelParameters(mtu: 1024, mps: 64, window: window))
        var consumed = ConsumedOctets(channel.information)
        #expect(lengths.map { consumed.add(share: channel.share(ofSDU: $0)) } == reports)
    }

    @Test("Shorter K-frames make a report due earlier, and longer ones do not make it due later")
    func reconfigured() throws {
        let (_, _, channel) = try open(ChannelParameters(mtu: 1024, mps: 128, window: 16))
        var consumed = ConsumedOctets(channel.information)
        #expect(consumed.add(share: channel.share(ofSDU: 300)) == nil)
        #expect(consumed.reconfigure(mps: 64) == 302)
        #expect(consumed.reconfigure(mps: 512) == nil)
        #expect(consumed.add(share: channel.share(ofSDU: 254)) == 256)
    }

    @Test("The peer gets the credits of all SDUs in a report")
    func credited() throws {
        var (scene, link, channel) = try open(ChannelParameters(mtu: 256, mps: 64, window: 4))
        for _ in 0..<4 { scene.receive(bytes("0100 07"), on: 0x40, channel: 0x40) }
        #expect(scene.receiveCredits(of: channel) == 0)
        scene.perform(.channel(link, .consume(channel.id, share: 2 * 64)), of: user)
        #expect(scene.receiveCredits(of: channel) == 2)
        scene.perform(.channel(link, .consume(channel.id, share: 2 * 64)), of: user)
        #expect(scene.receiveCredits(of: channel) == 4)
    }

    @Test("Only the user that the channel belongs to can report SDUs")
    func ofOthers() throws {
        var (scene, link, channel) = try open(ChannelParameters(mtu: 256, mps: 64, window: 1))
        let other = UserID(number: 2)
        scene.perform(.attach, of: other)
        scene.receive(bytes("0100 07"), on: 0x40, channel: 0x40)
        scene.perform(.channel(link, .consume(channel.id, share: 64)), of: other)
        #expect(scene.receiveCredits(of: channel) == 0)
    }

    @Test(
        "A peer always gets credits from a reader that takes everything, whatever its SDUs and K-frames are",
        arguments: [1, 2, 3, 4, 5, 8, 64] as [UInt16], [1, 2, 7, 64])
    func neverStarved(window: UInt16, frameLength: Int) throws {
        var (scene, link, channel) = try open(ChannelParameters(mtu: 256, mps: 64, window: window))
        var consumed = ConsumedOctets(channel.information)
        for length in [1, 3, 62, 63, 128, 200, 256] {
            for _ in 0..<3 {
                var payload = [UInt8(length & 0xFF), UInt8(length >> 8)] + [UInt8](repeating: 7, count: length)
                while !payload.isEmpty {
                    // The SDU length field is in the first K-frame as a whole.
                    let frame = Array(payload.prefix(max(2, frameLength)))
                    payload.removeFirst(frame.count)
                    #expect(try #require(scene.receiveCredits(of: channel)) > 0)
                    scene.receive(frame, on: 0x40, channel: 0x40)
                }
                guard let share = consumed.add(share: channel.share(ofSDU: length)) else { continue }
                scene.perform(.channel(link, .consume(channel.id, share: share)), of: user)
            }
        }
        #expect(try #require(scene.receiveCredits(of: channel)) > 0)
    }

    @Test("A reader that takes everything leaves the peer an eighth of the window, if every second K-frame is short")
    func roomForThePeer() throws {
        var (scene, link, channel) = try open(ChannelParameters(mtu: 512, mps: 247, window: 64))
        var consumed = ConsumedOctets(channel.information)
        for _ in 0..<200 {
            for frame in [[248, 0] + [UInt8](repeating: 7, count: 245), [7, 7, 7]] {
                scene.receive(frame, on: 0x40, channel: 0x40)
                #expect(try #require(scene.receiveCredits(of: channel)) >= 8)
            }
            guard let share = consumed.add(share: channel.share(ofSDU: 248)) else { continue }
            scene.perform(.channel(link, .consume(channel.id, share: share)), of: user)
        }
    }
}

extension SharedScene {
    /// The number of K-frames that the peer may send over a channel of the first link.
    fileprivate func receiveCredits(of channel: OpenedChannel) -> Int? {
        host.host.links.at[0].signalling.channels[channel.id]?.receiveCredits
    }
}

extension OpenedChannel {
    fileprivate func share(ofSDU length: Int) -> Int { information.local.share(ofSDU: length) }
}
