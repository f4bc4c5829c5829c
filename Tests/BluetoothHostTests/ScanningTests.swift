import BluetoothBase
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Scanning")
struct ScanningTests {
    typealias Command = ScriptedController.Command
    static let enable = Command(opcode: .leSetScanEnable, parameters: [1, 0])
    static let disable = Command(opcode: .leSetScanEnable, parameters: [0, 0])

    /// The advertisement of `ScriptedController.peer`, with flags.
    static let report = bytes("043E 0F 02 01 00 00 0100 00EEFFC0 03 020106 D8")

    @Test("A scan starts with the requested parameters, and reports advertisements", arguments: [true, false])
    func scanningStarts(_ isActive: Bool) throws {
        var controller = ScriptedController.ready()
        let parameters = ScanParameters(
            isActive: isActive, interval: .milliseconds(100), window: .milliseconds(50), reportsDuplicates: false)
        try controller.host.startScanning(parameters, at: controller.now)
        controller.settle()
        #expect(
            controller.commands == [
                Command(opcode: .leSetScanParameters, parameters: [isActive ? 1 : 0, 0xA0, 0, 0x50, 0, 0, 0]),
                Command(opcode: .leSetScanEnable, parameters: [1, 1]),
            ])
        controller.receive(Self.report)
        #expect(controller.seen.first?.bytes == [2, 1, 6])
        #expect(controller.takeEvents() == ["advertisement -40"])
    }

    /// Event types, and which advertisements come of them. The event is one that some controllers send unasked.
    @Test(
        "A legacy scan also accepts extended advertising reports, except those with more data to come",
        arguments: [
            ("0100", ["advertisement -40"]),  // connectable
            ("1300", ["advertisement -40"]),  // ADV_IND
            ("0800", ["advertisement -40"]),  // a scan response
            ("2100", []),  // a fragment
            ("4100", ["advertisement -40"]),  // cut off
        ])
    func extendedReportsAreHeard(_ eventType: String, _ events: [String]) throws {
        var controller = ScriptedController.ready()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        let fields = "01 0100 00EEFFC0 01 00 FF 7F D8 0000 00 000000000000 03 020106"
        controller.receive(bytes("043E 1D 0D 01 \(eventType) \(fields)"))
        #expect(controller.takeEvents() == events)
    }

    @Test("New parameters restart a scan, and unchanged parameters send no commands")
    func newParametersStopAndStart() throws {
        var controller = ScriptedController.ready()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        try controller.host.startScanning(ScanParameters(isActive: false), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leSetScanEnable, .leSetScanParameters, .leSetScanEnable])
        try controller.host.startScanning(ScanParameters(isActive: false), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [], "nothing new is wanted")
    }

    /// Calls made before the first command is answered, and whether the controller scans in the end.
    @Test(
        "If several calls precede the controller's first answer, the last one takes effect",
        arguments: [
            ("stop", false), ("stop start", true), ("stop start stop", false), ("passive", true),
            ("passive stop", false),
        ])
    func callsFasterThanTheController(_ calls: String, _ isScanning: Bool) throws {
        var controller = ScriptedController.ready()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        for call in calls.split(separator: " ") {
            switch call {
            case "stop": controller.host.stopScanning(at: controller.now)
            case "start": try controller.host.startScanning(ScanParameters(), at: controller.now)
            default: try controller.host.startScanning(ScanParameters(isActive: false), at: controller.now)
            }
        }
        controller.settle()
        let last = controller.commands.last { $0.opcode == .leSetScanEnable }
        #expect(last == (isScanning ? Self.enable : Self.disable))
        let type = controller.commands.last { $0.opcode == .leSetScanParameters }?.parameters[0]
        #expect(type == (calls == "passive" ? 0 : 1))
        controller.receive(Self.report)
        #expect(controller.takeEvents() == (isScanning ? ["advertisement -40"] : []))
    }

    @Test(
        "A refused scan is reported with the controller's status, and can be started again",
        arguments: [HCIOpcode.leSetScanParameters, .leSetScanEnable])
    func aRefusalIsTold(_ opcode: HCIOpcode) throws {
        var controller = ScriptedController.ready([opcode: .complete(.invalidCommandParameters)])
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == ["scanning failed: \(HostError.controller(.invalidCommandParameters))"])
        controller.answers[opcode] = nil
        controller.commands.removeAll()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leSetScanParameters, .leSetScanEnable])
    }

    @Test(
        "H7: if the answer to the start of a scan has no status, the host stops the scan and reports a failure",
        arguments: [true, false])
    func cutAnswer(isExtended: Bool) throws {
        let enable: HCIOpcode = isExtended ? .leSetExtendedScanEnable : .leSetScanEnable
        let configure: HCIOpcode = isExtended ? .leSetExtendedScanParameters : .leSetScanParameters
        var controller = isExtended ? ScriptedController.extended([enable: .cut]) : .ready([enable: .cut])
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["scanning failed: \(HostError.controller(.unspecifiedError))"])
        #expect(controller.commands.map(\.opcode) == [configure, enable, enable])
        #expect(controller.commands.map(\.parameters.first).dropFirst() == [1, 0])
        controller.commands.removeAll()
        controller.receive(Self.report)
        #expect(controller.takeEvents() == [])
        controller.answers[enable] = nil
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [configure, enable])
        controller.receive(Self.report)
        #expect(controller.takeEvents() == ["advertisement -40"])
    }

    @Test("H7: if the answer to the start of the host's own search has no status, the host stops and retries it")
    func cutAnswerToSearch() throws {
        var controller = SecurityTests.bonded()
        controller.answers[.leSetScanEnable] = .cut
        let identity = DeviceAddress(0xC0_00_00_00_00_01, kind: .random)
        controller.host.restore(
            Bond(
                peer: PeerID(identity), address: identity,
                identity: DeviceIdentity(address: identity, resolvingKey: 1), strength: SecurityTests.strength),
            at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        _ = try controller.host.connect(to: PeerID(identity), timeout: nil, at: controller.now)
        controller.settle()
        // The first retry is immediate.
        let attempt: [HCIOpcode] = [.leSetScanParameters, .leSetScanEnable, .leSetScanEnable]
        #expect(controller.takeOpcodes() == attempt + attempt)
        controller.answers[.leSetScanEnable] = nil
        controller.run(for: .milliseconds(100))
        #expect(controller.takeOpcodes() == [.leSetScanParameters, .leSetScanEnable])
        #expect(controller.takeEvents() == [])
    }

    @Test("If the controller refuses parameters that were replaced meanwhile, the host reports no failure")
    func theRefusalOfParametersReplacedMeanwhileIsNoFailure() throws {
        var controller = ScriptedController.ready([.leSetScanParameters: .silence])
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        try controller.host.startScanning(ScanParameters(isActive: false), at: controller.now)
        controller.answers[.leSetScanParameters] = nil
        controller.complete(.leSetScanParameters, .invalidCommandParameters)
        #expect(controller.takeEvents() == [])
        #expect(controller.takeOpcodes() == [.leSetScanParameters, .leSetScanParameters, .leSetScanEnable])
    }

    @Test(
        "Scan parameters that the specification does not allow are rejected",
        arguments: [
            ScanParameters(interval: .milliseconds(2), window: .milliseconds(2)),
            ScanParameters(interval: .seconds(11), window: .seconds(1)),
            ScanParameters(interval: .milliseconds(10), window: .milliseconds(20)),
        ])
    func parametersOutsideTheSpecificationAreRefused(_ parameters: ScanParameters) {
        var controller = ScriptedController.ready()
        #expect(throws: HostError.invalidParameters) {
            try controller.host.startScanning(parameters, at: controller.now)
        }
    }

    @Test(
        "H3: the rest of a malformed advertising report is dropped",
        arguments: [
            (bytes("043E 0F 02 19 00 00 0100 00EEFFC0 03 020106 D8"), 1),
            (bytes("043E 0E 02 01 00 00 0100 00EEFFC0 03 020106"), 0),
            (bytes("043E 0F 02 01 00 00 0100 00EEFFC0 FF 020106 D8"), 0),
            (bytes("043E 02 02 00"), 0),
            (bytes("043E 01 02"), 0),
        ])
    func brokenReports(_ packet: [UInt8], _ count: Int) throws {
        var controller = ScriptedController.ready()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.receive(packet)
        #expect(controller.takeEvents().count == count)
        controller.receive(Self.report)
        #expect(controller.takeEvents() == ["advertisement -40"])
    }

    @Test("A scan left running by an earlier program is stopped, and the new one starts at once")
    func leftRunning() throws {
        var controller = ScriptedController.ready()
        controller.firstAnswers[.leSetScanParameters] = .complete(.commandDisallowed)
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(
            controller.takeOpcodes() == [
                .leSetScanParameters, .leSetScanEnable, .leSetScanParameters, .leSetScanEnable,
            ])
        #expect(controller.takeEvents() == [])
    }

    @Test("A controller that refuses to scan even after a stop is not asked again")
    func refusedForGood() throws {
        var controller = ScriptedController.ready([.leSetScanParameters: .complete(.commandDisallowed)])
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leSetScanParameters, .leSetScanEnable, .leSetScanParameters])
        #expect(controller.takeEvents() == ["scanning failed: \(HostError.controller(.commandDisallowed))"])
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leSetScanParameters])
    }

    @Test("If the controller cannot scan while it initiates, the scan starts after the connection attempt ends")
    func aControllerThatCannotScanWhileItInitiatesScansAfterwards() throws {
        var controller = ScriptedController.ready()
        let attempt = try controller.host.connect(
            to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.answers[.leSetScanEnable] = .complete(.commandDisallowed)
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == [])
        controller.answers[.leSetScanEnable] = nil
        controller.commands.removeAll()
        controller.host.cancelConnecting(attempt, at: controller.now)
        controller.settle()
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        #expect(controller.takeOpcodes() == [.leCreateConnectionCancel, .leSetScanParameters, .leSetScanEnable])
    }

    @Test("If the controller cannot initiate while it scans, the scan pauses until the peer is connected")
    func aControllerThatCannotInitiateWhileItScansRestsFromScanning() throws {
        var controller = ScriptedController.ready([.leCreateConnection: .status(.commandDisallowed)])
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.answers[.leSetScanEnable] = .silence
        controller.settle()
        #expect(controller.takeOpcodes() == [.leCreateConnection, .leSetScanEnable])
        controller.answers[.leCreateConnection] = .status(.success)
        controller.answers[.leSetScanEnable] = nil
        controller.complete(.leSetScanEnable)
        #expect(controller.takeOpcodes() == [.leCreateConnection])
        controller.reportConnection()
        #expect(controller.takeOpcodes().contains(.leSetScanEnable), "it goes on when the connection is made")
    }
}
