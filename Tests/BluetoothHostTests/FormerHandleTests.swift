import BluetoothBase
import BluetoothCrypto
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import TestSupport
import Testing

@Suite("Commands for a connection whose handle is reused")
struct FormerHandleTests {
    /// A bonded host with a link at 0x41, whose controller has yet to answer a command.
    private func busy() throws -> (ScriptedController, LinkIdentifier) {
        var controller = SecurityTests.bonded()
        let link = try controller.accept()
        controller.answers[.readRSSI] = .silence
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        _ = (controller.takeOpcodes(), controller.takeEvents())
        return (controller, link)
    }

    @Test("A queued command for another connection is still sent when a connection ends")
    func otherConnection() throws {
        var controller = SecurityTests.bonded()
        _ = try controller.accept()
        let other = try controller.connect(0x42, to: DeviceAddress(0xC0_FF_EE_00_00_02, kind: .public))
        controller.answers[.readRSSI] = .complete(.success, [0x42, 0, 0xC4])
        _ = try controller.host.readRSSI(of: other, at: controller.now)
        controller.reportDisconnection(0x41)
        #expect(controller.commands.contains(.init(opcode: .readRSSI, parameters: [0x42, 0])))
        #expect(controller.takeEvents().contains("rssi -60"))
    }

    @Test("A queued key or Disconnect does not reach the next connection with the same handle")
    func waiting() throws {
        var (controller, link) = try busy()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        try controller.host.disconnect(link, at: controller.now)
        _ = try? controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [], "they wait for the answer to the first command")
        controller.reportDisconnection(0x41, .remoteUserTerminatedConnection)
        controller.reportConnection(0x41, role: .peripheral)
        controller.complete(.readRSSI, .success, [0x41, 0, 0xC4])
        let opcodes = controller.takeOpcodes()
        #expect(!opcodes.contains(.leLongTermKeyRequestReply) && !opcodes.contains(.disconnect))
        #expect(controller.host.outbox.isEmpty)
        // The calls have ended once each, with the link.
        #expect(controller.takeEvents().count { $0.hasPrefix("request failed") || $0.hasPrefix("rssi") } == 2)
    }

    @Test("A key is not sent if its connection ends in the same turn")
    func sameTurn() throws {
        var controller = SecurityTests.bonded()
        _ = try controller.accept()
        _ = controller.takeOpcodes()
        for event in [bytes("3E 0D 05 41 00 0000000000000000 0000"), bytes("05 04 00 41 00 13")] {
            controller.host.receive(([0x04] + event).span, at: controller.now)
        }
        controller.settle()
        #expect(!controller.takeOpcodes().contains(.leLongTermKeyRequestReply))
        // Nothing waits for an answer to it.
        controller.receive(LEReadRemoteFeaturesComplete(status: .success, connectionHandle: 0x41, features: []))
        let link = try controller.accept()
        #expect(controller.host.information(of: link) != nil)
    }
}
