import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Values that a client has subscribed to (Core 5.4, Vol 3, Part G, 4.10 and 4.11)")
struct ConfiguredValueTests {
    @Test(
        "GATT/CL/GAN/BV-01, GAI/BV-01: a value is delivered once it is configured, and an indication is confirmed",
        arguments: [
            (.notifications, "0100", "1B 1000 0102", "", "notification 16"),
            (.indications, "0200", "1D 1000 0102", "1E", "indication 16"),
        ] as [(GATTClientConfiguration, String, String, String, String)])
    func configured(
        _ configuration: GATTClientConfiguration, _ octets: String, _ pdu: String, _ confirmation: String,
        _ event: String
    ) throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        _ = try controller.host.start(
            .configure(descriptor: 0x0011, configuration), on: link, at: controller.now)
        controller.settle()
        #expect(controller.takeData().last.map { Array($0[8...]) } == bytes("12 1100 " + octets))
        controller.receiveFrame([0x13])
        #expect(controller.takeEvents().last == "operation completed")
        controller.receiveFrame(bytes(pdu))
        #expect(controller.seen.map(\.bytes) == [[1, 2]])
        #expect(controller.takeEvents() == [event])
        let sent = controller.takeData().map { Array($0[8...]) }
        #expect(sent == (confirmation.isEmpty ? [] : [bytes(confirmation)]))
    }

    @Test("GATT/CL/GAN/BV-02: several values in one notification are delivered once the client declares support")
    func severalValues() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        let features = GATTClientSupportedFeatures.multipleHandleValueNotifications
        _ = try controller.host.start(.write(0x0006, [features.rawValue]), on: link, at: controller.now)
        controller.settle()
        #expect(controller.takeData().last.map { Array($0[8...]) } == bytes("12 0600 04"))
        controller.receiveFrame([0x13])
        #expect(controller.takeEvents().last == "operation completed")
        controller.receiveFrame(bytes("23 1000 0200 0102 1300 0000 1600 0100 07"))
        #expect(controller.seen.map(\.bytes) == [[1, 2], [], [7]])
        #expect(controller.takeEvents() == ["notification 16", "notification 19", "notification 22"])
        #expect(controller.takeData() == [])
    }
}
