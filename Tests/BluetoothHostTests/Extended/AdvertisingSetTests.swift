import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

@Suite("Advertising sets")
struct AdvertisingSetTests {
    static let second = AdvertisingHandle(1)
    static let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }

    static func beacon(_ data: [UInt8] = [2, 1, 6]) -> AdvertisingParameters {
        AdvertisingParameters(
            isConnectable: false, interval: .milliseconds(100)...(.milliseconds(200)), data: data,
            extended: ExtendedAdvertising())
    }

    /// What is advertised, and the event properties, the own address, the PHYs and the SID in LE Set Extended
    /// Advertising Parameters.
    static let kinds: [(AdvertisingParameters, properties: UInt16)] = [
        (AdvertisingParameters(data: [2, 1, 6]), 0x13),
        (AdvertisingParameters(isConnectable: false, data: [2, 1, 6]), 0x10),
        (AdvertisingParameters(isConnectable: false, data: [2, 1, 6], scanResponse: [2, 10, 0]), 0x12),
        (AdvertisingParameters(data: [], peer: PeerID(ScriptedController.peer)), 0x15),
        (AdvertisingParameters(data: [2, 1, 6], extended: ExtendedAdvertising()), 0x01),
        (beacon(), 0x00),
        (AdvertisingParameters(isConnectable: false, data: [], scanResponse: [2, 10, 0], extended: .init()), 0x02),
        (AdvertisingParameters(data: [1, 2], peer: PeerID(ScriptedController.peer), extended: .init()), 0x05),
        (
            AdvertisingParameters(
                isConnectable: false, data: [], peer: PeerID(ScriptedController.peer), extended: .init()), 0x04
        ),
        (
            AdvertisingParameters(
                isConnectable: false, data: [],
                extended: ExtendedAdvertising(isAnonymous: true, includesTransmitPower: true)), 0x60
        ),
    ]

    @Test("Vol 4, Part E, 7.8.54: directed advertising in legacy PDUs has no data")
    func directedWithoutData() throws {
        var controller = ScriptedController.extended()
        try controller.host.startAdvertising(
            AdvertisingParameters(data: [2, 1, 6], peer: PeerID(ScriptedController.peer)), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingEnable])
    }

    @Test("Vol 4, Part E, 7.8.53: each kind of set has its event properties", arguments: kinds)
    func kind(_ parameters: AdvertisingParameters, _ properties: UInt16) throws {
        var controller = ScriptedController.extended()
        try controller.host.startAdvertising(parameters, at: controller.now)
        controller.settle()
        let command = controller.commands[0]
        #expect(command.opcode == .leSetExtendedAdvertisingParameters)
        #expect(Array(command.parameters[1..<3]) == [UInt8(properties), 0])
        #expect(controller.commands.last?.opcode == .leSetExtendedAdvertisingEnable)
        #expect(controller.takeEvents() == ["advertising"])
    }

    @Test("every octet of a set on LE Coded and LE 2M, with a duration, an event limit and a power") func octets()
        throws
    {
        var controller = ScriptedController.extended()
        var parameters = Self.beacon()
        parameters.extended = ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .le2M, sid: 9)
        parameters.duration = .seconds(2)
        parameters.maximumEvents = 50
        parameters.transmitPower = -8
        parameters.ownAddress = DeviceAddress(0x2A_BB_CC_DD_EE_FF, kind: .random)
        try controller.host.startAdvertising(parameters, as: Self.second, at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                "LE Set Extended Advertising Parameters: 010000a00000400100070100000000000000"
                    + "00f80300020900",
                "LE Set Advertising Set Random Address: 01ffeeddccbb2a",
                "LE Set Extended Advertising Data: 01030103020106",
                "LE Set Extended Advertising Enable: 010101c80032",
            ])
        #expect(controller.takeEvents() == ["advertising 1"])
        controller.host.stopAdvertising(Self.second, at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                "LE Set Extended Advertising Enable: 000101000000", "LE Remove Advertising Set: 01",
            ])
    }

    @Test("Vol 4, Part E, 7.8.54: long data is sent in fragments of 251 octets", arguments: [251, 252, 502, 503, 1650])
    func fragments(_ length: Int) throws {
        var controller = ScriptedController.extended()
        let data = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        try controller.host.startAdvertising(Self.beacon(data), at: controller.now)
        controller.settle()
        let sent = controller.commands.filter { $0.opcode == .leSetExtendedAdvertisingData }.map(\.parameters)
        #expect(sent.flatMap { $0.dropFirst(4) } == data)
        #expect(sent.allSatisfy { Int($0[3]) == $0.count - 4 && $0[0] == 0 && $0[2] == 1 })
        let operations = sent.map { $0[1] }
        #expect(
            operations == (length <= 251 ? [3] : [1] + Array(repeating: 0, count: (length - 1) / 251 - 1) + [2]))
        #expect(controller.takeEvents() == ["advertising"])
    }

    @Test("Several sets advertise at once up to a limit, and removing one makes room for another")
    func severalSetsAtOnce() throws {
        var controller = ScriptedController.extended(sets: 3)
        for number in 0..<3 {
            try controller.host.startAdvertising(
                Self.beacon(), as: AdvertisingHandle(UInt8(number)), at: controller.now)
        }
        controller.settle()
        #expect(controller.takeEvents() == ["advertising", "advertising 1", "advertising 2"])
        #expect(throws: HostError.busy) {
            try controller.host.startAdvertising(Self.beacon(), as: AdvertisingHandle(3), at: controller.now)
        }
        controller.commands.removeAll()
        // Its place is free once the set has been removed.
        controller.host.stopAdvertising(AdvertisingHandle(1), at: controller.now)
        try controller.host.startAdvertising(Self.beacon(), as: AdvertisingHandle(3), at: controller.now)
        controller.settle()
        #expect(
            controller.takeOpcodes() == [
                .leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet, .leSetExtendedAdvertisingParameters,
                .leSetExtendedAdvertisingData, .leSetExtendedAdvertisingEnable,
            ])
        #expect(controller.takeEvents() == ["advertising 3"])
        #expect(!controller.host.isAdvertisingWanted(Self.second))
    }

    @Test("the host uses at most 16 sets, whatever the controller reports") func bounded() throws {
        var controller = ScriptedController.extended(sets: 240)
        for number in 0..<16 as Range<UInt8> {
            try controller.host.startAdvertising(Self.beacon(), as: AdvertisingHandle(number), at: controller.now)
        }
        #expect(throws: HostError.busy) {
            try controller.host.startAdvertising(Self.beacon(), as: AdvertisingHandle(16), at: controller.now)
        }
    }

    static let unsupported: [AdvertisingParameters] = {
        var powerful = AdvertisingParameters(data: [])
        powerful.transmitPower = 4
        var counted = AdvertisingParameters(data: [])
        counted.maximumEvents = 3
        return [beacon(), powerful, counted]
    }()

    @Test(
        "without extended commands, the host rejects sets that need them, and sends nothing for them",
        arguments: unsupported)
    func isUnsupported(_ parameters: AdvertisingParameters) throws {
        var controller = ScriptedController.ready()
        #expect(throws: HostError.unsupported(.extendedAdvertising)) {
            try controller.host.startAdvertising(parameters, at: controller.now)
        }
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        #expect(throws: HostError.unsupported(.extendedAdvertising), "a second set") {
            try controller.host.startAdvertising(
                AdvertisingParameters(data: []), as: Self.second, at: controller.now)
        }
        controller.settle()
        #expect(controller.takeOpcodes() == AdvertisingTests.starting)
    }

    @Test("missing support for a set is reported once the controller is up") func toldLater() throws {
        var controller = ScriptedController()
        try controller.host.startAdvertising(Self.beacon(), at: controller.now)
        try controller.host.startAdvertising(AdvertisingParameters(data: []), as: Self.second, at: controller.now)
        controller.start()
        let events = controller.takeEvents()
        #expect(events.contains("advertising failed: \(HostError.unsupported(.extendedAdvertising))"))
        #expect(events.contains("advertising 1 failed: \(HostError.unsupported(.extendedAdvertising))"))
    }

    @Test("Vol 4, Part E, 7.8.57: data longer than the controller's limit is rejected") func tooLong() throws {
        var controller = ScriptedController.extended(length: 500)
        #expect(throws: HostError.advertisingDataTooLong(limit: 500)) {
            try controller.host.startAdvertising(Self.beacon(Self.long), at: controller.now)
        }
    }

    static let invalid: [AdvertisingParameters] = {
        func with(
            _ extended: ExtendedAdvertising, isConnectable: Bool = false, data: [UInt8] = [], response: [UInt8] = []
        )
            -> AdvertisingParameters
        {
            AdvertisingParameters(
                isConnectable: isConnectable, data: data, scanResponse: response, extended: extended)
        }
        var owned = AdvertisingParameters(data: [])
        owned.ownAddress = DeviceAddress(1, kind: .random)
        return [
            with(.init(primaryPHY: .le2M)), with(.init(sid: 16)), with(.init(), data: [1], response: [2]),
            with(.init(), isConnectable: true, response: [2]), with(.init(isAnonymous: true), isConnectable: true),
            with(.init(isAnonymous: true), response: [2]), with(.init(), data: [UInt8](repeating: 0, count: 1651)),
            owned,
        ]
    }()

    @Test("Invalid parameters of a set throw invalidParameters", arguments: invalid)
    func isInvalid(_ parameters: AdvertisingParameters) {
        var controller = ScriptedController.extended()
        #expect(throws: HostError.invalidParameters) {
            try controller.host.startAdvertising(parameters, at: controller.now)
        }
    }

    @Test(
        "Vol 4, Part E, 7.7.65.18: a set that the controller has ended is reported once and removed",
        arguments: [("time", UInt8(0x3C)), ("events", 0x43)])
    func terminated(_ what: String, _ status: UInt8) throws {
        var controller = ScriptedController.extended()
        try controller.host.startAdvertising(Self.beacon(), as: Self.second, at: controller.now)
        controller.settle()
        _ = controller.takeEvents()
        controller.commands.removeAll()
        controller.receive([0x04, 0x3E, 0x06, 0x12, status, 0x01, 0x00, 0x00, 0x05])
        #expect(controller.takeEvents() == ["advertising 1 ended"])
        #expect(controller.takeOpcodes() == [.leRemoveAdvertisingSet])
        // It is told once, and an unknown set does no harm.
        controller.receive([0x04, 0x3E, 0x06, 0x12, status, 0x01, 0x00, 0x00, 0x05])
        controller.receive([0x04, 0x3E, 0x06, 0x12, status, 0x77, 0x00, 0x00, 0x05])
        #expect(controller.takeEvents() == [])
        #expect(controller.takeOpcodes() == [])
    }

    @Test("the duration of a set ends it even if the controller does not report that") func time() throws {
        var controller = ScriptedController.extended()
        var parameters = Self.beacon()
        parameters.duration = .milliseconds(25)
        try controller.host.startAdvertising(parameters, at: controller.now)
        controller.settle()
        #expect(controller.commands.last?.parameters == [1, 1, 0, 3, 0, 0], "30 ms, the next 10 ms")
        _ = controller.takeEvents()
        controller.commands.removeAll()
        controller.run(for: .milliseconds(25))
        #expect(controller.takeEvents() == ["advertising ended"])
        #expect(controller.takeOpcodes() == [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet])
    }

    @Test("a connection ends one set; if it may have been either of two, both are started again", arguments: [1, 2])
    func connected(_ count: UInt8) throws {
        var controller = ScriptedController.extended()
        for number in 0..<count {
            try controller.host.startAdvertising(
                AdvertisingParameters(data: []), as: AdvertisingHandle(number), at: controller.now)
        }
        try controller.host.startAdvertising(Self.beacon(), as: AdvertisingHandle(9), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.reportConnection(0x41, role: .peripheral)
        controller.receive([0x04, 0x3E, 0x06, 0x12, 0x00, 0x00, 0x41, 0x00, 0x00])
        let commands = controller.commands.filter {
            [.leSetExtendedAdvertisingEnable, .leRemoveAdvertisingSet].contains($0.opcode)
        }
        let enabled = commands.filter { $0.opcode == .leSetExtendedAdvertisingEnable && $0.parameters[0] == 1 }
        #expect(enabled.map { $0.parameters[2] } == Array(0..<count), "not the one nobody can connect to")
        #expect(commands.count == (count == 1 ? 2 : 6))
    }

    @Test("after a reset all sets advertise again") func reset() throws {
        var controller = ScriptedController.extended()
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        try controller.host.startAdvertising(Self.beacon(Self.long), as: Self.second, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.receive([0x04, 0x10, 0x01, 0x42])
        let enabled = controller.commands.filter { $0.opcode == .leSetExtendedAdvertisingEnable }
        #expect(enabled.map { $0.parameters[2] } == [0, 1])
        #expect(!controller.takeOpcodes().contains(.leRemoveAdvertisingSet))
    }

    @Test("the failure of one set is reported, and does not affect the others") func refused() throws {
        var controller = ScriptedController.extended()
        try controller.host.startAdvertising(Self.beacon(), at: controller.now)
        controller.settle()
        controller.answers[.leSetExtendedAdvertisingData] = .complete(.memoryCapacityExceeded)
        try controller.host.startAdvertising(Self.beacon(), as: Self.second, at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == [
                "advertising", "advertising 1 failed: \(HostError.controller(.memoryCapacityExceeded))",
            ])
        #expect(controller.commands.last == .init(opcode: .leRemoveAdvertisingSet, parameters: [1]))
        #expect(controller.host.isAdvertisingWanted())
    }

    @Test("a set uses the configured static random address") func randomAddress() throws {
        let address = DeviceAddress(0xC0_01_02_03_04_05, kind: .random)
        var controller = ScriptedController.extended { $0.ownAddress = .staticRandom(address) }
        try controller.host.startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: controller.now)
        controller.settle()
        #expect(controller.takeCommands()[1] == "LE Set Advertising Set Random Address: 000504030201c0")
    }
}
