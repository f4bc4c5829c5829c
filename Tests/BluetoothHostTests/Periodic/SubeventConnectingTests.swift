import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Connecting in a subevent")
struct SubeventConnectingTests {
    static let set = PeriodicAdvertisingTests.set
    static let peer = PeerID(ScriptedController.peer)
    static let create: [HCIOpcode: ScriptedController.Answer] = [.leExtendedCreateConnectionV2: .status(.success)]

    /// A host that advertises two subevents.
    private static func advertising(
        _ answers: [HCIOpcode: ScriptedController.Answer] = create, settled: Bool = true
    ) throws -> ScriptedController {
        var controller = ScriptedController.periodic(answers)
        try controller.host.startAdvertising(
            PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents), as: set,
            at: controller.now)
        guard settled else { return controller }
        controller.settle()
        controller.commands.removeAll()
        _ = controller.takeEvents()
        return controller
    }

    private static func connect(
        _ controller: inout ScriptedController, _ subevent: Int = 1
    ) throws -> ConnectionAttempt {
        defer { controller.settle() }
        return try controller.host.connect(
            to: peer, timeout: nil, by: .subevent(subevent, of: set), at: controller.now)
    }

    /// On every PHY that the controller has, since it says itself on which it sends the set.
    static let command =
        "LE Extended Create Connection [v2]: 0101" + "000000010000eeffc007"
        + String(repeating: "60003000" + "0c0018000000900100000000", count: 3)

    @Test("GAP/PADV/PAC/BV-01: a synchronized device is connected to in its subevent") func connects() throws {
        var controller = try Self.advertising()
        let attempt = try Self.connect(&controller)
        #expect(controller.takeCommands() == [Self.command])
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.host.connectedLinks.count == 1)
        #expect(
            controller.seen.contains { seen in
                if case .link(_, .connected(attempt)) = seen.event { true } else { false }
            })
    }

    @Test("an attempt waits until the subevents are on the air") func waits() throws {
        var controller = try Self.advertising(settled: false)
        _ = try Self.connect(&controller)
        let opcodes = controller.takeOpcodes()
        #expect(opcodes.suffix(2) == [.leSetExtendedAdvertisingEnable, .leExtendedCreateConnectionV2])
        #expect(opcodes.count { $0 == .leExtendedCreateConnectionV2 } == 1)
    }

    @Test("a device that does not answer is asked six times") func noAnswer() throws {
        var controller = try Self.advertising()
        _ = try Self.connect(&controller)
        for _ in 0..<6 {
            #expect(controller.takeOpcodes() == [.leExtendedCreateConnectionV2])
            controller.reportConnection(0, status: .connectionFailedToBeEstablished)
        }
        #expect(controller.takeOpcodes() == [])
        #expect(
            controller.seen.contains { seen in
                if case .controller(.connectionFailed(_, .connectionFailedToBeEstablished)) = seen.event {
                    true
                } else {
                    false
                }
            })
    }

    @Test("an attempt is cancelled with its set, or by the caller", arguments: [true, false])
    func ended(_ bySet: Bool) throws {
        var controller = try Self.advertising()
        let attempt = try Self.connect(&controller)
        controller.commands.removeAll()
        if bySet {
            controller.host.stopAdvertising(Self.set, at: controller.now)
        } else {
            controller.host.cancelConnecting(attempt, at: controller.now)
        }
        controller.settle()
        #expect(controller.takeOpcodes().contains(.leCreateConnectionCancel))
        let failures = controller.seen.filter { seen in
            if case .controller(.connectionFailed(attempt, .cancelled)) = seen.event { true } else { false }
        }
        #expect(failures.count == 1)
    }

    @Test("attempts in a subevent and by advertisement take turns") func turns() throws {
        var controller = try Self.advertising()
        _ = try Self.connect(&controller)
        for value in 1...2 as ClosedRange<UInt64> {
            _ = try controller.host.connect(
                to: PeerID(DeviceAddress(value, kind: .public)), timeout: nil, at: controller.now)
        }
        controller.settle()
        #expect(controller.takeCommands() == [Self.command])
        controller.run(for: .seconds(4))
        #expect(controller.takeOpcodes() == [.leCreateConnectionCancel])
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        #expect(
            controller.takeOpcodes() == [
                .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leAddDeviceToFilterAcceptList,
                .leExtendedCreateConnection,
            ])
        controller.run(for: .seconds(4))
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        #expect(controller.takeCommands().last == Self.command)
    }

    @Test("unknown subevents and sets, and missing support, are rejected") func refused() throws {
        var controller = try Self.advertising()
        for (number, set) in [(2, Self.set), (-1, Self.set), (0, AdvertisingHandle(2))] {
            #expect(throws: HostError.invalidParameters) {
                try controller.host.connect(
                    to: Self.peer, timeout: nil, by: .subevent(number, of: set), at: controller.now)
            }
        }
        var commands = [UInt8](repeating: 0xFF, count: 64)
        commands[47] &= ~1
        var without = try Self.advertising([.readLocalSupportedCommands: .complete(.success, commands)])
        #expect(throws: HostError.unsupported(.subeventConnections)) { try Self.connect(&without) }
    }

    @Test("over the air: the device is reached in its subevent, and both hosts have a link") func overTheAir() throws {
        var world = try PeriodicWorldTests.world(
            2, PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents))
        let sync = try world.hosts[1].synchronize(with: [PeriodicWorldTests.advertiser(world)], at: world.now)
        // Nobody is synchronized before there is something to receive.
        var isEstablished = false
        for _ in 0..<20 where !isEstablished {
            try world.hosts[0].setSubeventData(
                [PeriodicSubeventData(subevent: 0, data: [1], responseSlots: 0..<0)], of: Self.set, at: world.now)
            world.run(for: .milliseconds(100))
            isEstablished = world.seen[1].contains { $0.event.isEstablished(sync) }
        }
        try #require(isEstablished)
        try world.hosts[1].selectSubevents([1], of: sync, at: world.now)
        world.run(for: .milliseconds(10))
        let peer = PeerID(try #require(world.hosts[1].controller?.address))
        // Nobody listens to the other subevent.
        _ = try world.hosts[0].connect(
            to: peer, timeout: .seconds(30), by: .subevent(0, of: Self.set), at: world.now)
        let failure = world.next(0) { seen -> HostError? in
            if case .controller(.connectionFailed(_, let error)) = seen.event { error } else { nil }
        }
        #expect(failure == .connectionFailedToBeEstablished)
        _ = try world.hosts[0].connect(
            to: peer, timeout: .seconds(30), by: .subevent(1, of: Self.set), at: world.now)
        let own = try #require(world.next(0) { $0.event.connectedLink })
        let other = try #require(world.next(1) { $0.event.connectedLink })
        #expect(world.hosts[0].information(of: own)?.role == .central)
        #expect(world.hosts[1].information(of: other)?.role == .peripheral)
        #expect(world.hosts[0].information(of: own)?.peer == peer)
    }
}

extension HostEvent {
    fileprivate func isEstablished(_ sync: PeriodicSyncIdentifier) -> Bool {
        if case .periodic(sync, .established) = self { true } else { false }
    }
}
