import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("SDUs that arrive together reach their user together")
struct ArrivalsTests {
    private let user = UserID(number: 1)

    /// What a user received over a channel: the channel's endpoint, the octets and their share of the window.
    private struct Arrival: Equatable {
        let cid: UInt16
        let octets: [UInt8]
        let share: Int
    }

    /// Two channels of a user with K-frames of 64 octets and a window of 16, so a quarter of it is 256 octets.
    private func opened() throws -> (SharedScene, LinkIdentifier) {
        var scene = SharedScene(users: user)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        let parameters = ChannelParameters(mtu: 512, mps: 64, window: 16)
        scene.openChannel(1, on: link, parameters, 2, of: user)
        scene.openChannel(2, on: link, parameters, 3, of: user)
        #expect(scene.host.links[0].channels.count == 2)
        return (scene, link)
    }

    /// Receives SDUs in one turn, each in one K-frame: the endpoint, and the number of octets.
    private func receive(_ sdus: [(cid: UInt8, count: Int)], _ scene: inout SharedScene) -> [Arrival] {
        for (number, sdu) in sdus.enumerated() {
            let length = UInt8(sdu.count)
            let frame = [length + 2, 0, sdu.cid, 0, length, 0] + [UInt8](repeating: UInt8(number), count: sdu.count)
            scene.host.receive(([0x02, 0x40, 0x20, UInt8(frame.count), 0] + frame).span, at: .zero)
        }
        scene.endTurn()
        var arrivals: [Arrival] = []
        scene.host.deliverEvents { batch in
            for event in batch.events {
                guard case .channel(_, .received(let id, let payload, let share)) = event else { continue }
                let octets = Array(batch.octets(of: payload))
                arrivals.append(Arrival(cid: id.cid.rawValue, octets: octets, share: share))
            }
        }
        return arrivals
    }

    @Test(
        "Consecutive SDUs of a channel are one event, up to a quarter of the window",
        arguments: [
            (sdus: [(0x40, 3)], arrivals: [(0x40, 3, 64)]),
            (sdus: [(0x40, 3), (0x40, 2)], arrivals: [(0x40, 5, 128)]),
            (sdus: [(0x40, 60), (0x40, 1), (0x40, 62)], arrivals: [(0x40, 123, 192)]),
            (sdus: [(0x40, 1), (0x40, 1), (0x40, 1), (0x40, 1)], arrivals: [(0x40, 4, 256)]),
            (
                sdus: [(0x40, 1), (0x40, 1), (0x40, 1), (0x40, 1), (0x40, 9)],
                arrivals: [(0x40, 4, 256), (0x40, 9, 64)]
            ),
            (sdus: [(0x40, 3), (0x41, 4), (0x40, 5)], arrivals: [(0x40, 3, 64), (0x41, 4, 64), (0x40, 5, 64)]),
            // One without octets takes a share of the window, but there is nothing to process.
            (sdus: [(0x40, 0)], arrivals: []),
            (sdus: [(0x40, 3), (0x40, 0), (0x40, 2)], arrivals: [(0x40, 5, 192)]),
            (sdus: [(0x40, 0), (0x40, 2)], arrivals: [(0x40, 2, 64)]),
        ] as [(sdus: [(cid: UInt8, count: Int)], arrivals: [(cid: UInt16, count: Int, share: Int)])])
    func together(
        sdus: [(cid: UInt8, count: Int)], arrivals: [(cid: UInt16, count: Int, share: Int)]
    ) throws {
        var (scene, _) = try opened()
        let received = receive(sdus, &scene)
        #expect(received.map(\.cid) == arrivals.map(\.cid))
        #expect(received.map(\.octets.count) == arrivals.map(\.count))
        #expect(received.map(\.share) == arrivals.map(\.share))
        let octets = sdus.enumerated().filter { $0.element.cid == 0x40 }.flatMap { number, sdu in
            [UInt8](repeating: UInt8(number), count: sdu.count)
        }
        #expect(received.filter { $0.cid == 0x40 }.flatMap(\.octets) == octets)
    }

    @Test("SDUs of different turns are different events")
    func turns() throws {
        var (scene, _) = try opened()
        for count in [3, 4, 5] {
            #expect(receive([(0x40, count)], &scene).map(\.octets.count) == [count])
        }
    }

    @Test("A peer that sends nothing but empty SDUs gets its credits, and its user gets nothing")
    func empty() throws {
        var (scene, _) = try opened()
        for _ in 0..<100 { #expect(receive([(0x40, 0)], &scene) == []) }
        let id = try #require(scene.host.links[0].channels.first?.id)
        #expect(try #require(scene.host.host.links.at[0].signalling.channels[id]).receiveCredits >= 8)
    }

    @Test("The other events of a turn keep their place among the data of a channel", arguments: [false, true])
    func order(isSubscribed: Bool) throws {
        var (scene, link) = try opened()
        if isSubscribed { scene.subscribe(link, 4, of: user) }
        let sdu = bytes("02 40 20 07 00 03 00 40 00 01 00 09")
        let notification = bytes("02 40 20 08 00 04 00 04 00 1B 03 00 07")
        let disconnection = bytes("04 05 04 00 40 00 13")
        for packet in [sdu, notification, sdu, disconnection] { scene.host.receive(packet.span, at: .zero) }
        scene.endTurn()
        var order: [String] = []
        scene.host.deliverEvents { batch in
            for event in batch.events {
                switch event {
                case .channel(_, .received): order.append("received")
                case .channel(_, .closed): order.append("closed")
                case .value: order.append("value")
                case .linkEnded: order.append("ended")
                default: order.append("other")
                }
            }
        }
        #expect(order.filter { $0 != "other" } == ["received", "value", "received", "closed", "closed", "ended"])
    }
}
