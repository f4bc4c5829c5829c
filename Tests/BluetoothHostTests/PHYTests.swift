import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing
import VirtualRadio

@Suite("PHYs and data length")
struct PHYTests {
    typealias Command = ScriptedController.Command

    /// A controller with LE 2M and LE Coded, bits 8 and 11 of the features.
    static let able: [HCIOpcode: ScriptedController.Answer] = [
        // Of Broadcom, for that of Bumble is not asked.
        .readLocalVersionInformation: .complete(.success, [9, 0, 0, 9, 0x0F, 0, 0, 0]),
        .leReadLocalSupportedFeatures: .complete(.success, [0x08, 0x09, 0, 0, 0, 0, 0, 0]),
        .leSetPHY: .status(.success),
    ]
    static let prefer2M = Command(opcode: .leSetPHY, parameters: [0x40, 0, 0, 2, 2, 0, 0])

    /// A central whose peripheral has said what it can do, and what it has sent about PHYs since.
    private static func central(
        _ answers: [HCIOpcode: ScriptedController.Answer] = able, remote: LEFeatures = [.le2MPHY, .leCodedPHY],
        _ configure: (inout HostConfiguration) -> Void = { _ in }
    ) throws -> (ScriptedController, LinkIdentifier, [Command]) {
        var controller = ScriptedController.ready(answers, configure)
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.reportConnection()
        controller.receive(LEReadRemoteFeaturesComplete(status: .success, connectionHandle: 0x40, features: remote))
        let link = try #require(controller.seen.compactMap { $0.event.connectedLink }.last)
        let commands = controller.commands.filter { $0.opcode == .leSetPHY }
        controller.commands.removeAll()
        controller.seen.removeAll()
        return (controller, link, commands)
    }

    private static func complete(
        _ controller: inout ScriptedController, _ phy: LEPHY, _ status: HCIStatus = .success
    ) {
        controller.receive(
            LEPHYUpdateComplete(status: status, connectionHandle: 0x40, transmit: phy, receive: phy))
    }

    @Test("A central requests LE 2M if both controllers support it and the configuration prefers it")
    func policy() throws {
        var (both, link, commands) = try Self.central()
        #expect(commands == [Self.prefer2M])
        Self.complete(&both, .le2M)
        #expect(both.takeEvents() == ["phys 2 2"])
        #expect(both.host.information(of: link)?.phys == LinkPHYs(transmit: .le2M, receive: .le2M))
        #expect(try Self.central([:]).2 == [])
        #expect(try Self.central(remote: []).2 == [])
        let without = try Self.central { $0.prefersLE2M = false }
        #expect(without.2 == [])
    }

    @Test("A peripheral leaves the PHYs to its central, and reports the result")
    func peripheral() throws {
        var controller = ScriptedController.ready(Self.able)
        let link = try controller.accept(0x40)
        controller.receive(
            LEReadRemoteFeaturesComplete(status: .success, connectionHandle: 0x40, features: [.le2MPHY]))
        #expect(controller.takeOpcodes() == [])
        controller.receive(LEPHYUpdateComplete(connectionHandle: 0x40, transmit: .le2M, receive: .le1M))
        #expect(controller.takeEvents() == ["phys 2 1"])
        #expect(controller.host.information(of: link)?.phys == LinkPHYs(transmit: .le2M, receive: .le1M))
    }

