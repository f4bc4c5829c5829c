import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Requests for enhanced ATT bearers")
struct EnhancedBearerRequestTests {
    /// A peer that is asked for a bearer: it has some, and no Client Supported Features.
    private func ask(_ scene: inout EnhancedBearerScene) throws -> [[UInt8]] {
        _ = try scene.start(.read(3))
        scene.receive("0B AA")
        return answer(&scene)
    }

    private func answer(_ scene: inout EnhancedBearerScene) -> [[UInt8]] {
        scene.receive("09 03 0F00 01")
        return scene.receive("01 08 0100 0A")
    }

    @Test("EATT: a bearer granted after encryption has ended is closed, and requested again after the next encryption")
    func encryptionEnded() throws {
        var scene = EnhancedBearerScene(bearers: 1)
        try scene.connect()
        #expect(try ask(&scene) == [bytes("0500 17 01 0A00 2700 0502 0502 FF00 4000")])
        scene.encrypt(.off)
        #expect(
            scene.receive("18 01 0A00 0002 4000 0500 0000 5000", on: 0x05)
                == [bytes("0500 06 02 0400 5000 4000")])
        #expect(scene.bearers.isEmpty)
        #expect(scene.controller.takeEvents() == [])
        scene.receive("07 02 0400 5000 4000", on: 0x05)
        try scene.controller.host.encrypt(scene.link, at: scene.controller.now)
        scene.controller.settle()
        scene.encrypt()
        #expect(answer(&scene) == [bytes("0500 17 03 0A00 2700 0502 0502 FF00 4000")])
    }

    /// The interval in units of 1.25 ms, the latency, and for how long a peripheral waits.
    static let pauses: [(interval: UInt16, latency: UInt16, pause: Duration)] = [
        (24, 0, .milliseconds(100)), (80, 0, .milliseconds(200)), (80, 1, .milliseconds(400)),
        (16, 9, .milliseconds(400)),
    ]

    @Test("EATT: after a collision of requests, the peripheral waits for two intervals", arguments: pauses)
    func collision(_ interval: UInt16, _ latency: UInt16, _ pause: Duration) throws {
        var scene = EnhancedBearerScene()
        try scene.accept()
        scene.controller.receive(
            LEConnectionUpdateComplete(
                connectionHandle: 0x41, interval: ConnectionInterval(rawValue: interval), latency: latency,
                supervisionTimeout: SupervisionTimeout(rawValue: 400)))
        scene.open(1)
        #expect(try ask(&scene) == [bytes("0500 17 01 0A00 2700 0502 0502 FF00 4100")])
        #expect(
            scene.receive("17 02 0A00 2700 0002 4000 0500 5100", on: 0x05)
                == [bytes("0500 18 02 0A00 0000 0000 0000 0400 0000")])
        #expect(scene.receive("18 01 0A00 0000 0000 0000 0400 0000", on: 0x05) == [])
        scene.controller.run(for: pause - .milliseconds(1))
        #expect(scene.sent() == [])
        scene.controller.run(for: .milliseconds(1))
        #expect(scene.sent() == [bytes("0500 17 02 0A00 2700 0502 0502 FF00 4100")])
        #expect(scene.bearers.count == 1)
        scene.receive("18 02 0A00 0002 4000 0500 0000 5100", on: 0x05)
        #expect(scene.bearers.count == 2)
    }
}
