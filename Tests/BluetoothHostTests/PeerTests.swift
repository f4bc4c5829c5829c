import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing

@Suite("Peers that change their address")
struct PeerTests {
    static let identity = DeviceAddress(0xC0_00_00_00_00_09, kind: .random)
    /// Resolvable private addresses of one peer.
    static let first = DeviceAddress(0x40_00_00_00_00_01, kind: .random)
    static let second = DeviceAddress(0x40_00_00_00_00_02, kind: .random)
    static let third = DeviceAddress(0x40_00_00_00_00_03, kind: .random)

    private func disconnect(_ controller: inout ScriptedController, _ handle: ConnectionHandle = 0x40) {
        controller.reportDisconnection(handle)
        controller.commands.removeAll()
        controller.seen.removeAll()
    }

    @Test("A peer whose identity is learned while connected keeps its name, on this link and later ones")
    func learnt() throws {
        var controller = ScriptedController.ready()
        let name = PeerID(Self.first)
        let link = try controller.connect(to: Self.first)
        #expect(try controller.host.learnIdentity(Self.identity, of: link, at: controller.now) == name)
        controller.settle()
        #expect(controller.takeEvents() == [], "there is nothing new to say")
        #expect(controller.host.information(of: link)?.peer == name)
        #expect(controller.host.information(of: link)?.address == Self.first)
        #expect(controller.host.link(to: name) == link)
        #expect(controller.host.link(to: PeerID(Self.identity)) == link)
        disconnect(&controller)

        // It is looked for under its identity address from now on.
        _ = try controller.host.connect(to: name, timeout: nil, at: controller.now)
        controller.settle()
        let create = try #require(controller.commands.last)
        #expect(create.opcode == .leCreateConnection)
        #expect(Array(create.parameters[5...11]) == [1, 0x09, 0, 0, 0, 0, 0xC0])
        controller.reportConnection(peer: DeviceAddress(Self.identity.value, kind: .randomIdentity))
        controller.reportFeatures()
        let later = try #require(controller.host.link(to: name))
        #expect(controller.host.information(of: later)?.peer == name)
    }

    @Test("A peer that returns under another address has the same name once the controller resolves it")
    func comesBack() throws {
        var controller = ScriptedController.ready()
        let name = PeerID(Self.first)
        let link = try controller.connect(to: Self.first)
        try controller.host.learnIdentity(Self.identity, of: link, at: controller.now)
        disconnect(&controller)
        let back = try controller.accept(from: DeviceAddress(Self.identity.value, kind: .randomIdentity))
        #expect(controller.host.information(of: back)?.peer == name)
        #expect(controller.host.link(to: name) == back)
    }

    @Test("If two peers turn out to be one, the link keeps its name, later links use the bond's, and both names work")
    func turnOutToBeOne() throws {
        var controller = ScriptedController.ready()
        let bonded = PeerID(Self.first), other = PeerID(Self.second)
        try controller.host.restoreIdentity(Self.identity, of: bonded, at: controller.now)
        let link = try controller.connect(to: Self.second)
        #expect(controller.host.link(to: bonded) == nil)
        #expect(try controller.host.learnIdentity(Self.identity, of: link, at: controller.now) == bonded)
        controller.settle()
        #expect(controller.takeEvents() == ["peer is \(bonded)"])
        #expect(controller.host.information(of: link)?.peer == other, "the name of a live link does not change")
        for name in [bonded, other, PeerID(Self.identity)] {
            #expect(controller.host.link(to: name) == link)
            #expect(controller.host.lastingPeer(of: name) == bonded)
            #expect(throws: HostError.alreadyConnected) {
                _ = try controller.host.connect(to: name, timeout: nil, at: controller.now)
            }
        }
        disconnect(&controller)

