import BluetoothBase
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

@Suite("Power control and path loss")
struct PowerControlTests {
    typealias Command = ScriptedController.Command

    private static func linked(
        _ answers: [HCIOpcode: ScriptedController.Answer] = [:]
    ) throws -> (ScriptedController, LinkIdentifier) {
        var controller = ScriptedController.ready(answers)
        let link = try controller.connect()
        return (controller, link)
    }

    static func failure(_ status: HCIStatus) -> String { "request failed: \(HostError.controller(status))" }

    /// What the controller answers, and what is reported.
    @Test(
        "This device's transmit power is read",
        arguments: [
            (HCIStatus.success, "40 00 01 FC 08", "power -4 of 8"),
            (.success, "40 00 01 08 08", "power 8 of 8, the most"),
            (.success, "40 00 01 7F 7F", "power unknown of unknown"), (.success, "40 00", failure(.unspecifiedError)),
            (.commandDisallowed, "", failure(.commandDisallowed)),
        ])
    func local(_ status: HCIStatus, _ returned: String, _ event: String) throws {
        var (controller, link) = try Self.linked([
            .leEnhancedReadTransmitPowerLevel: .complete(status, bytes(returned))
        ])
        _ = try controller.host.readTransmitPower(of: link, at: controller.now)
        controller.settle()
        #expect(
            controller.commands == [Command(opcode: .leEnhancedReadTransmitPowerLevel, parameters: [0x40, 0, 1])])
        #expect(controller.takeEvents() == [event])
    }

    @Test("Power is read for the PHY in use: the transmit PHY of this device, or that of the peer")
    func phys() throws {
        var (controller, link) = try Self.linked([.leReadRemoteTransmitPowerLevel: .status(.success)])
        controller.receive(LEPHYUpdateComplete(connectionHandle: 0x40, transmit: .le2M, receive: .leCoded))
        controller.commands.removeAll()
        _ = try controller.host.readTransmitPower(of: link, at: controller.now)
        _ = try controller.host.readRemoteTransmitPower(of: link, at: controller.now)
        controller.settle()
        #expect(
            controller.commands == [
                Command(opcode: .leEnhancedReadTransmitPowerLevel, parameters: [0x40, 0, 2]),
                Command(opcode: .leReadRemoteTransmitPowerLevel, parameters: [0x40, 0, 3]),
            ])
    }

    /// LE Transmit Power Reporting: status, handle, reason, PHY, level, flags, delta; and what is reported.
    @Test(
        "The peer's transmit power is read",
        arguments: [
            ("00 40 00 02 01 F6 01 00", "power -10 of unknown, the least"),
            ("00 40 00 02 01 7E 00 00", "power unknown of unknown"),
            ("00 40 00 02 01 7F 00 7F", "power unknown of unknown"),
            ("1A 40 00 02 01 00 00 00", failure(.unsupportedRemoteFeature)),
        ])
    func remote(_ report: String, _ event: String) throws {
        var (controller, link) = try Self.linked([.leReadRemoteTransmitPowerLevel: .status(.success)])
        _ = try controller.host.readRemoteTransmitPower(of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == [])
        #expect(throws: HostError.busy) {
            _ = try controller.host.readRemoteTransmitPower(of: link, at: controller.now)
        }
        controller.receive(bytes("04 3E 09 21 \(report)"))
        // Nobody waits for a second answer.
        controller.receive(bytes("04 3E 09 21 \(report)"))
        #expect(controller.takeEvents() == [event])
    }

    @Test("A request for the peer's power always ends", arguments: ["status", "silence", "disconnection"])
    func ends(_ how: String) throws {
        var (controller, link) = try Self.linked([
            .leReadRemoteTransmitPowerLevel: .status(how == "status" ? .unsupportedRemoteFeature : .success)
        ])
        _ = try controller.host.readRemoteTransmitPower(of: link, at: controller.now)
        controller.settle()
        switch how {
        case "silence":
            // An answer to the host's request for another ATT_MTU, without which it would end the link.
            controller.receiveFrame([0x03, 23, 0])
            controller.seen.removeAll()
            controller.run(for: .milliseconds(39_999))
            #expect(controller.takeEvents() == [])
            controller.run(for: .milliseconds(1))
            #expect(controller.takeEvents() == ["request failed: timed out"])
        case "disconnection":
            controller.reportDisconnection()
            #expect(controller.takeEvents().first == "request failed: \(HostError.noSuchLink)")
        default: #expect(controller.takeEvents() == [Self.failure(.unsupportedRemoteFeature)])
        }
    }

    static let thresholds = PathLossThresholds(low: 50, high: 80, hysteresis: 3, minimumEvents: 4)
    static let parameters = Command(
        opcode: .leSetPathLossReportingParameters, parameters: [0x40, 0, 80, 3, 50, 3, 4, 0])
    static func enabling(_ isEnabled: Bool) -> Command {
        Command(opcode: .leSetPathLossReportingEnable, parameters: [0x40, 0, isEnabled ? 1 : 0])
    }

    @Test("Path loss is reported from the controller's confirmation until reporting is stopped")
    func pathLoss() throws {
        var (controller, link) = try Self.linked()
        _ = try controller.host.reportPathLoss(Self.thresholds, of: link, at: controller.now)
        controller.receive(LEPathLossThreshold(connectionHandle: 0x40, currentPathLoss: 1, zoneEntered: .low))
        #expect(controller.commands == [Self.parameters, Self.enabling(true)])
        #expect(throws: HostError.busy) {
            _ = try controller.host.reportPathLoss(Self.thresholds, of: link, at: controller.now)
        }
        controller.receive(LEPathLossThreshold(connectionHandle: 0x40, currentPathLoss: 85, zoneEntered: .high))
        controller.receive(LEPathLossThreshold(connectionHandle: 0x40, currentPathLoss: 0xFF, zoneEntered: .low))
        // A reserved zone, and another link.
        controller.receive(
            LEPathLossThreshold(connectionHandle: 0x40, currentPathLoss: 1, zoneEntered: PathLossZone(rawValue: 3)))
        controller.receive(LEPathLossThreshold(connectionHandle: 0x41, currentPathLoss: 1, zoneEntered: .low))
        let reports = ["request completed", "path loss 85 in zone 2", "path loss unknown in zone 0"]
        #expect(controller.takeEvents().suffix(3) == reports)
        controller.commands.removeAll()
        controller.host.stopReportingPathLoss(of: link, at: controller.now)
        controller.settle()
        #expect(controller.commands == [Self.enabling(false)])
        controller.receive(LEPathLossThreshold(connectionHandle: 0x40, currentPathLoss: 85, zoneEntered: .high))
        #expect(controller.takeEvents() == [])
        _ = try controller.host.reportPathLoss(Self.thresholds, of: link, at: controller.now)
    }

    @Test("Thresholds that the controller refuses are not enabled, and can be set again")
    func refused() throws {
        var (controller, link) = try Self.linked([
            .leSetPathLossReportingParameters: .complete(.unsupportedRemoteFeature)
        ])
        for _ in 0..<2 {
            _ = try controller.host.reportPathLoss(Self.thresholds, of: link, at: controller.now)
            controller.settle()
            #expect(controller.takeOpcodes() == [.leSetPathLossReportingParameters])
            #expect(controller.takeEvents() == [Self.failure(.unsupportedRemoteFeature)])
        }
    }

    @Test("Path loss reports that are stopped before they begin are not enabled")
    func calledOff() throws {
        var (controller, link) = try Self.linked()
        _ = try controller.host.reportPathLoss(Self.thresholds, of: link, at: controller.now)
        controller.host.stopReportingPathLoss(of: link, at: controller.now)
        controller.settle()
        #expect(controller.commands == [Self.parameters, Self.enabling(false)])
        #expect(controller.takeEvents() == ["request failed: \(HostError.cancelled)"])
    }

    @Test(
        "Thresholds whose zones overlap are rejected",
        arguments: [
            PathLossThresholds(low: 80, high: 50), .init(low: 50, high: 52), .init(low: 1, high: 80),
            .init(low: 50, high: 254),
        ])
    func invalid(_ thresholds: PathLossThresholds) throws {
        var (controller, link) = try Self.linked()
        #expect(throws: HostError.invalidParameters) {
            _ = try controller.host.reportPathLoss(thresholds, of: link, at: controller.now)
        }
    }

    @Test("Changes of either side's power are reported until reporting is stopped")
    func changes() throws {
        var (controller, link) = try Self.linked()
        #expect(throws: HostError.invalidParameters) {
            _ = try controller.host.reportTransmitPower(local: false, remote: false, of: link, at: controller.now)
        }
        _ = try controller.host.reportTransmitPower(local: true, remote: false, of: link, at: controller.now)
        controller.settle()
        for report in [
            "00 40 00 00 01 FC 00 02", "00 40 00 01 01 7E 00 7F", "00 40 00 03 01 03 00 04", "1F 40 00 00 01 03 00 04",
        ] {
            controller.receive(bytes("04 3E 09 21 \(report)"))
        }
        let reports = [
            "request completed", "local power -4 of unknown, by 2", "remote power unknown of unknown, by unknown",
        ]
        #expect(controller.takeEvents() == reports)
        controller.host.stopReportingTransmitPower(of: link, at: controller.now)
        controller.settle()
        #expect(
            controller.commands == [
                Command(opcode: .leSetTransmitPowerReportingEnable, parameters: [0x40, 0, 1, 0]),
                Command(opcode: .leSetTransmitPowerReportingEnable, parameters: [0x40, 0, 0, 0]),
            ])
        controller.receive(bytes("04 3E 09 21 00 40 00 00 01 FC 00 02"))
        #expect(controller.takeEvents() == [])
    }

    /// The commands that a controller before 5.2 does not list: octet 43 and behind.
    @Test("Without the commands, power control is unsupported, and its events stay masked")
    func unsupported() throws {
        let commands = [UInt8](repeating: 0xFF, count: 43) + [UInt8](repeating: 0, count: 21)
        let old: [HCIOpcode: ScriptedController.Answer] = [.readLocalSupportedCommands: .complete(.success, commands)]
        var controller = ScriptedController()
        controller.answers.merge(old) { $1 }
        controller.start()
        let mask = try #require(controller.commands.first { $0.opcode == .leSetEventMask })
        #expect(mask.parameters[3] & 0x80 == 0 && mask.parameters[4] & 0x01 == 0)
        let (link, now) = (try controller.connect(), controller.now)
        #expect(throws: HostError.unsupported(.powerControl)) {
            _ = try controller.host.readTransmitPower(of: link, at: now)
        }
        #expect(throws: HostError.unsupported(.powerControl)) {
            _ = try controller.host.readRemoteTransmitPower(of: link, at: now)
        }
        #expect(throws: HostError.unsupported(.powerControl)) {
            _ = try controller.host.reportPathLoss(Self.thresholds, of: link, at: now)
        }
        #expect(throws: HostError.unsupported(.powerControl)) {
            _ = try controller.host.reportTransmitPower(local: true, remote: true, of: link, at: now)
        }
        controller.reportDisconnection()
        #expect(throws: HostError.noSuchLink) { _ = try controller.host.readTransmitPower(of: link, at: now) }
    }
}
