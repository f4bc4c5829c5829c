import BluetoothBase
import BluetoothHCI
import BluetoothSimulation
import Testing

@testable import BluetoothHost

@Suite("Connecting")
struct ConnectingTests {
    static let peer = ScriptedController.peer
    static let other = DeviceAddress(0xC0_FF_EE_00_00_02, kind: .random)

    @Test("A link is reported only once a packet from the peer arrives")
    func aPeerIsConnectedOnceAPacketWasReceived() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leCreateConnection])
        controller.reportConnection()
        #expect(controller.takeEvents() == [])
        #expect(controller.host.connectedLinks == [])
        #expect(controller.host.link(to: PeerID(Self.peer)) == nil)
        controller.reportFeatures(status: .unsupportedRemoteFeature)
        #expect(controller.takeEvents() == ["connected link 0.1"])
        #expect(controller.host.link(to: PeerID(Self.peer)) == controller.host.connectedLinks.first)
        #expect(controller.takeData() == [frame([0x02, 0x05, 0x02])].map { [0x40, 0, 7, 0] + $0 })
    }

    @Test("If the controller cannot request the peer's features, the link is reported after seven intervals")
    func aControllerThatCannotAskThePeerShowsTheLinkAfterSevenIntervals() throws {
        var controller = ScriptedController.ready([.readLocalSupportedCommands: .status(.unknownCommand)])
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection(interval: 24)
        controller.run(for: .milliseconds(209))
        #expect(controller.takeEvents() == [])
        controller.run(for: .milliseconds(1))
        #expect(controller.takeEvents() == ["connected link 0.1"])
    }

    @Test("A link is reported when data from the peer arrives") func dataFromThePeerShowsTheLink() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection()
        controller.receiveFrame([0x1B, 0x10, 0x00, 0x01])
        #expect(controller.takeEvents() == ["connected link 0.1", "notification 16"])
    }

    // MARK: - Refusals

    @Test("Connecting to a peer again throws alreadyConnected until the peer disconnects")
    func aPeerIsConnectedOnce() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        func connectAgain() -> HostError? {
            var host = controller.host
            do throws(HostError) {
                _ = try host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
                return nil
            } catch { return error }
        }
        #expect(connectAgain() == .alreadyConnected, "wanted")
        controller.reportConnection()
        #expect(connectAgain() == .alreadyConnected, "not established yet")
        controller.reportFeatures()
        #expect(connectAgain() == .alreadyConnected, "connected")
        controller.reportDisconnection()
        #expect(connectAgain() == nil)
    }

    @Test("If the controller refuses to connect, the attempt fails with the controller's status")
    func aControllersRefusalEndsTheAttempt() throws {
        var controller = ScriptedController.ready([.leCreateConnection: .status(.connectionLimitExceeded)])
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        let error = HostError.controller(.connectionLimitExceeded)
        #expect(controller.takeEvents() == ["connection failed: \(error)"])
        #expect(controller.takeOpcodes() == [.leCreateConnection])
        #expect(controller.host.nextDeadline == nil)
    }

    @Test("If the controller is still busy with an earlier attempt, the host cancels that one and retries")
    func aControllerThatIsStillAtAnEarlierAttemptIsToldToCancel() throws {
        var controller = ScriptedController.ready([.leCreateConnection: .status(.commandDisallowed)])
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leCreateConnection, .leCreateConnectionCancel])
        controller.answers[.leCreateConnection] = .status(.success)
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        #expect(controller.takeOpcodes() == [.leCreateConnection])
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.takeEvents().first == "connected link 0.1")
    }

    @Test("An attempt fails if the controller still disallows it after retries")
    func aControllerThatNeverAllowsToConnectEndsTheAttempt() throws {
        var controller = ScriptedController.ready([
            .leCreateConnection: .status(.commandDisallowed), .leCreateConnectionCancel: .complete(.commandDisallowed),
        ])
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.run(for: .seconds(30))
        let error = HostError.controller(.commandDisallowed)
        #expect(controller.takeEvents() == ["connection failed: \(error)"])
        #expect(controller.takeOpcodes().count == 5)
    }

    @Test("The host limits links and pending attempts, and throws busy beyond the limit")
    func theHostHasALimit() throws {
        var controller = ScriptedController.ready([:]) { $0.maximumLinks = 1 }
        _ = try controller.connect()
        #expect(throws: HostError.busy) {
            _ = try controller.host.connect(to: PeerID(Self.other), timeout: nil, at: controller.now)
        }
        controller.reportDisconnection()
        for number in 0..<64 {
            _ = try controller.host.connect(
                to: PeerID(DeviceAddress(UInt64(number), kind: .public)), timeout: .seconds(5), at: controller.now)
        }
        #expect(throws: HostError.busy) {
            _ = try controller.host.connect(to: PeerID(Self.other), timeout: nil, at: controller.now)
        }
        controller.seen.removeAll()
        controller.run(for: .seconds(6))
        #expect(controller.takeEvents() == [String](repeating: "connection failed: timed out", count: 64))
    }

    @Test("A host that may have more links than it has places for reserves no commands for the rest")
    func moreLinksThanPlaces() {
        let capacities = [254, 255, 256, 1000].map { limit in
            ScriptedController { $0.maximumLinks = limit }.host.commands.capacity
        }
        // 96, and two for each link.
        #expect(capacities == [604, 606, 606, 606])
    }

    // MARK: - Ends

    @Test("An attempt fails at its timeout, and the host cancels it in the controller")
    func anAttemptTimesOut() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: .seconds(3), at: controller.now)
        controller.settle()
        controller.run(for: .milliseconds(2999))
        #expect(controller.takeEvents() == [])
        controller.run(for: .milliseconds(1))
        #expect(controller.takeEvents() == ["connection failed: timed out"])
        #expect(controller.takeOpcodes() == [.leCreateConnection, .leCreateConnectionCancel])
    }

    @Test(
        "A cancelled attempt fails once, and the next one starts within two seconds",
        arguments: [HCIStatus.success, .commandDisallowed])
    func anAttemptIsCancelled(_ answer: HCIStatus) throws {
        var controller = ScriptedController.ready([.leCreateConnectionCancel: .complete(answer)])
        let attempt = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.host.cancelConnecting(attempt, at: controller.now)
        controller.host.cancelConnecting(attempt, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["connection failed: cancelled"])
        // The next one waits for the end of the first, which some controllers never report.
        controller.commands.removeAll()
        _ = try controller.host.connect(to: PeerID(Self.other), timeout: nil, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == (answer == .success ? [] : [.leCreateConnection]))
        controller.run(for: .seconds(2))
        #expect(controller.takeOpcodes() == (answer == .success ? [.leCreateConnection] : []))
    }

    @Test("A connection established despite its cancellation is disconnected and never reported")
    func aConnectionThatCameAboutInSpiteOfTheCancellationIsNeverShown() throws {
        var controller = ScriptedController.ready()
        let attempt = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.host.cancelConnecting(attempt, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.commands.removeAll()
        controller.reportConnection()
        #expect(controller.commands == [.init(opcode: .disconnect, parameters: [0x40, 0, 0x13])])
        controller.receiveFrame([0x1B, 0x10, 0x00, 0x01])
        controller.reportFeatures()
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        controller.run(for: .seconds(60))
        #expect(controller.takeEvents() == [])
    }

    @Test("A link cancelled before a packet arrives is never reported, and the peer can be connected again")
    func aLinkCalledOffBeforeItWasHeardIsNeverShown() throws {
        var controller = ScriptedController.ready()
        let attempt = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection()
        controller.commands.removeAll()
        controller.host.cancelConnecting(attempt, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.disconnect])
        controller.receiveFrame([0x1B, 0x10, 0x00, 0x01])
        controller.receiveFrame([0x0A, 0x03, 0x00])
        controller.reportFeatures()
        #expect(controller.takeEvents() == ["connection failed: cancelled"])
        #expect(controller.takeData() == [])
        // The same peer may be wanted again at once; it is connected to when the first link is gone.
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [])
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        #expect(controller.takeOpcodes() == [.leCreateConnection])
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.takeEvents() == ["connected link 0.2"])
    }

    @Test("A peer that connects first ends the attempt to connect to it")
    func aPeerThatConnectsFirstEndsTheAttempt() throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        _ = try controller.host.connect(to: PeerID(Self.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.reportConnection(role: .peripheral)
        controller.reportFeatures()
        let error = HostError.alreadyConnected
        #expect(controller.takeEvents() == ["connection failed: \(error)", "connected link 0.1"])
    }
}
