import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Periodic advertising of several users")
struct SharedPeriodicTests {
    private let first = UserID(number: 1), second = UserID(number: 2)

    /// Users of one link to the peer, on a controller that has all of periodic advertising.
    private func connected(_ users: UserID...) throws -> (SharedScene, LinkIdentifier) {
        var scene = SharedScene(users: first, second, answers: ScriptedController.periodic().answers)
        for user in users { scene.connect(to: ScriptedController.peer, 1, of: user) }
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        _ = (scene.take(first), scene.take(second), scene.takeCommands())
        return (scene, try #require(scene.links.first))
    }

    @Test("A change of a set cancels an earlier change that is not on the air yet")
    func changedTwice() {
        var scene = SharedScene(users: first, answers: ScriptedController.periodic().answers)
        scene.perform(.advertiseSet(PeriodicAdvertisingTests.parameters()), 1, of: first)
        #expect(scene.take(first) == ["1 done"])
        scene.answers[.leSetPeriodicAdvertisingData] = .silence
        for token in 2...3 as ClosedRange<UInt64> {
            let parameters = PeriodicAdvertisingTests.parameters([2, 1, UInt8(token)])
            scene.perform(.changeSet(CallToken(rawValue: 1), parameters), token, of: first)
        }
        #expect(scene.take(first) == ["2 failed: cancelled"])
    }

    @Test("A user transfers a train that it receives to the peer of a link")
    func transferred() throws {
        var (scene, link) = try connected(first)
        let advertiser = ScriptedController.advertiser
        scene.perform(.synchronize([advertiser], PeriodicSyncParameters(), timeout: nil), 2, of: first)
        scene.receive(
            packet: [0x04, 0x3E, 16, 0x0E] + [0, 0x20, 0, 5, 0] + [0x01, 0, 0, 0xEE, 0xFF, 0xC0] + [2, 0x50, 0, 7])
        let sync = try #require(scene.host.syncs.first?.identifier)
        _ = scene.take(first)
        scene.perform(.transfer(link, .sync(sync), serviceData: 0x1234), 3, of: first)
        #expect(scene.parameters[.lePeriodicAdvertisingSyncTransfer] == bytes("4000 3412 2000"))
        #expect(scene.take(first) == ["3 done"])
    }

    @Test("One user's acceptance of transfers continues without the other users, and ends with that user")
    func receiver() throws {
        var (scene, link) = try connected(first, second)
        scene.perform(.acceptTransfers(link, PeriodicSyncParameters()), 2, of: first)
        #expect(scene.takeCommands() == [.leSetPeriodicAdvertisingSyncTransferParameters])
        scene.perform(.detach, of: second)
        #expect(scene.takeCommands() == [])
        scene.connect(to: ScriptedController.peer, 3, of: second)
        scene.perform(.detach, of: first)
        #expect(scene.takeCommands().contains(.leSetPeriodicAdvertisingSyncTransferParameters))
    }

    @Test("The end of a set cancels attempts in its subevents, but not those that wait for an advertisement")
    func subeventEnded() {
        let answers = ScriptedController.periodic(SubeventConnectingTests.create).answers
        var scene = SharedScene(users: first, second, answers: answers)
        let parameters = PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents)
        scene.perform(.advertiseSet(parameters), 1, of: first)
        let peer = PeerID(ScriptedController.peer), set = CallToken(rawValue: 1)
        scene.perform(.connect(peer, ConnectRequest(by: .subevent(0, of: set))), 2, of: first)
        scene.perform(.connect(peer, ConnectRequest()), 3, of: second)
        scene.perform(.connect(peer, ConnectRequest(by: .subevent(0, of: set))), 4, of: second)
        #expect(scene.takeCommands().last == .leExtendedCreateConnectionV2)
        #expect(scene.take(first) == ["1 done"])
        #expect(scene.take(second) == ["4 failed: \(HostError.alreadyConnected)"])
        scene.perform(.cancel, 1, of: first)
        #expect(scene.take(first) == ["2 failed: cancelled"])
        #expect(scene.takeCommands().contains(.leExtendedCreateConnection))
        #expect(scene.take(second) == [])
    }

    @Test("If a device does not answer in a subevent, attempts that wait for its advertisement continue")
    func noAnswer() {
        let answers = ScriptedController.periodic(SubeventConnectingTests.create).answers
        var scene = SharedScene(users: first, second, answers: answers)
        let parameters = PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents)
        scene.perform(.advertiseSet(parameters), 1, of: first)
        let peer = PeerID(ScriptedController.peer)
        scene.perform(.connect(peer, ConnectRequest()), 2, of: second)
        #expect(scene.takeCommands().last == .leExtendedCreateConnection)
        let request = ConnectRequest(by: .subevent(0, of: CallToken(rawValue: 1)))
        scene.perform(.connect(peer, request), 3, of: first)
        #expect(scene.takeCommands() == [.leCreateConnectionCancel, .leExtendedCreateConnectionV2])
        for _ in 0..<6 {
            scene.receive(
                LEConnectionComplete(
                    status: .connectionFailedToBeEstablished, connectionHandle: 0, role: .central,
                    peerAddress: ScriptedController.peer, interval: ConnectionInterval(rawValue: 0),
                    supervisionTimeout: SupervisionTimeout(rawValue: 0)))
        }
        #expect(scene.take(first) == ["1 done", "3 failed: \(HostError.connectionFailedToBeEstablished)"])
        let again = [HCIOpcode](repeating: .leExtendedCreateConnectionV2, count: 5)
        #expect(scene.takeCommands() == again + [.leExtendedCreateConnection])
        #expect(scene.take(second) == [])
    }

    @Test("An attempt in an unknown subevent fails at once, and does not affect those that wait for an advertisement")
    func noSubevent() {
        let answers = ScriptedController.periodic(SubeventConnectingTests.create).answers
        var scene = SharedScene(users: first, second, answers: answers)
        let parameters = PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents)
        scene.perform(.advertiseSet(parameters), 1, of: first)
        let peer = PeerID(ScriptedController.peer)
        scene.perform(.connect(peer, ConnectRequest()), 2, of: second)
        let request = ConnectRequest(by: .subevent(7, of: CallToken(rawValue: 1)))
        scene.perform(.connect(peer, request), 3, of: first)
        #expect(scene.take(first) == ["1 done", "3 failed: \(HostError.invalidParameters)"])
        #expect(scene.take(second) == [])
    }

    @Test("Only the user that advertises a set connects in its subevents") func foreignSubevent() {
        let answers = ScriptedController.periodic(SubeventConnectingTests.create).answers
        var scene = SharedScene(users: first, second, answers: answers)
        let parameters = PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents)
        scene.perform(.advertiseSet(parameters), 1, of: first)
        let request = ConnectRequest(by: .subevent(0, of: CallToken(rawValue: 1)))
        scene.perform(.connect(PeerID(ScriptedController.peer), request), 2, of: second)
        #expect(scene.take(second) == ["2 failed: \(HostError.invalidParameters)"])
    }
}
