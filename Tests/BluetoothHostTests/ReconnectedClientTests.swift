import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

/// The cases of GATT/SR/GAN and GATT/SR/GAI in which the client disconnects and comes back.
@Suite("Client configurations across links (Core 5.4, Vol 3, Part G, 2.4 and 3.3.3.3)")
struct ReconnectedClientTests {
    /// Lets the peer connect, and encrypt the link if it is bonded.
    private func connect(_ controller: inout ScriptedController) throws -> LinkIdentifier {
        let link = try controller.accept()
        if !controller.host.bonds.isEmpty {
            controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
            controller.receive(EncryptionChange(status: .success, connectionHandle: 0x41, encryption: .on))
        }
        controller.run(for: .seconds(1))
        controller.seen.removeAll()
        return link
    }

    /// The PDUs of ATT that the host has sent.
    private func sent(_ controller: inout ScriptedController) -> [[UInt8]] {
        controller.settle()
        return controller.takeData().filter { $0[6...7] == [0x04, 0x00] }.map { Array($0[8...]) }
    }

    /// What the host sends when the peer sends a PDU.
    private func send(_ pdu: [UInt8], _ controller: inout ScriptedController) -> [[UInt8]] {
        _ = sent(&controller)
        controller.receiveFrame(pdu, on: 0x04, 0x41)
        return sent(&controller)
    }

    @Test(
        "GATT/SR/GAN/BV-01, BV-03, GAI/BV-01, BV-02: only a bonded client keeps its configuration on its next link",
        arguments: [GATTClientConfiguration.notifications, .indications], [false, true])
    func configuration(_ configuration: GATTClientConfiguration, isBonded: Bool) throws {
        var controller = isBonded ? SecurityTests.bonded() : SecurityTests.ready()
        let service = GATTServiceDefinition(
            uuid: "F000",
            characteristics: [
                .init(uuid: "F001", properties: [.read, .notify, .indicate], value: .constant([7, 8]))
            ])
        let handles = try controller.host.addService(service, at: controller.now).characteristics[0]
        let value = UInt8(handles.value.rawValue)
        let descriptor = UInt8(try #require(handles.clientConfiguration).rawValue)

        let link = try connect(&controller)
        #expect(send([0x0A, descriptor, 0], &controller) == [[0x0B, 0, 0]])
        let octet = configuration.contains(.indications) ? 2 as UInt8 : 1
        #expect(send([0x12, descriptor, 0, octet, 0], &controller) == [[0x13]])
        #expect(send([0x0A, value, 0], &controller) == [[0x0B, 7, 8]])
        controller.seen.removeAll()
        if configuration.contains(.indications) {
            let isSent = try controller.host.indicate(handles.value, value: [7, 8].span, on: link, at: controller.now)
            #expect(isSent)
            #expect(sent(&controller) == [[0x1D, value, 0, 7, 8]])
            #expect(send([0x1E], &controller) == [])
            #expect(controller.takeEvents() == ["confirmed \(value)"])
        } else {
            let isSent = try controller.host.notify(handles.value, value: [7, 8].span, on: link)
            #expect(isSent)
            #expect(sent(&controller) == [[0x1B, value, 0, 7, 8]])
        }

        controller.reportDisconnection(0x41)
        let next = try connect(&controller)
        #expect(send([0x0A, descriptor, 0], &controller) == [[0x0B, isBonded ? octet : 0, 0]])
        guard isBonded else { return }
        if configuration.contains(.indications) {
            let isSent = try controller.host.indicate(handles.value, value: [7, 8].span, on: next, at: controller.now)
            #expect(isSent)
            #expect(sent(&controller) == [[0x1D, value, 0, 7, 8]])
        } else {
            let isSent = try controller.host.notify(handles.value, value: [7, 8].span, on: next)
            #expect(isSent)
            #expect(sent(&controller) == [[0x1B, value, 0, 7, 8]])
        }
    }
}
