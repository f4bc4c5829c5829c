import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Controllers that fail")
struct ControllerFailureTests {
    @Test("The host fails after three resets if the controller never answers")
    func aControllerThatNeverAnswersIsGivenUp() {
        var controller = ScriptedController()
        controller.answers[.reset] = .silence
        controller.start()
        controller.run(for: .seconds(60))
        #expect(
            controller.takeEvents() == [
                "resetting: no answer to \(HCIOpcode.reset)", "resetting: no answer to \(HCIOpcode.reset)",
                "failed: \(HostFailure.controllerNotResponding(.reset))",
            ])
        #expect(controller.takeOpcodes() == [.reset, .reset, .reset])
        #expect(controller.host.nextDeadline == nil)
    }

    @Test("A controller that has failed can be started again") func aControllerThatWasGivenUpGetsAnotherChance() {
        var controller = ScriptedController()
        controller.answers[.reset] = .silence
        controller.start()
        controller.run(for: .seconds(60))
        controller.seen.removeAll()
        controller.answers[.reset] = nil
        controller.start()
        #expect(controller.takeEvents() == ["ready"])
    }

    @Test("H7: an unanswered command fails its request and resets the controller")
    func commandTimesOut() throws {
        var controller = ScriptedController.ready([.readRSSI: .silence])
        let link = try controller.connect()
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.run(for: .seconds(3))
        #expect(
            controller.takeEvents() == [
                "request failed: timed out", "resetting: no answer to \(HCIOpcode.readRSSI)",
                "disconnected link 0.1: 3", "ready",
            ])
    }

    @Test("H7: a Command Complete for another opcode, a second one, and a late one are ignored")
    func strayAnswers() throws {
        var controller = ScriptedController.ready([.readRSSI: .silence])
        let link = try controller.connect()
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        controller.complete(.leRand)
        #expect(controller.takeEvents() == [])
        controller.complete(.readRSSI, .success, [0x40, 0, 0xD8])
        controller.complete(.readRSSI, .success, [0x40, 0, 0xD8])
        #expect(controller.takeEvents() == ["rssi -40"])
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.run(for: .seconds(3))
        controller.seen.removeAll()
        controller.complete(.readRSSI, .success, [0x40, 0, 0xD8])
        #expect(controller.takeEvents() == [])
    }

    @Test("H7: an answer that is too short fails the request")
    func shortAnswer() throws {
        var controller = ScriptedController.ready([.readRSSI: .complete(.success, [0x40])])
        let link = try controller.connect()
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["request failed: \(HostError.controller(.unspecifiedError))"])
    }

    @Test("H7: a controller that stops accepting commands is reset")
    func noCredits() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receive(CommandStatus(status: .success, numHCICommandPackets: 0, opcode: .none))
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [])
        controller.run(for: .seconds(3))
        #expect(controller.takeOpcodes().first == .reset)
        #expect(controller.takeEvents().first == "request failed: timed out")
    }

    @Test("After a hardware error, the host resets the controller and resumes scanning, advertising and connecting")
    func aHardwareErrorStartsOverWithTheController() throws {
        var controller = ScriptedController.ready()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        _ = try controller.connect()
        try controller.host.startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: controller.now)
        let away = DeviceAddress(0xBB, kind: .public)
        _ = try controller.host.connect(to: PeerID(away), timeout: nil, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.commands.removeAll()
        controller.receive(HardwareError(hardwareCode: 5))
        #expect(
            controller.takeEvents() == [
                "resetting: hardware error 5", "disconnected link 0.1: 3", "ready",
            ])
        let commands = controller.takeOpcodes()
        #expect(commands.first == .reset)
        #expect(commands.contains(.leSetScanEnable))
        #expect(commands.contains(.leSetAdvertisingEnable))
        #expect(commands.contains(.leCreateConnection))
    }

    @Test("An attempt whose link has not been reported continues after a reset")
    func anAttemptWhosePeerWasNotHeardYetGoesOnAfterAReset() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection()
        controller.commands.removeAll()
        controller.receive(HardwareError(hardwareCode: 5))
        #expect(controller.takeEvents() == ["resetting: hardware error 5", "ready"])
        #expect(controller.takeOpcodes().contains(.leCreateConnection))
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.takeEvents().first == "connected link 0.2")
    }

    @Test("The host fails after five resets if hardware errors keep arriving")
    func aStormOfHardwareErrorsEndsInFailure() {
        var controller = ScriptedController.ready()
        var resets = 0
        for code in 1...100 {
            controller.receive(HardwareError(hardwareCode: UInt8(code)))
            resets += controller.takeOpcodes().count { $0 == .reset }
            controller.run(for: .milliseconds(100))
        }
        #expect(resets == 5)
        #expect(controller.takeEvents().last == "failed: \(HostFailure.hardwareError(6))")
    }

    @Test("Hardware errors 11 seconds apart each reset the controller, and the host does not fail")
    func hardwareErrorsNowAndThenAreForgiven() {
        var controller = ScriptedController.ready()
        for _ in 1...50 {
            controller.run(for: .seconds(11))
            controller.receive(HardwareError(hardwareCode: 1))
            #expect(controller.takeEvents() == ["resetting: hardware error 1", "ready"])
        }
    }

    @Test("Hardware errors reported during a reset do not cause another one")
    func hardwareErrorsReportedTogetherAreOneFailure() {
        var controller = ScriptedController.ready()
        controller.answers[.reset] = .silence
        for _ in 1...50 { controller.receive(HardwareError(hardwareCode: 1)) }
        #expect(controller.takeOpcodes() == [.reset])
        controller.complete(.reset)
        #expect(controller.takeEvents() == ["resetting: hardware error 1", "ready"])
    }

    @Test("A connection in an unknown role is ended, unless it has the handle of a link")
    func unknownRole() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.reportConnection(0x40, role: ConnectionRole(rawValue: 2))
        #expect(controller.takeOpcodes() == [])
        controller.reportConnection(0x41, role: ConnectionRole(rawValue: 2))
        #expect(controller.commands.map(\.opcode) == [.disconnect])
        #expect(controller.commands.first?.parameters.first == 0x41)
        #expect(controller.takeEvents() == [] && controller.host.connectedLinks == [link])
    }

    @Test("Connections reported during a reset are ignored, and the attempt continues")
    func connectionsFromBeforeTheResetAreIgnored() throws {
        var controller = ScriptedController.ready()
        controller.answers[.reset] = .silence
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.receive(HardwareError(hardwareCode: 1))
        controller.reportConnection()
        controller.reportFeatures()
        controller.complete(.reset)
        #expect(controller.takeEvents() == ["resetting: hardware error 1", "ready"])
        controller.reportConnection()
        controller.reportFeatures()
        #expect(controller.takeEvents().first == "connected link 0.1")
    }

    @Test(
        "H1: bytes that are not an HCI packet reset the controller",
        arguments: [[], [0x07], [0x01, 0x03, 0x0C, 0x00]] as [[UInt8]])
    func notAPacket(_ packet: [UInt8]) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(packet)
        #expect(controller.takeEvents() == ["resetting: malformed packet", "disconnected link 0.1: 3", "ready"])
        #expect(controller.takeOpcodes().first == .reset)
    }

    @Test("H1: the host fails after repeated malformed packets, and then stays silent")
    func stormOfNonsense() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        for _ in 1...100 { controller.receive([0x09]) }
        let events = controller.takeEvents()
        #expect(events.count { $0 == "resetting: malformed packet" } == 5)
        #expect(events.last == "failed: \(HostFailure.malformedPacket)")
        controller.commands.removeAll()
        controller.receive(HardwareError(hardwareCode: 1))
        controller.reportConnection()
        #expect(controller.takeOpcodes() == [])
        #expect(controller.host.nextDeadline == nil)
    }

    @Test("Malformed packets received during a reset are ignored")
    func nonsenseDuringReset() {
        var controller = ScriptedController.ready()
        controller.answers[.reset] = .silence
        for _ in 1...50 { controller.receive([0x09]) }
        #expect(controller.takeOpcodes() == [.reset])
        controller.complete(.reset)
        #expect(controller.takeEvents() == ["resetting: malformed packet", "ready"])
    }

    @Test(
        "H1: an event whose length field is wrong resets the controller",
        arguments: [[0x04], [0x04, 0x05], [0x04, 0x05, 0x04, 0, 0x40, 0], [0x04, 0x05, 0x04, 0, 0x40, 0, 0x13, 0]]
            as [[UInt8]])
    func unframedEvent(_ packet: [UInt8]) throws {
        var controller = ScriptedController.ready()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        try controller.host.startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: controller.now)
        _ = try controller.connect()
        controller.receive(packet)
        #expect(controller.takeEvents() == ["resetting: malformed packet", "disconnected link 0.1: 3", "ready"])
        let commands = controller.takeOpcodes()
        #expect(commands.contains(.leSetScanEnable) && commands.contains(.leSetAdvertisingEnable))
    }

    @Test(
        "Well-formed events without valid content are ignored",
        arguments: ["0405 01 00", "0413 01 FF", "04FF 00", "043E 01 01"])
    func senselessEvent(_ packet: String) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(bytes(packet))
        #expect(controller.takeEvents() == [])
        #expect(controller.takeOpcodes() == [])
    }

    @Test("When the host fails, pending requests, links and connection attempts end")
    func failureEndsWhatIsPending() throws {
        var controller = ScriptedController.ready([.readRSSI: .silence])
        let link = try controller.connect()
        _ = try controller.host.connect(to: PeerID(DeviceAddress(5, kind: .public)), timeout: nil, at: controller.now)
        _ = try controller.host.connect(
            to: PeerID(DeviceAddress(6, kind: .public)), timeout: .seconds(5), at: controller.now)
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.answers[.reset] = .complete(.memoryCapacityExceeded)
        controller.receive([0x09])
        let (reset, notReady) = (HostError.controllerReset, HostError.notReady)
        #expect(
            controller.takeEvents() == [
                "resetting: malformed packet", "request failed: \(reset)", "disconnected link 0.1: 3",
                "connection failed: \(notReady)", "connection failed: \(notReady)",
                "failed: \(HostFailure.refused(.reset, .memoryCapacityExceeded))",
            ])
        #expect(controller.host.nextDeadline == nil)
    }
}
