import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Subclassing, formatting and key-value access", .timeLimit(.minutes(30)))
struct ObjectTests {
    // As applications have them: each inherits the initializers of its superclass.
    private final class Manager: CBCentralManager {}
    private final class Server: CBPeripheralManager { override var state: CBManagerState { .poweredOn } }
    private final class Identifier: CBUUID { var note = "" }

    @Test("Subclasses inherit initializers")
    func subclasses() {
        let stage = Stage()
        stage.with(stage.radio.addController()) {
            #expect(Manager().state == .unknown)
            #expect(Manager(delegate: nil, queue: nil).state == .unknown)
            #expect(Server().state == .poweredOn)
        }
        #expect(Identifier(string: "180D") == CBUUID(string: "180D"))
        #expect(Identifier().data == Data(count: 16))
    }

    @Test("Formatting an object with `%@` prints its description")
    func formats() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.stored])
        #expect(String(format: "%@", CBUUID(string: "180D")) == "Heart Rate")
        #expect(String(format: "%@|%@", peripheral, characteristic) == "\(peripheral)|\(characteristic)")
        #expect(String(format: "%@", scene.manager) == scene.manager.description)
        #expect(peripheral.description.hasPrefix("<CBPeripheral: 0x"))
        let rest =
            "identifier = \(peripheral.identifier), name = \(peripheral.name ?? ""), "
            + "mtu = 517, state = connected>"
        #expect(peripheral.description.hasSuffix(rest))
        #expect(scene.manager.description.hasPrefix("<CBCentralManager: 0x"))
    }

    @Test("A peripheral's properties can be read by name")
    func names() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        #expect(peripheral.value(forKey: "identifier") as? UUID == peripheral.identifier)
        #expect(peripheral.value(forKey: "name") as? String == peripheral.name)
        #expect(peripheral.value(forKey: "state") as? Int == 2)
        // More than the longest value, of 512 octets, and its header.
        #expect((peripheral.value(forKey: "mtuLength") as? NSNumber)?.intValue == 517)
    }
}
