import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing

@Suite("Connecting to several peers at once")
struct SeveralPeersTests {
    static func peer(_ number: UInt8) -> DeviceAddress { DeviceAddress(UInt64(number), kind: .public) }

    /// The last octet of the address that each Create Connection named.
    static func targets(_ controller: inout ScriptedController) -> [UInt8] {
        defer { controller.commands.removeAll() }
        return controller.commands.filter { $0.opcode == .leCreateConnection }.map { $0.parameters[6] }
    }

    @Test("Several peers are added to the filter accept list, and connecting continues after one has connected")
    func theyGoIntoTheFilterAcceptList() throws {
        var controller = ScriptedController.ready()
        for number: UInt8 in 1...3 {
            _ = try controller.host.connect(to: PeerID(Self.peer(number)), timeout: nil, at: controller.now)
        }
        controller.settle()
        controller.commands.removeAll()
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        #expect(
            controller.commands.map(\.opcode) == [
                .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leAddDeviceToFilterAcceptList,
                .leAddDeviceToFilterAcceptList, .leCreateConnection,
            ])
        #expect(controller.commands[4].parameters[4] == 1, "whoever is on the list")
        controller.commands.removeAll()
        controller.reportConnection(0x40, peer: Self.peer(2))
        #expect(controller.commands.contains { $0.opcode == .leCreateConnection }, "the others are still wanted")
        controller.reportFeatures()
        #expect(controller.takeEvents().first == "connected link 0.1")
    }

    static let withoutList: [[HCIOpcode: ScriptedController.Answer]] = [
        [.leReadFilterAcceptListSize: .complete(.success, [1])],
        [.leReadFilterAcceptListSize: .complete(.unknownCommand)],
        [.leAddDeviceToFilterAcceptList: .complete(.memoryCapacityExceeded)],
    ]

    @Test(
        "Without a usable filter accept list, peers take turns, and a single peer is tried without interruption",
        arguments: withoutList)
    func withoutSuchAListTheyTakeTurns(_ answers: [HCIOpcode: ScriptedController.Answer]) throws {
        var controller = ScriptedController.ready(answers)
        controller.answers[.leCreateConnectionCancel] = .complete(.commandDisallowed)
        _ = try controller.host.connect(to: PeerID(Self.peer(1)), timeout: nil, at: controller.now)
        controller.settle()
        controller.run(for: .seconds(100))
        #expect(Self.targets(&controller) == [1], "one that is alone is not disturbed")
        for number: UInt8 in 2...3 {
            _ = try controller.host.connect(to: PeerID(Self.peer(number)), timeout: nil, at: controller.now)
        }
        controller.settle()
        controller.run(for: .seconds(1))
        controller.commands.removeAll()
        controller.run(for: .seconds(24))
        let targets = Self.targets(&controller)
        #expect(targets.count == 6)
        #expect(Set(targets[..<3]) == [1, 2, 3])
        #expect(targets[..<3] == targets[3...])
    }

    @Test("If there are more peers than the filter accept list holds, all of them get a turn")
    func morePeersThanTheListHoldsAllGetTheirTurn() throws {
        var controller = ScriptedController.ready()
        controller.answers[.leCreateConnectionCancel] = .complete(.commandDisallowed)
        for number: UInt8 in 1...11 {
            _ = try controller.host.connect(to: PeerID(Self.peer(number)), timeout: nil, at: controller.now)
        }
        controller.settle()
        controller.commands.removeAll()
        controller.run(for: .seconds(13))
        let listed = controller.commands.filter { $0.opcode == .leAddDeviceToFilterAcceptList }.map { $0.parameters[1] }
        #expect(Set(listed) == Set(1...11))
        #expect(controller.commands.count { $0.opcode == .leCreateConnection } == 3)
    }

    @Test("A peer that a report names as failed to be established is retried, and eventually fails")
    func aReportMayNameWhoFailed() throws {
        var controller = ScriptedController.ready([:]) { $0.establishmentRetries = 2 }
        var attempts: [ConnectionAttempt] = []
        for number: UInt8 in 1...3 {
            attempts.append(
                try controller.host.connect(to: PeerID(Self.peer(number)), timeout: nil, at: controller.now))
        }
        controller.settle()
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        for _ in 0..<2 {
            controller.commands.removeAll()
            controller.reportConnection(0, peer: Self.peer(2), status: .connectionFailedToBeEstablished)
            #expect(controller.takeEvents() == [])
            let listed = controller.commands.filter { $0.opcode == .leAddDeviceToFilterAcceptList }
            #expect(Set(listed.map { $0.parameters[1] }) == [1, 2, 3], "it is still wanted, as are the others")
            #expect(controller.commands.last?.opcode == .leCreateConnection)
        }
        controller.commands.removeAll()
        controller.reportConnection(0, peer: Self.peer(2), status: .connectionFailedToBeEstablished)
        let failed = controller.seen.compactMap {
            if case .controller(.connectionFailed(let attempt, .connectionFailedToBeEstablished)) = $0.event {
                attempt
            } else {
                nil
            }
        }
        #expect(failed == [attempts[1]])
        let listed = controller.commands.filter { $0.opcode == .leAddDeviceToFilterAcceptList }
        #expect(Set(listed.map { $0.parameters[1] }) == [1, 3], "the others go on")
    }

    @Test(
        "Of several peers, the one whose link fails to be established is retried",
        arguments: EstablishmentTests.Way.allCases)
    func theOthersGoOn(_ way: EstablishmentTests.Way) throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        _ = try controller.host.connect(to: PeerID(Self.peer(1)), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        for _ in 1...5 {
            EstablishmentTests.fail(&controller, way)
            #expect(controller.takeEvents() == [])
            if controller.commands.last?.opcode == .leCreateConnectionCancel {
                controller.reportConnection(0, status: .unknownConnectionIdentifier)
            }
            #expect(controller.takeOpcodes().last == .leCreateConnection)
        }
        EstablishmentTests.fail(&controller, way)
        #expect(controller.takeEvents() == ["connection failed: \(HostError.connectionFailedToBeEstablished)"])
        controller.reportConnection(0x41, peer: Self.peer(1))
        controller.reportFeatures(0x41)
        #expect(controller.takeEvents().count == 1)
        #expect(controller.host.link(to: PeerID(Self.peer(1))) != nil)
    }

    @Test("A connection failure that names none of the requested peers fails no attempt")
    func aReportThatNamesNobodyEndsNothing() throws {
        var controller = ScriptedController.ready()
        for number: UInt8 in 1...2 {
            _ = try controller.host.connect(to: PeerID(Self.peer(number)), timeout: nil, at: controller.now)
        }
        controller.settle()
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        for peer in [DeviceAddress(0, kind: .public), ScriptedController.peer] {
            for _ in 0...10 { controller.reportConnection(0, peer: peer, status: .connectionFailedToBeEstablished) }
        }
        #expect(controller.takeEvents() == [])
        #expect(controller.commands.last?.opcode == .leCreateConnection)
    }
}