    @Test("An application's request waits for the host's own request, and then overrides it")
    func asked() throws {
        var (controller, link, _) = try Self.central()
        let request = try controller.host.setPreferredPHYs(
            .leCoded, options: .preferS8, of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [])
        #expect(throws: HostError.busy) {
            _ = try controller.host.setPreferredPHYs(.le1M, of: link, at: controller.now)
        }
        Self.complete(&controller, .le2M)
        #expect(
            controller.commands == [Command(opcode: .leSetPHY, parameters: [0x40, 0, 0, 4, 4, 2, 0])])
        Self.complete(&controller, .leCoded)
        #expect(controller.takeEvents() == ["phys 2 2", "phys 3 3", "request completed"])
        _ = request
        _ = try controller.host.setPreferredPHYs(.le1M, of: link, at: controller.now)
        #expect(throws: HostError.busy) {
            _ = try controller.host.setPreferredPHYs(.le1M, of: link, at: controller.now)
        }
    }

    /// How a request ends that does not lead to other PHYs.
    @Test(
        "A PHY request always ends",
        arguments: ["status", "complete", "silence", "disconnection", "same"])
    func ends(_ how: String) throws {
        var (controller, link, _) = try Self.central { $0.prefersLE2M = false }
        if how == "status" { controller.answers[.leSetPHY] = .status(.unsupportedFeatureOrParameterValue) }
        _ = try controller.host.setPreferredPHYs(.leCoded, of: link, at: controller.now)
        controller.settle()
        let end: String
        switch how {
        case "status": end = "request failed: \(HostError.controller(.unsupportedFeatureOrParameterValue))"
        case "complete":
            Self.complete(&controller, .le1M, .unsupportedRemoteFeature)
            end = "request failed: \(HostError.controller(.unsupportedRemoteFeature))"
        case "silence":
            controller.receiveFrame([0x03, 23, 0])
            controller.run(for: .milliseconds(39_999))
            #expect(!controller.takeEvents().contains { $0.hasPrefix("request") })
            controller.run(for: .milliseconds(1))
            end = "request failed: timed out"
        case "disconnection":
            controller.reportDisconnection()
            end = "request failed: \(HostError.noSuchLink)"
        default:
            Self.complete(&controller, .le1M)
            end = "request completed"
        }
        #expect(controller.takeEvents().first { $0.hasPrefix("request") } == end)
    }

    @Test("Requests without a valid PHY, or for an ended link, are rejected")
    func refused() throws {
        var (controller, link, _) = try Self.central { $0.prefersLE2M = false }
        for phys in [[], LEPHYs(rawValue: 8)] as [LEPHYs] {
            #expect(throws: HostError.invalidParameters) {
                _ = try controller.host.setPreferredPHYs(phys, of: link, at: controller.now)
            }
        }
        controller.reportDisconnection()
        #expect(throws: HostError.noSuchLink) {
            _ = try controller.host.setPreferredPHYs(.le1M, of: link, at: controller.now)
        }
    }

    /// Whether the peripheral has LE 2M and LE Coded, what is asked for, and the PHY of the link then.
    static let worlds: [(LEFeatures, LEPHYs?, LEPHY)] = [
        ([.le2MPHY, .leCodedPHY], nil, .le2M), ([.leCodedPHY], nil, .le1M),
        ([.le2MPHY, .leCodedPHY], .leCoded, .leCoded), ([.le2MPHY], .leCoded, .le2M), ([], [.le1M, .le2M], .le1M),
    ]

    @Test("Two hosts agree on the PHY and on the longest data packets", arguments: worlds)
    func agreed(_ features: LEFeatures, _ asked: LEPHYs?, _ phy: LEPHY) throws {
        var world = HostWorld()
        let peripheral = world.start {
            $0.features.subtract([.le2MPHY, .leCodedPHY])
            $0.features.formUnion(features)
        }
        let central = world.start { $0.features.insert(.leCodedPHY) }
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        world.run(for: .seconds(2))
        if let asked {
            _ = try world.hosts[central].setPreferredPHYs(asked, of: pair.centralLink, at: world.now)
            world.run(for: .seconds(2))
            #expect(world.seen[central].last?.event.brief == "request completed")
        }
        for (index, link) in [(central, pair.centralLink), (peripheral, pair.peripheralLink)] {
            let information = try #require(world.hosts[index].information(of: link))
            #expect(information.phys == LinkPHYs(transmit: phy, receive: phy))
            #expect(information.dataLength == LinkDataLength(transmit: 251, receive: 251))
        }
    }
}
