import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing

@Suite("Connections that fail to be established (0x3E)")
struct EstablishmentTests {
    enum Way: CaseIterable, Sendable {
        /// LE Connection Complete with the status 0x3E.
        case status
        /// LE Connection Complete, then Disconnection Complete with the reason 0x3E.
        case reason
        /// As `reason`, after LE Read Remote Features has failed for it.
        case features
        /// LE Connection Complete, then the supervision timeout, although no packet of the peer was received.
        case timeout
    }

    static func fail(_ controller: inout ScriptedController, _ way: Way) {
        let failure = HCIStatus.connectionFailedToBeEstablished
        switch way {
        case .status: controller.reportConnection(0, status: failure)
        case .reason:
            controller.reportConnection()
            controller.reportDisconnection(0x40, failure)
        case .features:
            controller.reportConnection()
            controller.reportFeatures(status: failure)
            controller.reportDisconnection(0x40, failure)
        case .timeout:
            controller.reportConnection()
            controller.reportDisconnection(0x40, .connectionTimeout)
        }
    }

    @Test(
        "An attempt is retried after each of five failures, reports none of them, and then connects",
        arguments: Way.allCases)
    func anAttemptIsMadeAgain(_ way: Way) throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        for _ in 1...5 {
            #expect(controller.takeOpcodes().last == .leCreateConnection)
            Self.fail(&controller, way)
            #expect(controller.takeEvents() == [])
        }
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.takeEvents().count == 1)
        #expect(controller.host.connectedLinks.count == 1)
    }

    @Test("An attempt fails after the configured number of retries", arguments: Way.allCases)
    func itIsGivenUpInTheEnd(_ way: Way) throws {
        var controller = ScriptedController.ready([:]) { $0.establishmentRetries = 3 }
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        for _ in 0...3 {
            #expect(controller.takeEvents() == [])
            Self.fail(&controller, way)
        }
        #expect(controller.takeEvents() == ["connection failed: \(HostError.connectionFailedToBeEstablished)"])
        #expect(controller.takeOpcodes().count { $0 == .leCreateConnection } == 4)
    }

    @Test("Retries do not extend the timeout of an attempt", arguments: Way.allCases)
    func theTimeGivenCountsToo(_ way: Way) throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: .seconds(1), at: controller.now)
        controller.settle()
        controller.run(for: .milliseconds(900))
        Self.fail(&controller, way)
        controller.run(for: .milliseconds(99))
        #expect(controller.takeEvents() == [])
        controller.run(for: .milliseconds(1))
        #expect(controller.takeEvents() == ["connection failed: timed out"])
    }

    @Test(
        "A link that ends at once for another reason fails the attempt with that reason",
        arguments: [
            (HCIStatus.remoteUserTerminatedConnection, DisconnectReason.byPeer),
            (.remoteDevicePowerOff, .peerShutDown), (.authenticationFailure, .encryption(.authenticationFailure)),
            (.micFailure, .encryption(.micFailure)), (.llResponseTimeout, .transactionTimeout),
            (.unacceptableConnectionParameters, .other(.unacceptableConnectionParameters)),
        ])
    func turnedAway(_ status: HCIStatus, _ reason: DisconnectReason) throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection()
        controller.reportDisconnection(0x40, status)
        let error = HostError.disconnected(reason)
        #expect(controller.takeEvents() == ["connection failed: \(error)"])
    }
}
