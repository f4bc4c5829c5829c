import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing

@Suite("Advertising")
struct AdvertisingTests {
    static let card = AdvertisingParameters(data: [2, 1, 6])
    static let starting: [HCIOpcode] = [
        .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
    ]

    static let kinds: [(AdvertisingParameters, UInt8)] = [
        (AdvertisingParameters(data: [2, 1, 6]), 0),
        (AdvertisingParameters(isConnectable: false, data: [2, 1, 6], scanResponse: [2, 0x0A, 0]), 2),
        (AdvertisingParameters(isConnectable: false, data: [2, 1, 6]), 3),
    ]

    @Test("Each kind of advertising starts with its type, and can be stopped", arguments: kinds)
    func advertisingStarts(_ parameters: AdvertisingParameters, _ type: UInt8) throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(parameters, at: controller.now)
        controller.settle()
        #expect(controller.commands[0].parameters[4] == type)
        #expect(controller.commands[1].parameters.starts(with: [3, 2, 1, 6]))
        #expect(controller.takeOpcodes() == Self.starting)
        #expect(controller.takeEvents() == ["advertising"])
        controller.host.stopAdvertising(at: controller.now)
        controller.settle()
        #expect(controller.commands == [.init(opcode: .leSetAdvertisingEnable, parameters: [0])])
    }

    @Test(
        "before 5.0, non-connectable advertising intervals are at least 100 ms (Core 4.2, Vol 2, Part E, 7.8.5)",
        arguments: [
            (UInt8(8), false, [0xA0, 0x00, 0xA0, 0x00] as [UInt8]), (9, false, [0x30, 0x00, 0x60, 0x00]),
            (6, true, [0x30, 0x00, 0x60, 0x00]),
        ])
    func interval(version: UInt8, isConnectable: Bool, octets: [UInt8]) throws {
        let information = [version, 0, 0, version, 0, 0, 0, 0]
        var controller = ScriptedController.ready([.readLocalVersionInformation: .complete(.success, information)])
        try controller.host.startAdvertising(
            AdvertisingParameters(isConnectable: isConnectable, data: [2, 1, 6]), at: controller.now)
        controller.settle()
        #expect(Array(controller.commands[0].parameters.prefix(4)) == octets)
    }

    @Test("Starting again replaces the advertising data") func whatIsAdvertisedCanBeReplaced() throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        try controller.host.startAdvertising(AdvertisingParameters(data: [2, 1, 4]), at: controller.now)
        controller.settle()
        #expect(controller.commands[2].parameters.starts(with: [3, 2, 1, 4]))
        #expect(controller.takeOpcodes() == [.leSetAdvertisingEnable] + Self.starting)
        #expect(controller.takeEvents() == ["advertising", "advertising"])
    }

    @Test(
        "Advertising that is stopped before it starts stays off, unless it is started again", arguments: [true, false])
    func stoppingBeforeItHasStarted(_ startsAgain: Bool) throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.host.stopAdvertising(at: controller.now)
        if startsAgain { try controller.host.startAdvertising(Self.card, at: controller.now) }
        controller.settle()
        let last = controller.commands.last { $0.opcode == .leSetAdvertisingEnable }
        #expect(last?.parameters == [startsAgain ? 1 : 0])
        #expect(controller.takeEvents() == (startsAgain ? ["advertising"] : []))
    }

    @Test(
        "A refused command is reported with the controller's status, and advertising can be started again",
        arguments: starting)
    func aRefusalIsTold(_ opcode: HCIOpcode) throws {
        var controller = ScriptedController.ready([opcode: .complete(.invalidCommandParameters)])
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == ["advertising failed: \(HostError.controller(.invalidCommandParameters))"])
        controller.answers[opcode] = nil
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["advertising"])
    }

    @Test(
        "H7: if the answer to the start of a set has no status, the host stops the set and reports a failure",
        arguments: [true, false])
    func cutAnswer(isExtended: Bool) throws {
        let enable: HCIOpcode = isExtended ? .leSetExtendedAdvertisingEnable : .leSetAdvertisingEnable
        var controller = isExtended ? ScriptedController.extended([enable: .cut]) : .ready([enable: .cut])
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["advertising failed: \(HostError.controller(.unspecifiedError))"])
        let stop: [HCIOpcode] = isExtended ? [enable, enable, .leRemoveAdvertisingSet] : [enable, enable]
        #expect(controller.commands.map(\.opcode).suffix(stop.count) == stop[...])
        #expect(controller.commands.filter { $0.opcode == enable }.map(\.parameters.first) == [1, 0])
        controller.answers[enable] = nil
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["advertising"])
    }

    @Test(
        "Intervals outside the specification and data longer than 31 octets are rejected",
        arguments: [
            AdvertisingParameters(interval: .milliseconds(10)...(.milliseconds(20)), data: []),
            AdvertisingParameters(interval: .milliseconds(20)...(.seconds(11)), data: []),
            AdvertisingParameters(data: [UInt8](repeating: 0, count: 32)),
            AdvertisingParameters(data: [], scanResponse: [UInt8](repeating: 0, count: 32)),
        ])
    func parametersOutsideTheSpecificationAreRefused(_ parameters: AdvertisingParameters) {
        var controller = ScriptedController.ready()
        #expect(throws: HostError.invalidParameters) {
            try controller.host.startAdvertising(parameters, at: controller.now)
        }
    }

    @Test("Advertising continues after a peer connects") func itGoesOnAfterAPeerHasConnected() throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.reportConnection(role: .peripheral)
        #expect(controller.takeOpcodes().filter { Self.starting.contains($0) } == Self.starting)
    }

    @Test(
        "If the controller cannot advertise while connected, advertising resumes after the disconnection",
        arguments: [HCIStatus.commandDisallowed, .connectionLimitExceeded, .rejectedLimitedResources])
    func aControllerThatCannotAdvertiseWhileConnectedDoesSoAfterwards(_ status: HCIStatus) throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        controller.answers[.leSetAdvertisingEnable] = .complete(status)
        controller.reportConnection(role: .peripheral)
        controller.reportFeatures()
        #expect(controller.takeEvents() == ["advertising", "connected link 0.1"])
        controller.commands.removeAll()
        controller.run(for: .seconds(120))
        #expect(controller.takeOpcodes() == [], "it does not ask again and again")
        controller.answers[.leSetAdvertisingEnable] = nil
        controller.reportDisconnection()
        #expect(controller.takeOpcodes() == Self.starting)
    }

    @Test("Advertising pauses while the host has no room for another link")
    func itRestsWhileThereIsNoRoomForAnotherLink() throws {
        var controller = ScriptedController.ready([:]) { $0.maximumLinks = 1 }
        _ = try controller.accept(0x40)
        controller.run(for: .seconds(10))
        #expect(controller.takeOpcodes() == [])
        controller.reportDisconnection()
        #expect(controller.takeOpcodes() == Self.starting)
    }

    @Test("A connection reported before advertising is confirmed is accepted, and advertising restarts")
    func aConnectionReportedBeforeAdvertisingIsConfirmed() throws {
        var controller = ScriptedController.ready([.leSetAdvertisingEnable: .silence])
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        controller.reportConnection(role: .peripheral)
        controller.answers[.leSetAdvertisingEnable] = nil
        controller.commands.removeAll()
        controller.complete(.leSetAdvertisingEnable)
        #expect(controller.takeOpcodes().suffix(5) == [.leSetAdvertisingEnable] + Self.starting)
        controller.reportFeatures()
        #expect(controller.takeEvents().contains("connected link 0.1"))
    }

    @Test(
        "A failed connection as a peripheral does not end a connection attempt, and advertising restarts",
        arguments: [HCIStatus.connectionFailedToBeEstablished, .advertisingTimeout])
    func aFailedConnectionOfAPeripheralConcernsNoAttempt(_ status: HCIStatus) throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.card, at: controller.now)
        _ = try controller.host.connect(to: PeerID(DeviceAddress(9, kind: .public)), timeout: nil, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.commands.removeAll()
        controller.reportConnection(0, role: .peripheral, status: status)
        #expect(controller.takeEvents() == [])
        #expect(controller.takeOpcodes() == [.leSetAdvertisingEnable] + Self.starting)
    }

    @Test("A peripheral link that fails before a packet arrives is never reported")
    func aPeripheralLinkThatWasNeverHeardIsNeverShown() throws {
        var controller = ScriptedController.ready()
        try controller.host.startAdvertising(Self.card, at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        controller.reportConnection(role: .peripheral)
        controller.reportDisconnection(0x40, .connectionFailedToBeEstablished)
        controller.run(for: .seconds(10))
        #expect(controller.takeEvents() == [])
        #expect(controller.host.connectedLinks == [])
    }
}
