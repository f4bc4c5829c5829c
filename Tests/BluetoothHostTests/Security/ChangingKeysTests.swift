import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Keys that change during a link, or cannot be used")
struct ChangingKeysTests {
    private static let strength = KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16)
    private static let other = KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 16)

    // MARK: - Keys that a controller cannot use

    @Test("A key that the controller cannot use leaves the link unchanged, and another key can be used")
    func unusableKey() {
        let address = ScriptedController.peer
        var protection = LinkProtection(pairing: Pairing(role: .central, localAddress: address, remoteAddress: address))
        let first = protection.start(with: .bond(Self.strength)), second = protection.start(with: .pairing)
        #expect(first && !second, "one key at a time")
        let failed = protection.keyFailed()
        #expect(failed == .bond(Self.strength) && protection.expectedKey == nil && protection.strength == nil)
        let again = protection.start(with: .bond(Self.strength))
        #expect(again)
        let effect = protection.encrypted()
        #expect(effect == .continueWithBond)
        let renewal = protection.start(with: .pairing)
        #expect(renewal && protection.strength == Self.strength && protection.expectedKey == .pairing)
        let renewed = protection.keyFailed()
        #expect(renewed == .pairing && protection.strength == Self.strength && protection.expectedKey == nil)
        let nothing = protection.keyFailed()
        #expect(nothing == nil && protection.strength == Self.strength, "a failure of nothing changes nothing")
    }

    // MARK: - Bonds that come and go under a link

    @Test("A link reports at once that its bond was removed or restored")
    func removedBond() throws {
        var controller = SecurityTests.bonded()
        let link = try controller.connect()
        func isBonded() -> Bool? { controller.host.information(of: link)?.security.isBonded }
        #expect(isBonded() == true)
        controller.receiveFrame(bytes("1B 0300 2A"))
        #expect(controller.takeEvents() == [], "nobody has shown to be that peer")

        let removed = controller.host.removeBond(with: PeerID(ScriptedController.peer), at: controller.now)
        controller.settle()
        let bond = try #require(removed)
        #expect(isBonded() == false)
        #expect(controller.takeEvents() == ["security: \(HostEvent.Security.changed(LinkSecurity()))"])
        controller.receiveFrame(bytes("1B 0300 2A"))
        #expect(controller.takeEvents() == ["notification 3"])

        controller.host.restore(bond, at: controller.now)
        controller.settle()
        #expect(isBonded() == true)
        #expect(controller.takeEvents() == ["security: \(HostEvent.Security.changed(LinkSecurity(isBonded: true)))"])
        controller.receiveFrame(bytes("1B 0300 2A"))
        #expect(controller.takeEvents() == [])
    }

    @Test(
        "A bond moves to the name that a peer turns out to have, unless that name already has one",
        arguments: [false, true])
    func renamedBond(isKnown: Bool) throws {
        var peers = PeerTable()
        let met = PeerID(PeerTests.first), older = PeerID(PeerTests.second)
        peers.learn(PeerTests.identity, of: older)
        var bond = Bond(peer: met, address: PeerTests.first, strength: Self.strength)
        bond.centralKey = LongTermKey(key: 1)
        let isNew = peers.setBond(bond)
        #expect(isNew)
        var former = Bond(peer: older, address: PeerTests.identity, strength: Self.other)
        former.centralKey = LongTermKey(key: 2)
        if isKnown {
            let isAdded = peers.setBond(former)
            #expect(isAdded)
        }
        let holder = peers.learn(PeerTests.identity, of: met)
        #expect(holder == older)
        #expect(Array(peers.bonds.keys) == [older])
        let kept = try #require(peers.bond(with: met))
        #expect(kept == peers.bond(with: older) && kept.peer == older)
        #expect(kept.centralKey == LongTermKey(key: isKnown ? 2 : 1))
    }

    private static let legacy = KeyStrength(model: .passkeyEntry, usesSecureConnections: false, keySize: 16)
    private static let short = KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 15)

    @Test(
        "A bond whose identity appears at another address is replaced only by an authenticated bond that is no weaker",
        arguments: [
            (strength, other, 5, true), (other, other, 5, true), (legacy, other, 5, true),
            (strength, strength, 5, false), (strength, other, 6, false), (other, strength, 5, false),
            (other, legacy, 5, false), (other, short, 5, false),
        ] as [(KeyStrength, KeyStrength, UInt64, Bool)])
    func claimedBond(_ known: KeyStrength, _ new: KeyStrength, _ resolvingKey: UInt64, _ isTaken: Bool) throws {
        var controller = SecurityTests.ready()
        let identity = DeviceIdentity(address: PeerTests.identity, resolvingKey: 5)
        controller.host.restore(
            Bond(
                peer: PeerID(PeerTests.first), address: identity.address, identity: identity,
                centralKey: LongTermKey(key: 1), strength: known), at: controller.now)
        let link = try controller.connect(to: PeerTests.second)
        let slot = try #require(controller.host.links.slot(of: link))
        var result = PairingResult(strength: new, isBonded: true)
        result.centralKey = LongTermKey(key: 2)
        result.peerIdentity = DeviceIdentity(address: identity.address, resolvingKey: UInt128(resolvingKey))
        let isKept = controller.host.keep(result, slot, at: controller.now) != nil
        #expect(isKept == isTaken)
        #expect(controller.host.bonds.map(\.centralKey) == [LongTermKey(key: isTaken ? 2 : 1)])
        #expect(controller.host.faults[.bondClaimed] == (isTaken ? 0 : 1))
    }

    @Test("A bond stores the client's supported features when it is made")
    func clientFeatures() throws {
        var controller = SecurityTests.ready()
        let link = try controller.connect()
        // Client Supported Features (Core 5.4, Vol 3, Part G, 7.2), at the handle where it is: robust caching.
        controller.receiveFrame(bytes("12 0B00 01"))
        #expect(controller.takeData() == [bytes("4000 0500 0100 0400 13")])
        let slot = try #require(controller.host.links.slot(of: link))
        var result = PairingResult(strength: Self.strength, isBonded: true)
        result.centralKey = LongTermKey(key: 1)
        let isKept = controller.host.keep(result, slot, at: controller.now) != nil
        #expect(isKept && controller.host.bonds.map(\.clientSupportedFeatures) == [.robustCaching])
    }

    @Test("A bond stores what the client has subscribed to before it is made")
    func earlierSubscription() throws {
        var controller = SecurityTests.ready()
        let link = try controller.connect()
        // The configuration of Service Changed, at the handle where it is: indications.
        controller.receiveFrame(bytes("12 0900 0200"))
        #expect(controller.takeData() == [bytes("4000 0500 0100 0400 13")])
        let slot = try #require(controller.host.links.slot(of: link))
        var result = PairingResult(strength: Self.strength, isBonded: true)
        result.centralKey = LongTermKey(key: 1)
        let isKept = controller.host.keep(result, slot, at: controller.now) != nil
        let subscription = GATTSubscription(characteristic: 8, descriptor: 9, configuration: .indications)
        #expect(isKept && controller.host.bonds.map(\.subscriptions) == [[subscription]])
    }

    @Test("A bond stores a name of up to 248 octets (Vol 3, Part C, 12.1)", arguments: [248, 249])
    func longName(length: Int) throws {
        var controller = SecurityTests.bonded()
        let link = try controller.connect()
        controller.receive(EncryptionChange(status: .success, connectionHandle: 0x40, encryption: .on))
        let name = String(repeating: "n", count: length)
        controller.host.keepName(name, of: link)
        #expect(controller.host.bonds.map(\.name) == [length == 248 ? name : nil])
    }

    @Test("A new signing key has its own counter")
    func newSignatureKey() throws {
        var controller = SecurityTests.ready()
        var bond = Bond(
            peer: PeerID(ScriptedController.peer), address: ScriptedController.peer, strength: Self.strength)
        bond.peripheralKey = LongTermKey(key: 1)
        bond.localSignature = SignatureKey(key: 2, counter: 700)
        controller.host.restore(bond, at: controller.now)
        let link = try controller.accept()
        /// The counter that a signed write goes out with: behind it there are eight octets.
        func counter() throws -> [UInt8]? {
            let isSent = try controller.host.writeSigned([UInt8]([7]).span, to: 3, on: link)
            controller.settle()
            return isSent ? controller.takeData().last.map { Array($0.suffix(12).prefix(4)) } : nil
        }
        #expect(try counter() == [0xBC, 2, 0, 0])
        #expect(try counter() == [0xBD, 2, 0, 0])
        let slot = try #require(controller.host.links.slot(of: link))
        var result = PairingResult(strength: Self.strength, isBonded: true)
        result.peripheralKey = LongTermKey(key: 3)
        result.localSignatureKey = 4
        let isKept = controller.host.keep(result, slot, at: controller.now) != nil
        #expect(isKept)
        #expect(try counter() == [0, 0, 0, 0])
    }

    // MARK: - Refusals on their way

    /// A peripheral that has refused to pair, and whose controller has not sent the refusal.
    private func refusing() throws -> ScriptedController {
        var controller = SecurityTests.ready()
        let link = try controller.accept()
        controller.receiveFrame(bytes("01 03 00 01 10 00 00"), on: 0x06, 0x41)
        #expect(takeEvents(of: &controller) == [Self.consentAsked])
        controller.completesPackets = false
        try controller.host.answerPairing(link, .refuse, at: controller.now)
        controller.settle()
        #expect(controller.takeData() == [bytes("4100 0600 0200 0600 0505")])
        #expect(controller.takeEvents() == [], "the peer has not got it yet")
        return controller
    }

    private static let consentAsked = "consent asked"

    /// As the controller's, without what the peer offers.
    private func takeEvents(of controller: inout ScriptedController) -> [String] {
        let events = controller.seen.map(\.event)
        controller.seen.removeAll()
        return events.map { if case .security(_, .asked(.consent)) = $0 { Self.consentAsked } else { $0.brief } }
    }

    private let refused = "security: \(HostEvent.Security.pairingFailed(.local(.pairingNotSupported)))"

    @Test("A refused pairing ends with the refusal, even if its link ends first")
    func refusalAndEnd() throws {
        var controller = try refusing()
        controller.reportDisconnection(0x41)
        #expect(controller.takeEvents() == [refused, "disconnected link 0.1: 8"])
    }

    @Test("The outcome of a pairing is reported before the next pairing asks for consent")
    func refusalAndNextRequest() throws {
        var controller = try refusing()
        // A peer that was refused has to wait for a second.
        let later = controller.now.advanced(by: .seconds(1))
        controller.now = later
        controller.receiveFrame(bytes("01 03 00 01 10 00 00"), on: 0x06, 0x41)
        #expect(takeEvents(of: &controller) == [refused, Self.consentAsked])
    }

    // MARK: - Attempts

    @Test("A connection attempt that cannot begin fails, and the others continue")
    func oneTooMany() {
        let user = UserID(number: 1)
        var scene = SharedScene(users: user)
        for number in 1...64 {
            scene.connect(
                to: DeviceAddress(0xC0_00_00_00_01_00 | UInt64(number), kind: .random), UInt64(number), of: user)
        }
        #expect(scene.take(user) == [])
        scene.connect(to: ScriptedController.peer, 65, of: user)
        #expect(scene.take(user) == ["65 failed: \(HostError.busy)"])
        scene.reportConnection(0x40, peer: DeviceAddress(0xC0_00_00_00_01_01, kind: .random))
        let link = scene.links.first
        #expect(scene.take(user).contains("1 has \(link.map { "\($0)" } ?? "nothing")"))
    }
}
