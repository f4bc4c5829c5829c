import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import Testing

@Suite("Users of a peer that changes its address")
struct SharedPeerTests {
    private let first = UserID(number: 1), second = UserID(number: 2)
    /// The name of the peer that was met at a private address, and the one under which another run bonded with it.
    private let met = PeerID(PeerTests.first), bonded = PeerID(PeerTests.second)
    /// As a controller reports a peer whose private address it has resolved.
    private let resolved = DeviceAddress(PeerTests.identity.value, kind: .randomIdentity)

    /// The first user has a link to the peer at its first address, and subscribes.
    private func linked() throws -> (SharedScene, LinkIdentifier) {
        var scene = SharedScene(users: first, second)
        scene.connect(to: PeerTests.first, 1, of: first)
        scene.reportConnection(0x40, peer: PeerTests.first)
        let link = try #require(scene.links.first)
        scene.subscribe(link, 2, of: first)
        #expect(scene.take(first) == ["\(link) began with \(met)", "1 has \(link)", "2 done"])
        #expect(scene.take(second) == ["\(link) began with \(met)"])
        #expect(scene.takeWrites() == ["64: 04 00 01 00"])
        _ = scene.takeCommands()
        return (scene, link)
    }

    @Test("An identity learned during a link changes nothing for its users, and leads others to the same link")
    func learnt() throws {
        var (scene, link) = try linked()
        try scene.learn(PeerTests.identity, of: link)
        scene.notify(1, on: 0x40)
        #expect(scene.take(first) == ["\(link) value 1"])

        scene.connect(to: PeerTests.identity, 1, of: second)
        scene.subscribe(link, 2, of: second)
        #expect(scene.take(second) == ["1 has \(link)", "2 done"])
        #expect(scene.takeCommands() == [] && scene.takeWrites() == [], "there is one link, and one subscription")
        scene.notify(2, on: 0x40)
        #expect(scene.take(first) == ["\(link) value 2"] && scene.take(second) == ["\(link) value 2"])
        scene.connect(to: PeerTests.identity, 3, of: first)
        #expect(scene.take(first) == ["3 failed: \(HostError.alreadyConnected)"])

        scene.perform(.release(link), of: first)
        #expect(scene.takeCommands() == [], "the other one still has it")
        scene.perform(.release(link), of: second)
        #expect(scene.takeCommands() == [.disconnect])
    }

    @Test("A peer that connects under its identity address is recognized as the one that a user waits for")
    func comesBack() throws {
        var (scene, link) = try linked()
        try scene.learn(PeerTests.identity, of: link)
        scene.reportDisconnection(0x40)
        #expect(scene.take(first) == ["\(link) ended"])
        scene.connect(to: PeerTests.first, 3, of: first)
        #expect(scene.target == [1, 0x09, 0, 0, 0, 0, 0xC0], "it is looked for under its identity address")

        scene.accept(0x41, from: resolved, for: first)
        let back = try #require(scene.links.last)
        #expect(scene.take(first) == ["\(back) began with \(met)", "3 has \(back)"])
        scene.subscribe(back, 4, of: first)
        scene.notify(3, on: 0x41)
        #expect(scene.take(first) == ["4 done", "\(back) value 3"])
    }

    @Test("A peer at a new private address is recognized as the one that a user waits for once it proves its identity")
    func comesBackUnresolved() throws {
        var (scene, link) = try linked()
        try scene.learn(PeerTests.identity, of: link)
        scene.reportDisconnection(0x40)
        scene.connect(to: PeerTests.first, 3, of: first)
        scene.accept(0x41, from: PeerTests.third, for: first)
        let back = try #require(scene.links.last)
        let stranger = PeerID(PeerTests.third)
        #expect(scene.take(first) == ["\(link) ended", "\(back) began with \(stranger)"])
        _ = scene.takeCommands()

        try scene.learn(PeerTests.identity, of: back)
        #expect(scene.take(first) == ["\(back) is with \(met)", "3 has \(back)"])
        #expect(scene.takeCommands() == [.leCreateConnectionCancel], "there is nobody to be looked for")
        // The name that the link began with goes on working.
        scene.connect(to: PeerTests.third, 4, of: second)
        #expect(scene.take(second).last == "4 has \(back)")
    }

