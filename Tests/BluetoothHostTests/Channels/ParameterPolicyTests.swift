import BluetoothBase
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing
import VirtualRadio

@Suite("Connection parameters: how a peripheral requests them, and how often")
struct ParameterPolicyTests {
    static let slow = ConnectionParameters(intervalMin: 80, intervalMax: 80, latency: 0, timeout: 400)
    /// Both controllers have the procedure of the link layer, bit 1 of the features.
    static let able: [HCIOpcode: ScriptedController.Answer] = [
        .leReadLocalSupportedFeatures: .complete(.success, [0x0A, 0, 0, 0, 0, 0, 0, 0])
    ]

    /// A peripheral whose central has said what it can do.
    private func peripheral(
        _ answers: [HCIOpcode: ScriptedController.Answer] = able, remote: LEFeatures = [.connectionParametersRequest]
    ) throws -> (ScriptedController, LinkIdentifier) {
        var controller = ScriptedController.ready(answers)
        let link = try controller.accept(0x40)
        controller.receive(
            LEReadRemoteFeaturesComplete(status: .success, connectionHandle: 0x40, features: remote))
        return (controller, link)
    }

    @Test("GAP/CONN/CPUP/BV-01, BV-10: requests use the link layer if both sides support it, otherwise L2CAP")
    func whichWay() throws {
        var (both, link) = try peripheral()
        _ = try both.host.updateParameters(Self.slow, of: link, at: both.now)
        both.settle()
        #expect(both.commands.map(\.parameters) == [bytes("4000 5000 5000 0000 9001 0000 0000")])
        #expect(both.takeOpcodes() == [.leConnectionUpdate] && both.takeData() == [])
        both.seen.removeAll()
        both.receive(ConnectionParameterTests.updated)
        #expect(both.takeEvents() == ["parameters 0.1 seconds", "request completed"])
        let neither: LEFeatures = []
        let ways: [([HCIOpcode: ScriptedController.Answer], LEFeatures)] = [
            ([:], .connectionParametersRequest), (Self.able, neither),
        ]
        for (answers, features) in ways {
            var (one, link) = try peripheral(answers, remote: features)
            _ = try one.host.updateParameters(Self.slow, of: link, at: one.now)
            one.settle()
            #expect(one.takeOpcodes() == [])
            #expect(one.takeData() == [bytes("4000 1000 0C00 0500 12 01 0800 5000 5000 0000 9001")])
            // The central agrees. The request is complete once the controller reports the new parameters.
            one.seen.removeAll()
            one.receiveFrame(bytes("13 01 0200 0000"), on: 0x05)
            #expect(one.takeEvents() == [])
            one.receive(ConnectionParameterTests.updated)
            #expect(one.takeEvents() == ["parameters 0.1 seconds", "request completed"])
        }
    }

    @Test(
        "if the link layer cannot carry the request after all, the host falls back to L2CAP",
        arguments: [HCIStatus.unsupportedRemoteFeature, .commandDisallowed])
    func fallback(_ status: HCIStatus) throws {
        var (controller, link) = try peripheral()
        if status == .commandDisallowed { controller.answers[.leConnectionUpdate] = .status(status) }
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        if status != .commandDisallowed {
            controller.receive(
                LEConnectionUpdateComplete(
                    status: status, connectionHandle: 0x40, interval: ConnectionInterval(rawValue: 24),
                    supervisionTimeout: SupervisionTimeout(rawValue: 400)))
        }
        #expect(controller.takeData() == [bytes("4000 1000 0C00 0500 12 01 0800 5000 5000 0000 9001")])
        #expect(controller.takeEvents() == [])
        controller.receiveFrame(bytes("13 01 0200 0100"), on: 0x05)
        #expect(controller.takeEvents() == ["request failed: \(HostError.refusedByPeer)"])
    }

    @Test(
        "L2CAP/LE/CPU/BV-01, GAP/CONN/CPUP/BV-03: a central that has refused is not asked again for 30 seconds",
        arguments: ["13 01 0200 0100", "13 01 0200 0200", "01 01 0200 0000"])
    func pause(_ answer: String) throws {
        var (controller, link) = try peripheral([:])
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        // An answer is one, also where its result is reserved.
        controller.receiveFrame(bytes(answer), on: 0x05)
        #expect(controller.takeEvents() == ["request failed: \(HostError.refusedByPeer)"])
        #expect(controller.takeData() == [bytes("4000 1000 0C00 0500 12 01 0800 5000 5000 0000 9001")])
        #expect(controller.host.information(of: link)?.parameters.interval == .milliseconds(30))
        controller.run(for: .milliseconds(29_999))
        #expect(throws: HostError.refusedByPeer) {
            _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        }
        controller.run(for: .milliseconds(1))
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeData().count == 1)
    }

    @Test("a central that has refused over the link layer is not asked again at once")
    func pauseOverLinkLayer() throws {
        var (controller, link) = try peripheral()
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        controller.receive(
            LEConnectionUpdateComplete(
                status: .unacceptableConnectionParameters, connectionHandle: 0x40,
                interval: ConnectionInterval(rawValue: 24), supervisionTimeout: SupervisionTimeout(rawValue: 400)))
        #expect(controller.takeEvents() == ["request failed: \(HostError.refusedByPeer)"])
        #expect(throws: HostError.refusedByPeer) {
            _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        }
    }
}
