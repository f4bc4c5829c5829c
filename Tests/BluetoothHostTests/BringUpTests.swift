import BluetoothBase
import BluetoothHCI
import BluetoothHost
import Testing

@Suite("Bringing up a controller")
struct BringUpTests {
    typealias Answers = [HCIOpcode: ScriptedController.Answer]

    @Test("An ordinary controller is brought up with a fixed sequence of commands")
    func anOrdinaryControllerIsAskedWhatItCanDo() {
        var controller = ScriptedController()
        controller.start()
        #expect(controller.takeEvents() == ["ready"])
        #expect(
            controller.takeOpcodes() == [
                .reset, .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
                .readBDADDR, .setEventMask, .leSetEventMask, .leReadLocalSupportedFeatures, .leReadBufferSizeV2,
                .hostBufferSize, .setControllerToHostFlowControl, .leReadFilterAcceptListSize,
            ])
        #expect(controller.host.controller?.address == DeviceAddress(0xA0_C0_00_00_00_01, kind: .public))
        #expect(controller.host.nextDeadline == nil)
    }

    /// What a controller lacks, and the buffers the host ends up with.
    static let lacking: [(String, Answers, length: Int, count: Int)] = [
        ("Read Local Supported Commands", [.readLocalSupportedCommands: .status(.unknownCommand)], 27, 4),
        ("LE Read Buffer Size [v2]", [.leReadBufferSizeV2: .status(.unknownCommand)], 27, 4),
        ("H6: a length in v2", [.leReadBufferSizeV2: .complete(.success, [0, 0, 4, 0, 0, 0])], 27, 4),
        ("H6: packets in v2", [.leReadBufferSizeV2: .complete(.success, [27, 0, 0, 0, 0, 0])], 27, 4),
        (
            "H6: buffers of LE's own",
            [
                .leReadBufferSizeV2: .status(.unknownCommand), .leReadBufferSize: .complete(.success, [0, 0, 0]),
            ], 1021, 5
        ),
        ("its version", [.readLocalVersionInformation: .complete(.unspecifiedError)], 27, 4),
        ("LMP features", [.readLocalSupportedFeatures: .status(.unknownCommand)], 27, 4),
        (
            "an event mask", [.setEventMask: .status(.unknownCommand), .leSetEventMask: .complete(.unknownCommand)], 27,
            4
        ),
        ("LE features", [.leReadLocalSupportedFeatures: .status(.unknownCommand)], 27, 4),
        ("a filter accept list", [.leReadFilterAcceptListSize: .status(.unknownCommand)], 27, 4),
        ("H7: the rest of its version", [.readLocalVersionInformation: .complete(.success, [9, 0])], 27, 4),
    ]

    @Test(
        "A controller that lacks optional commands or values becomes ready with the expected buffers",
        arguments: lacking)
    func aControllerMayLack(_ what: String, _ answers: Answers, _ length: Int, _ count: Int) {
        var controller = ScriptedController()
        controller.answers.merge(answers) { $1 }
        controller.start()
        #expect(controller.takeEvents() == ["ready"])
        #expect(controller.host.controller?.aclDataLength == length)
        #expect(controller.host.controller?.aclBufferCount == count)
    }

    static let hopeless: [(Answers, HostFailure)] = [
        ([.reset: .complete(.hardwareFailure)], .refused(.reset, .hardwareFailure)),
        ([.readLocalSupportedFeatures: .complete(.success, [0, 0, 0, 0, 0, 0, 0, 0])], .lowEnergyNotSupported),
        (
            [
                .leReadBufferSizeV2: .complete(.success, [0, 0, 0, 0, 0, 0]),
                .leReadBufferSize: .complete(.success, [0, 0, 0]),
                .readBufferSize: .complete(.success, [0, 0, 0, 0, 0, 0, 0]),
            ], .noDataBuffers
        ),
        (
            [
                .leReadBufferSizeV2: .status(.unknownCommand), .leReadBufferSize: .complete(.success, [27]),
            ], .refused(.leReadBufferSize, .unspecifiedError)
        ),
        (
            [
                .readBDADDR: .complete(.success, [0, 0, 0, 0, 0, 0]),
                .leSetRandomAddress: .complete(.invalidCommandParameters),
            ], .refused(.leSetRandomAddress, .invalidCommandParameters)
        ),
    ]

    @Test("Bringing up an unusable controller fails with the reason", arguments: hopeless)
    func aControllerIsGivenUp(_ answers: Answers, _ failure: HostFailure) {
        var controller = ScriptedController()
        controller.answers.merge(answers) { $1 }
        controller.start()
        #expect(controller.takeEvents() == ["failed: \(failure)"])
        #expect(controller.host.controller == nil)
        #expect(controller.host.nextDeadline == nil)
    }

    @Test("The host reports to a dual-mode controller that it supports LE")
    func aDualModeControllerIsToldThatItsHostKnowsLE() {
        var controller = ScriptedController()
        controller.answers[.readLocalSupportedFeatures] = .complete(.success, [0, 0, 0, 0, 0x40, 0, 0, 0])
        controller.start()
        #expect(controller.commands.contains(.init(opcode: .writeLEHostSupport, parameters: [1, 0])))
    }

    @Test("The host makes a controller that supports long packets use them")
    func aControllerWithLongPacketsIsToldToUseThem() {
        var controller = ScriptedController()
        controller.answers[.leReadLocalSupportedFeatures] = .complete(.success, [0x28, 0, 0, 0, 0, 0, 0, 0])
        controller.answers[.leReadMaximumDataLength] = .complete(.success, [251, 0, 0x48, 0x08, 251, 0, 0x48, 0x08])
        controller.start()
        #expect(
            controller.commands.contains(
                .init(opcode: .leWriteSuggestedDefaultDataLength, parameters: [251, 0, 0x48, 0x08])))
    }

    @Test("A controller that does not list LE Read Maximum Data Length is not asked for it")
    func maximumDataLengthNotListed() {
        var commands = [UInt8](repeating: 0xFF, count: 64)
        commands[35] &= ~0x08
        var controller = ScriptedController()
        controller.answers[.readLocalSupportedCommands] = .complete(.success, commands)
        controller.answers[.leReadLocalSupportedFeatures] = .complete(.success, [0x28, 0, 0, 0, 0, 0, 0, 0])
        controller.start()
        #expect(controller.takeEvents() == ["ready"])
        #expect(!controller.takeOpcodes().contains(.leReadMaximumDataLength))
    }

    @Test("A controller that does not list LE Write Suggested Default Data Length is not told to use long packets")
    func suggestedDataLengthNotListed() {
        var commands = [UInt8](repeating: 0xFF, count: 64)
        commands[34] &= ~0x01
        var controller = ScriptedController()
        controller.answers[.readLocalSupportedCommands] = .complete(.success, commands)
        controller.answers[.leReadLocalSupportedFeatures] = .complete(.success, [0x28, 0, 0, 0, 0, 0, 0, 0])
        controller.answers[.leReadMaximumDataLength] = .complete(.success, [251, 0, 0x48, 0x08, 251, 0, 0x48, 0x08])
        controller.start()
        #expect(controller.takeEvents() == ["ready"])
        let opcodes = controller.takeOpcodes()
        #expect(opcodes.contains(.leReadMaximumDataLength))
        #expect(!opcodes.contains(.leWriteSuggestedDefaultDataLength))
    }

    static let addresses: [(HostConfiguration.OwnAddress, publicAddress: [UInt8], DeviceAddress.Kind)] = [
        (.automatic, [1, 0, 0, 0, 0xC0, 0xA0], .public),
        (.automatic, [0, 0, 0, 0, 0, 0], .random),
        (.public, [1, 0, 0, 0, 0xC0, 0xA0], .public),
        (.staticRandom(DeviceAddress(0xC1_22_33_44_55_66, kind: .random)), [1, 0, 0, 0, 0xC0, 0xA0], .random),
    ]

    @Test(
        "The host uses the configured kind of address, or a static random one if no public address exists",
        arguments: addresses)
    func theHostChoosesItsAddress(
        _ choice: HostConfiguration.OwnAddress, _ publicAddress: [UInt8], _ kind: DeviceAddress.Kind
    ) throws {
        var controller = ScriptedController { $0.ownAddress = choice }
        controller.answers[.readBDADDR] = .complete(.success, publicAddress)
        controller.start()
        let address = try #require(controller.host.controller?.address)
        #expect(address.kind == kind)
        let set = controller.commands.last { $0.opcode == .leSetRandomAddress }
        if kind == .random {
            #expect(address.randomKind == .static)
            let octets = (0..<6).map { UInt8(truncatingIfNeeded: address.value >> (8 * UInt64($0))) }
            #expect(set?.parameters == octets)
        } else {
            #expect(set == nil)
        }
    }

    @Test("Connecting before the controller is ready throws notReady") func callsBeforeItIsUpAreRefused() {
        var controller = ScriptedController()
        #expect(throws: HostError.notReady) {
            _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: .zero)
        }
    }
}
