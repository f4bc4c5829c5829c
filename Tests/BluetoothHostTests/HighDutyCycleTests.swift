import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing
import VirtualRadio

@Suite("High duty cycle directed advertising")
struct HighDutyCycleTests {
    static var parameters: AdvertisingParameters {
        var parameters = AdvertisingParameters(data: [], peer: PeerID(ScriptedController.peer))
        parameters.isHighDutyCycle = true
        return parameters
    }

    /// LE Connection Complete with Advertising Timeout, as a peripheral and, as some controllers have it, with all else
    /// zero.
    @Test(
        "Advertising ends when the controller reports it, whichever role the event has",
        arguments: [ConnectionRole.peripheral, .central])
    func ended(_ role: ConnectionRole) throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.parameters, at: controller.now)
        controller.settle()
        #expect(
            controller.commands[0].opcode == .leSetAdvertisingParameters && controller.commands[0].parameters[4] == 1)
        #expect(controller.takeEvents() == ["advertising"])
        controller.commands.removeAll()
        controller.run(for: .milliseconds(1280))
        #expect(controller.takeEvents() == [])
        controller.reportConnection(0, role: role, status: .advertisingTimeout)
        #expect(controller.takeEvents() == ["advertising ended"])
        // The controller has stopped by itself, and nothing else is wanted of it.
        controller.run(for: .seconds(10))
        #expect(controller.commands == [])
        try controller.host.startAdvertising(AdvertisingTests.card, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["advertising"])
    }

    @Test("With the extended commands, the set uses legacy PDUs and lasts 1.28 s")
    func extended() throws {
        var controller = ScriptedController.extended()
        try controller.host.startAdvertising(Self.parameters, at: controller.now)
        controller.settle()
        let commands = controller.takeCommands()
        // The event properties: connectable, directed, high duty cycle, legacy. The duration: 128 times 10 ms.
        #expect(commands[0].hasPrefix("LE Set Extended Advertising Parameters: 001d00"))
        #expect(commands.last == "LE Set Extended Advertising Enable: 010100800000")
        #expect(controller.takeEvents() == ["advertising"])
        controller.receive(
            LEAdvertisingSetTerminated(
                status: .advertisingTimeout, advertisingHandle: AdvertisingHandle(0), connectionHandle: 0,
                numCompletedExtendedAdvertisingEvents: 0))
        #expect(controller.takeEvents() == ["advertising ended"])
    }

    @Test("If the controller does not report the end, the host stops advertising")
    func silent() throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.parameters, at: controller.now)
        controller.run(for: .milliseconds(1379))
        #expect(controller.takeEvents() == ["advertising"])
        controller.commands.removeAll()
        controller.run(for: .milliseconds(1))
        #expect(controller.takeEvents() == ["advertising ended"])
        #expect(controller.commands == [.init(opcode: .leSetAdvertisingEnable, parameters: [0])])
    }

    static let invalid: [@Sendable (inout AdvertisingParameters) -> Void] = [
        { $0.peer = nil }, { $0.isConnectable = false }, { $0.extended = ExtendedAdvertising() },
        { $0.data = [2, 1, 5] },
    ]

    @Test(
        "High duty cycle requires one peer, connectable mode and legacy PDUs, and excludes limited mode",
        arguments: invalid.indices)
    func refused(_ index: Int) throws {
        var controller = ScriptedController.extended()
        var parameters = Self.parameters
        Self.invalid[index](&parameters)
        #expect(throws: HostError.invalidParameters) {
            try controller.host.startAdvertising(parameters, at: controller.now)
        }
    }

    @Test(
        "The peer connects at once, or advertising ends after 1.28 s, with legacy and extended commands",
        arguments: [false, true])
    func world(_ isExtended: Bool) throws {
        var world = HostWorld()
        let device = world.start { $0.hasExtendedAdvertising = isExtended }
        let peer = world.start(), stranger = world.start()
        var parameters = AdvertisingParameters(data: [], peer: PeerID(try #require(world.address(of: peer))))
        parameters.isHighDutyCycle = true
        let own = PeerID(try #require(world.address(of: device)))
        world.seen[device] = []
        try world.hosts[device].startAdvertising(parameters, at: world.now)
        _ = try world.hosts[stranger].connect(to: own, timeout: .seconds(5), at: world.now)
        world.run(for: .milliseconds(1270))
        #expect(world.seen[device].map(\.event.brief) == ["advertising"])
        world.run(for: .milliseconds(20))
        #expect(world.seen[device].map(\.event.brief) == ["advertising", "advertising ended"])
        #expect(!world.hosts[device].isAdvertisingWanted())
        world.run(for: .seconds(5))
        world.seen[device] = []

        _ = try world.hosts[peer].connect(to: own, timeout: nil, at: world.now)
        world.run(for: .seconds(1))
        let start = world.now
        try world.hosts[device].startAdvertising(parameters, at: world.now)
        world.run(for: .milliseconds(200))
        let pair = try world.linked(peer, device)
        #expect(start.duration(to: world.now) < .milliseconds(300))
        #expect(world.hosts[device].information(of: pair.peripheralLink)?.peer == parameters.peer)
        #expect(world.hosts[stranger].connectedLinks == [])
    }
}