        // The old name goes on working, and leads to a link with the lasting one.
        let again = try controller.connect(to: Self.second)
        #expect(controller.host.information(of: again)?.peer == bonded)
        #expect(controller.host.link(to: other) == again)
        #expect(controller.host.link(to: bonded) == again)
    }

    @Test("An attempt to connect to a peer ends if the peer turns out to be connected")
    func attemptAtALinkedPeer() throws {
        var controller = ScriptedController.ready()
        let bonded = PeerID(Self.first)
        try controller.host.restoreIdentity(Self.identity, of: bonded, at: controller.now)
        let link = try controller.connect(to: Self.second)
        _ = try controller.host.connect(to: bonded, timeout: nil, at: controller.now)
        controller.settle()
        try controller.host.learnIdentity(Self.identity, of: link, at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == ["peer is \(bonded)", "connection failed: \(HostError.alreadyConnected)"])
        #expect(controller.takeOpcodes() == [.leCreateConnection, .leCreateConnectionCancel])
    }

    @Test("Of two attempts under two names of one peer, one connects and the other ends")
    func twoAttempts() throws {
        var controller = ScriptedController.ready()
        let names = [PeerID(Self.first), PeerID(Self.second)]
        for name in names { _ = try controller.host.connect(to: name, timeout: nil, at: controller.now) }
        for name in names { try controller.host.restoreIdentity(Self.identity, of: name, at: controller.now) }
        controller.run(for: .seconds(3))
        controller.reportConnection(peer: Self.identity)
        controller.reportFeatures()
        #expect(
            controller.takeEvents() == [
                "connection failed: \(HostError.alreadyConnected)", "connected link 0.1",
            ])
        for name in names { #expect(controller.host.link(to: name) != nil) }
    }

    @Test("Learning an identity fails for a private address and for an ended link")
    func refused() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        #expect(throws: HostError.invalidParameters) {
            try controller.host.learnIdentity(Self.first, of: link, at: controller.now)
        }
        controller.reportDisconnection()
        #expect(throws: HostError.noSuchLink) {
            try controller.host.learnIdentity(Self.identity, of: link, at: controller.now)
        }
    }

    @Test("Sightings report the peer's lasting ID")
    func sightings() throws {
        var controller = ScriptedController.ready()
        try controller.host.restoreIdentity(Self.identity, of: PeerID(Self.first), at: controller.now)
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        // An LE Advertising Report of a resolved random identity, without data.
        controller.receive([0x04, 0x3E, 12, 0x02, 1, 0, 3, 0x09, 0, 0, 0, 0, 0xC0, 0, 0xC4])
        guard case .advertisement(let advertisement) = controller.seen.first?.event else {
            Issue.record("no advertisement")
            return
        }
        #expect(advertisement.peer == PeerID(Self.first))
        #expect(advertisement.address.value == Self.identity.value)
    }

    @Test("Identity addresses are never forgotten, however many peers have one")
    func identities() throws {
        var controller = ScriptedController.ready()
        func identity(_ number: UInt64) -> PeerID {
            PeerID(DeviceAddress(0xC1_00_00_00_00_00 | number, kind: .random))
        }
        func name(_ number: UInt64) -> PeerID { PeerID(DeviceAddress(0x41_00_00_00_00_00 | number, kind: .random)) }
        // One more than there may be names of private addresses.
        let numbers: ClosedRange<UInt64> = 0...1024
        for number in numbers {
            try controller.host.restoreIdentity(identity(number).firstAddress, of: name(number), at: controller.now)
        }
        let forgotten = numbers.filter { controller.host.lastingPeer(of: identity($0)) != name($0) }
        #expect(forgotten == [])
    }

    @Test("Names of private addresses are eventually forgotten, but live links are still found")
    func bounds() throws {
        var controller = ScriptedController.ready()
        let bonded = PeerID(Self.first)
        try controller.host.restoreIdentity(Self.identity, of: bonded, at: controller.now)
        let kept = try controller.connect(0x50, to: Self.second)
        try controller.host.learnIdentity(Self.identity, of: kept, at: controller.now)
        controller.receiveFrame([0x03, 23, 0], on: 0x04, 0x50)
        for number in 0..<1024 {
            let link = try controller.accept(from: DeviceAddress(0x41_00_00_00_00_00 | UInt64(number), kind: .random))
            try controller.host.learnIdentity(Self.identity, of: link, at: controller.now)
            controller.run(for: .milliseconds(100))
            disconnect(&controller, 0x41)
        }
        #expect(controller.host.lastingPeer(of: PeerID(Self.second)) == PeerID(Self.second))
        #expect(controller.host.link(to: bonded) == kept)
    }
}
