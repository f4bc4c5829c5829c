import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothSimulation
import Testing
import VirtualRadio

@testable import BluetoothHost

@Suite("A controller that is unplugged and returns")
struct ControllerLossTests {
    @Test("Everything pending ends once, and no timer remains")
    func everythingEnds() throws {
        var controller = ScriptedController.ready([.readRSSI: .silence])
        let link = try controller.connect()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        _ = try controller.host.start(.read(3), on: link, at: controller.now)
        _ = try controller.host.connect(to: PeerID(DeviceAddress(5, kind: .public)), timeout: nil, at: controller.now)
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.host.controllerLost(at: controller.now)
        controller.settle()
        let notReady = HostError.notReady
        #expect(
            controller.takeEvents() == [
                "request failed: \(notReady)", "operation failed: disconnected", "disconnected link 0.1: 3",
                "connection failed: \(notReady)", "scanning failed: \(notReady)",
            ])
        #expect(controller.host.nextDeadline == nil)
        #expect(controller.host.controller == nil)
        #expect(controller.host.outbox.isEmpty)
        #expect(throws: HostError.notReady) {
            try controller.host.connect(to: PeerID(DeviceAddress(5, kind: .public)), timeout: nil, at: controller.now)
        }
        controller.host.controllerLost(at: controller.now)
        controller.receive(HardwareError(hardwareCode: 1))
        #expect(controller.takeEvents() == [], "and only once")
    }

    @Test("Advertising resumes if it was on the air, and fails if it had not started yet", arguments: [true, false])
    func advertising(_ hasBegun: Bool) throws {
        var controller = ScriptedController.ready(hasBegun ? [:] : [.leSetAdvertisingEnable: .silence])
        try controller.host.startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.host.controllerLost(at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == (hasBegun ? [] : ["advertising failed: \(HostError.notReady)"]))
        controller.answers[.leSetAdvertisingEnable] = nil
        controller.commands.removeAll()
        controller.start()
        #expect(controller.takeEvents() == ["ready"], "the start of advertising is reported once")
        #expect(controller.takeOpcodes().contains(.leSetAdvertisingEnable) == hasBegun)
    }

    @Test("A host that failed to start, or is still starting, can also lose its controller", arguments: [true, false])
    func notUp(_ isGivenUp: Bool) {
        var controller = ScriptedController()
        controller.answers[.reset] = .silence
        controller.start()
        if isGivenUp { controller.run(for: .seconds(60)) }
        controller.seen.removeAll()
        controller.host.controllerLost(at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == [])
        #expect(controller.host.nextDeadline == nil)
        controller.answers[.reset] = nil
        controller.start()
        #expect(controller.takeEvents() == ["ready"])
    }

    @Test("Earlier failures do not count against a new controller")
    func failuresAreForgotten() {
        var controller = ScriptedController.ready()
        for _ in 1...20 {
            for _ in 1...4 { controller.receive(HardwareError(hardwareCode: 1)) }
            controller.host.controllerLost(at: controller.now)
            controller.seen.removeAll()
            controller.start()
            #expect(controller.takeEvents() == ["ready"])
        }
    }

    @Test("Services persist, even if another controller replaces the first")
    func services() throws {
        var world = HostWorld()
        let (central, peripheral) = (world.start(), world.start())
        let definition = GATTServiceDefinition(
            uuid: HostWorld.service,
            characteristics: [
                .init(uuid: HostWorld.characteristic, properties: [.read], value: .variableLength([7]))
            ])
        _ = try world.hosts[peripheral].addService(definition, at: world.now)
        let first = world.connect(central, to: peripheral)
        #expect(first != nil)
        world.air.removeController(world.controllers[peripheral], at: world.now)
        world.hosts[peripheral].controllerLost(at: world.now)
        let link = world.next(central) { $0.event.disconnection?.0 }
        #expect(link != nil, "the peer misses it after the supervision timeout")

        world.controllers[peripheral] = world.air.addController(
            ControllerConfiguration(publicAddress: DeviceAddress(0xD0_00_00_00_00_01, kind: .public)))
        world.hosts[peripheral].start(at: world.now)
        world.run(for: .milliseconds(100))
        #expect(world.hosts[peripheral].controller?.address.value == 0xD0_00_00_00_00_01)
        let second = world.connect(central, to: peripheral)
        let again = try #require(second)
        _ = try world.hosts[central].start(.readByUUID(HostWorld.characteristic), on: again.centralLink, at: world.now)
        let result = world.next(central) { $0.event.completed }
        guard case .values(let values) = result else {
            Issue.record("no values")
            return
        }
        #expect(values.map(\.value) == [[7]])
    }
}
