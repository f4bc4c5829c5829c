import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import TestSupport
import Testing

@Suite("Power control on a shared link")
struct SharedPowerTests {
    private let user = UserID(number: 1)

    @Test(
        "Power reports that the controller refuses are not delivered, and reports of the other kind continue",
        arguments: [true, false])
    func refused(_ isPathLoss: Bool) throws {
        var scene = SharedScene(users: user)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        _ = scene.take(user)
        let pathLoss = PowerCall.reportPathLoss(PowerControlTests.thresholds)
        let transmitPower = PowerCall.reportTransmitPower(local: true, remote: false)
        scene.perform(.power(link, isPathLoss ? transmitPower : pathLoss), 2, of: user)
        #expect(scene.take(user) == ["2 done"])

        scene.answers[isPathLoss ? .leSetPathLossReportingParameters : .leSetTransmitPowerReportingEnable] =
            .complete(.unsupportedRemoteFeature)
        scene.perform(.power(link, isPathLoss ? pathLoss : transmitPower), 3, of: user)
        #expect(scene.take(user) == ["3 failed: \(HostError.controller(.unsupportedRemoteFeature))"])
        scene.receive(LEPathLossThreshold(connectionHandle: 0x40, currentPathLoss: 85, zoneEntered: .high))
        scene.receive(packet: bytes("04 3E 09 21 00 40 00 00 01 FC 00 02"))
        #expect(scene.take(user) == ["2 power"])
    }
}