    @Test("If two peers turn out to be one, users of either name have the link, and subscriptions remain")
    func turnOutToBeOne() throws {
        var (scene, link) = try linked()
        // The second user looks for the same peer, under the name of a bond.
        scene.connect(to: PeerTests.second, 1, of: second)
        #expect(scene.takeCommands() == [.leCreateConnection])
        try scene.restore(PeerTests.identity, of: bonded)
        try scene.learn(PeerTests.identity, of: link)
        #expect(scene.take(first) == ["\(link) is with \(bonded)"])
        #expect(scene.take(second) == ["\(link) is with \(bonded)", "1 has \(link)"])
        #expect(scene.takeCommands() == [.leCreateConnectionCancel])

        scene.notify(1, on: 0x40)
        scene.subscribe(link, 2, of: second)
        scene.notify(2, on: 0x40)
        #expect(scene.take(first) == ["\(link) value 1", "\(link) value 2"])
        #expect(scene.take(second) == ["2 done", "\(link) value 2"])
        #expect(scene.takeWrites() == [], "the subscription of the first one holds")
        for (token, address) in [(3, PeerTests.first), (4, PeerTests.second), (5, PeerTests.identity)] {
            scene.connect(to: address, UInt64(token), of: first)
            #expect(scene.take(first) == ["\(token) failed: \(HostError.alreadyConnected)"])
        }

        scene.perform(.release(link), of: first)
        #expect(scene.takeCommands() == [])
        scene.notify(3, on: 0x40)
        #expect(scene.take(second) == ["\(link) value 3"])
        scene.reportDisconnection(0x40)
        scene.connect(to: PeerTests.first, 6, of: first)
        scene.reportConnection(0x42, peer: resolved)
        let later = try #require(scene.links.last)
        #expect(
            scene.take(first) == ["\(link) ended", "\(later) began with \(bonded)", "6 has \(later)"],
            "later links have the name that lasts")
    }

    @Test("A delayed connection under a name that was replaced meanwhile still gets the link")
    func wantedLater() throws {
        var (scene, link) = try linked()
        scene.perform(.connect(met, ConnectRequest(delay: .seconds(5))), 1, of: second)
        try scene.restore(PeerTests.identity, of: bonded)
        try scene.learn(PeerTests.identity, of: link)
        #expect(scene.take(second) == ["\(link) is with \(bonded)"])
        scene.run(for: .seconds(6))
        #expect(scene.take(second) == ["1 has \(link)"])
        #expect(!scene.takeCommands().contains(.leCreateConnection))
    }

    @Test("Two links whose peers turn out to be one keep their own users and subscriptions")
    func twoLinks() throws {
        var (scene, link) = try linked()
        scene.accept(0x41, from: PeerTests.second, for: first)
        let other = try #require(scene.links.last)
        scene.subscribe(other, 1, of: second)
        #expect(scene.takeWrites() == ["65: 04 00 01 00"])
        try scene.learn(PeerTests.identity, of: link)
        try scene.learn(PeerTests.identity, of: other)
        #expect(scene.take(first) == ["\(other) began with \(bonded)", "\(other) is with \(met)"])
        _ = scene.take(second)

        scene.notify(1, on: 0x40)
        scene.notify(2, on: 0x41)
        #expect(scene.take(first) == ["\(link) value 1"])
        #expect(scene.take(second) == ["\(other) value 2"])
        scene.reportDisconnection(0x40)
        scene.notify(3, on: 0x41)
        #expect(scene.take(first) == ["\(link) ended"])
        #expect(scene.take(second) == ["\(link) ended", "\(other) value 3"])
    }
}
