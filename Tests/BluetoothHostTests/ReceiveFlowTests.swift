import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Flow control from the controller to the host")
struct ReceiveFlowTests {
    static let notification = [UInt8]([0x1B, 0x10, 0x00, 1])

    /// A host with room for eight packets, so that it returns two credits at a time.
    private func controller(_ answers: [HCIOpcode: ScriptedController.Answer] = [:]) -> ScriptedController {
        .ready(answers) { $0.receiveBufferCount = 8 }
    }

    private func receive(_ count: Int, _ controller: inout ScriptedController, _ handle: ConnectionHandle = 0x40) {
        for _ in 0..<count { controller.receiveFrame(Self.notification, on: 0x04, handle) }
    }

    /// How many credits each command has returned on each link since the last call.
    private func returned(_ controller: inout ScriptedController) -> [[UInt8]] {
        defer { controller.commands.removeAll() }
        return controller.commands.filter { $0.opcode == .hostNumberOfCompletedPackets }.map(\.parameters)
    }

    @Test("During startup, the host sends its buffer sizes to the controller and enables flow control")
    func bringUpSaysHowMuchTheHostHolds() {
        var controller = ScriptedController { $0.receiveBufferCount = 8 }
        controller.start()
        let commands = controller.commands.filter {
            [.hostBufferSize, .setControllerToHostFlowControl].contains($0.opcode)
        }
        #expect(
            commands == [
                .init(opcode: .hostBufferSize, parameters: bytes("0004 00 0800 0000")),
                .init(opcode: .setControllerToHostFlowControl, parameters: [1]),
            ])
        #expect(controller.host.controller?.controlsReceiving == true)
    }

    @Test(
        "Flow control stays off if the controller lacks or refuses a command, or the configuration disables it",
        arguments: [HCIOpcode.readLocalSupportedCommands, .hostBufferSize, .setControllerToHostFlowControl, nil])
    func off(_ refused: HCIOpcode?) throws {
        var controller = ScriptedController { $0.receiveBufferCount = refused == nil ? 0 : 8 }
        if let refused { controller.answers[refused] = .complete(.unknownCommand) }
        controller.start()
        #expect(controller.host.controller?.controlsReceiving == false)
        let sent = controller.takeOpcodes()
        #expect(sent.contains(.setControllerToHostFlowControl) == (refused == .setControllerToHostFlowControl))
        let link = try controller.connect()
        controller.host.holdReceiving(of: link)
        receive(20, &controller)
        controller.host.resumeReceiving(of: link)
        controller.settle()
        #expect(returned(&controller) == [])
        #expect(controller.seen.count == 20)
    }

    @Test("Flow control stays off for controllers that claim to support it but are known to stop working with it")
    func knownToEnd() {
        var controller = ScriptedController { $0.receiveBufferCount = 8 }
        // The versions of HCI and LMP, and the company, which is the one of RootCanal.
        controller.answers[.readLocalVersionInformation] = .complete(.success, bytes("09 0000 09 E000 0000"))
        controller.start()
        #expect(!controller.takeOpcodes().contains { [.hostBufferSize, .setControllerToHostFlowControl].contains($0) })
        #expect(controller.host.controller?.controlsReceiving == false)
    }

    @Test("A host with room for eight packets returns credits two at a time")
    func creditsAreReturnedSeveralAtATime() throws {
        var controller = controller()
        _ = try controller.connect()
        receive(1, &controller)
        #expect(returned(&controller) == [])
        receive(1, &controller)
        #expect(returned(&controller) == [bytes("01 4000 0200")])
        receive(6, &controller)
        #expect(returned(&controller) == [[UInt8]](repeating: bytes("01 4000 0200"), count: 3))
    }

    @Test("Each fragment of a frame uses one credit")
    func eachFragmentTakesACredit() throws {
        var controller = controller()
        _ = try controller.connect()
        let whole = frame(Self.notification)
        controller.receiveFragment(Array(whole[..<5]))
        controller.receiveFragment(Array(whole[5...]), 0x40, .continuing)
        #expect(returned(&controller) == [bytes("01 4000 0200")])
    }

    @Test("One command returns the credits of several links")
    func oneCommandServesSeveralLinks() throws {
        var controller = controller()
        _ = try controller.connect(0x40)
        _ = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        receive(1, &controller, 0x41)
        receive(1, &controller, 0x40)
        #expect(returned(&controller) == [bytes("02 4000 0100 4100 0100")])
    }

    @Test("A held link returns no credits until it is resumed, and then returns all of them once")
    func aLinkThatIsHeldKeepsItsCreditsUntilItIsResumed() throws {
        var controller = controller()
        let link = try controller.connect()
        controller.host.holdReceiving(of: link)
        receive(8, &controller)
        #expect(returned(&controller) == [], "the controller has no credit left, and waits")
        #expect(controller.seen.count == 8, "what has come is handled")
        controller.host.resumeReceiving(of: link)
        controller.settle()
        #expect(returned(&controller) == [bytes("01 4000 0800")])
        controller.host.resumeReceiving(of: link)
        controller.settle()
        #expect(returned(&controller) == [])
    }

    @Test("A held link returns the credits beyond its share when a second link connects")
    func aLinkThatIsHeldLeavesTheOthersTheirShare() throws {
        var controller = controller()
        let held = try controller.connect(0x40)
        controller.host.holdReceiving(of: held)
        receive(8, &controller)
        #expect(returned(&controller) == [])
        // A second link comes: the first one may hold four.
        _ = try controller.host.connect(
            to: PeerID(DeviceAddress(2, kind: .public)), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection(0x41, peer: DeviceAddress(2, kind: .public))
        #expect(returned(&controller) == [bytes("01 4000 0400")])
        receive(2, &controller)
        #expect(returned(&controller) == [bytes("01 4000 0200")], "what is more than its share goes back at once")
        receive(4, &controller, 0x41)
        #expect(returned(&controller) == [[UInt8]](repeating: bytes("01 4100 0200"), count: 2))
        controller.host.resumeReceiving(of: held)
        controller.settle()
        #expect(returned(&controller) == [bytes("01 4000 0400")])
    }

    @Test("Packets of an ended link count as completed, and are not returned to the controller")
    func endedLinks() throws {
        var controller = controller()
        let link = try controller.connect()
        controller.host.holdReceiving(of: link)
        receive(5, &controller)
        controller.reportDisconnection()
        receive(4, &controller)
        controller.host.resumeReceiving(of: link)
        controller.settle()
        #expect(returned(&controller) == [])
        _ = try controller.connect()
        receive(1, &controller)
        #expect(returned(&controller) == [])
        receive(1, &controller)
        #expect(returned(&controller) == [bytes("01 4000 0200")], "a new link owes nothing of the old one")
    }

    @Test("Credits are returned even while a command waits for the answer to another one")
    func creditsNeedNoCommandCredit() throws {
        var controller = controller([.readRSSI: .silence])
        let link = try controller.connect()
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.readRSSI], "the second one waits for the answer to the first")
        receive(2, &controller)
        #expect(returned(&controller) == [bytes("01 4000 0200")])
        controller.complete(.readRSSI, .success, [0x40, 0, 0xC4])
        #expect(controller.takeOpcodes() == [.readRSSI])
    }

    @Test("After a reset, flow control is enabled again, and a new link returns only its own credits")
    func nothingIsLeftOfItAfterAReset() throws {
        var controller = controller()
        let link = try controller.connect()
        controller.host.holdReceiving(of: link)
        receive(5, &controller)
        controller.receive([0x04, 0x10, 0x01, 0x01])
        #expect(controller.takeOpcodes().contains(.setControllerToHostFlowControl))
        _ = try controller.connect()
        receive(2, &controller)
        #expect(returned(&controller) == [bytes("01 4000 0200")])
    }
}
