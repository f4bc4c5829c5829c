import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Periodic advertising")
struct PeriodicAdvertisingTests {
    static let set = AdvertisingHandle(1)
    static let subevents = PeriodicSubevents(
        count: 2, interval: .milliseconds(25), responseSlotDelay: .milliseconds(10),
        responseSlotSpacing: .milliseconds(1), responseSlotCount: 4)

    static func parameters(
        _ data: [UInt8] = [2, 1, 6], responses: PeriodicSubevents? = nil
    ) -> AdvertisingParameters {
        var parameters = AdvertisingSetTests.beacon([])
        parameters.extended = ExtendedAdvertising(secondaryPHY: .le2M, sid: 5)
        parameters.periodic = PeriodicAdvertising(
            interval: .milliseconds(100)...(.milliseconds(100)), data: responses == nil ? data : [],
            responses: responses)
        return parameters
    }

    static let setUp = "LE Set Extended Advertising Parameters: 010000a00000400100070000000000000000007f0100020500"
    static let kinds: [(PeriodicSubevents?, [String])] = [
        (
            nil,
            [
                "LE Set Periodic Advertising Parameters: 01500050000000",
                "LE Set Periodic Advertising Data: 010303020106",
            ]
        ), (subevents, ["LE Set Periodic Advertising Parameters [v2]: 015000500000000214080804"]),
    ]

    @Test("GAP/PADV/PASM: periodic advertising starts and ends with its set", arguments: kinds)
    func synchronizable(_ responses: PeriodicSubevents?, _ commands: [String]) throws {
        var controller = ScriptedController.periodic()
        try controller.host.startAdvertising(Self.parameters(responses: responses), as: Self.set, at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands()
                == [Self.setUp] + commands + [
                    "LE Set Periodic Advertising Enable: 0101", "LE Set Extended Advertising Enable: 010101000000",
                ])
        #expect(controller.takeEvents() == ["advertising 1"])
        controller.host.stopAdvertising(Self.set, at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                "LE Set Extended Advertising Enable: 000101000000", "LE Set Periodic Advertising Enable: 0001",
                "LE Remove Advertising Set: 01",
            ])
    }

    @Test("GAP/PADV/PAM/BV-01: new data is set without a break, in one command") func data() throws {
        var controller = ScriptedController.periodic()
        try controller.host.startAdvertising(Self.parameters(), as: Self.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        try controller.host.startAdvertising(Self.parameters([3, 255, 1, 2]), as: Self.set, at: controller.now)
        controller.settle()
        #expect(controller.takeCommands() == ["LE Set Periodic Advertising Data: 010304" + "03ff0102"])
        #expect(controller.takeEvents() == ["advertising 1", "advertising 1"])
        // What needs several commands begins anew.
        try controller.host.startAdvertising(
            Self.parameters([UInt8](repeating: 7, count: 253)), as: Self.set, at: controller.now)
        controller.settle()
        let fragments = controller.commands.filter { $0.opcode == .leSetPeriodicAdvertisingData }.map(\.parameters)
        #expect(fragments.map { Array($0.prefix(3)) } == [[1, 1, 252], [1, 2, 1]])
        #expect(controller.commands.first?.opcode == .leSetExtendedAdvertisingEnable)
    }

    @Test("if the controller refuses the data, the failure is reported and the set ends") func refusedData() throws {
        var controller = ScriptedController.periodic()
        try controller.host.startAdvertising(Self.parameters(), as: Self.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        _ = controller.takeEvents()
        controller.answers[.leSetPeriodicAdvertisingData] = .complete(.packetTooLong)
        try controller.host.startAdvertising(Self.parameters([1, 1]), as: Self.set, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["advertising 1 failed: \(HostError.controller(.packetTooLong))"])
        #expect(
            controller.takeOpcodes() == [
                .leSetPeriodicAdvertisingData, .leSetExtendedAdvertisingEnable, .leSetPeriodicAdvertisingEnable,
                .leRemoveAdvertisingSet,
            ])
    }

    @Test("GAP/PADV/PAM/BV-02: the controller's requests for subevent data are reported, and so are the responses")
    func subeventData() throws {
        var controller = ScriptedController.periodic()
        try controller.host.startAdvertising(
            Self.parameters(responses: Self.subevents), as: Self.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        _ = controller.takeEvents()
        controller.receive([0x04, 0x3E, 0x04, 0x27, 0x01, 0x00, 0x02])
        #expect(controller.takeEvents() == ["subevents 1 0 2"])
        let long = [UInt8](repeating: 9, count: 251)
        try controller.host.setSubeventData(
            [
                PeriodicSubeventData(subevent: 0, data: [1, 2, 3], responseSlots: 0..<4),
                PeriodicSubeventData(subevent: 1, data: long, responseSlots: 2..<4),
            ], of: Self.set, at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                "LE Set Periodic Advertising Subevent Data: 0101" + "00000403010203",
                "LE Set Periodic Advertising Subevent Data: 0101" + "010202fb" + String(repeating: "09", count: 251),
            ])
        // Two responses, the second in two events, and what two devices have sent in one slot.
        let slots: [UInt8] = [0x7F, 0xC4, 0xFF, 0, 0, 2, 8, 9] + [0x7F, 0xC4, 0xFF, 1, 1, 1, 5]
        controller.receive([0x04, 0x3E, UInt8(5 + slots.count), 0x28, 0x01, 0x00, 0x00, 0x02] + slots)
        let rest: [UInt8] = [0x7F, 0xC4, 0xFF, 1, 0, 2, 6, 7] + [0x7F, 0x7F, 0xFF, 3, 0xFF, 0]
        controller.receive([0x04, 0x3E, UInt8(5 + rest.count), 0x28, 0x01, 0x00, 0x00, 0x02] + rest)
        #expect(controller.seen.map(\.bytes) == [[8, 9], [5, 6, 7], []])
        #expect(controller.takeEvents() == ["response 1 0 0 2", "response 1 0 1 3", "response 1 0 3 lost"])
        // Nothing of these is put before the next one.
        controller.receive([0x04, 0x3E, 14, 0x28, 0x01, 0x00, 0x00, 0x01] + [0x7F, 0xC4, 0xFF, 2, 0, 3, 4, 5, 6])
        #expect(controller.seen.map(\.bytes) == [[4, 5, 6]])
        #expect(controller.takeEvents() == ["response 1 0 2 3"])
    }

    @Test("the data of several subevents uses as few commands as possible, and an empty list uses none")
    func subeventDataJoined() throws {
        var controller = ScriptedController.periodic()
        var subevents = Self.subevents
        subevents.count = 4
        try controller.host.startAdvertising(Self.parameters(responses: subevents), as: Self.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        let lengths = [240, 20, 20, 251]
        try controller.host.setSubeventData(
            lengths.indices.map {
                let data = [UInt8](repeating: UInt8($0), count: lengths[$0])
                return PeriodicSubeventData(subevent: $0, data: data, responseSlots: 0..<1)
            }, of: Self.set, at: controller.now)
        controller.settle()
        // The set, how many subevents, and which is the first.
        #expect(controller.commands.map { $0.parameters.prefix(3) } == [[1, 1, 0], [1, 2, 1], [1, 1, 3]])
        #expect(controller.takeOpcodes().allSatisfy { $0 == .leSetPeriodicAdvertisingSubeventData })
        try controller.host.setSubeventData([], of: Self.set, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [])
    }

    @Test("unknown subevents, slots and sets, and data that is too long, are rejected")
    func wrongSubevents() throws {
        var controller = ScriptedController.periodic()
        try controller.host.startAdvertising(
            Self.parameters(responses: Self.subevents), as: Self.set, at: controller.now)
        for (set, subevent, slots, length) in [
            (1, 2, 0..<1, 1), (1, 0, 3..<5, 1), (1, 0, 0..<1, 252), (2, 0, 0..<1, 1),
        ] {
            #expect(throws: HostError.invalidParameters) {
                try controller.host.setSubeventData(
                    [
                        PeriodicSubeventData(
                            subevent: subevent, data: [UInt8](repeating: 0, count: length), responseSlots: slots)
                    ], of: AdvertisingHandle(UInt8(set)), at: controller.now)
            }
        }
    }

    /// The features of a controller, what it is to advertise, and why it does not.
    static let obstacles: [([UInt8], AdvertisingParameters, HostError)] = [
        ([0x08, 0x19, 0, 0, 0, 0, 0, 0], parameters(), .unsupported(.periodicAdvertising)),
        ([0x08, 0x39, 0, 0, 0, 0, 0, 0], parameters(responses: subevents), .unsupported(.periodicResponses)),
        (
            [0x08, 0x39, 0, 0, 0, 0, 0, 0], parameters([UInt8](repeating: 0, count: 501)),
            .advertisingDataTooLong(limit: 500)
        ),
    ]

    @Test(
        "periodic advertising that the controller does not support is rejected, and nothing is sent",
        arguments: obstacles)
    func obstacle(_ features: [UInt8], _ parameters: AdvertisingParameters, _ error: HostError) throws {
        var controller = ScriptedController.extended(length: 500, features: features)
        #expect(throws: error) { try controller.host.startAdvertising(parameters, at: controller.now) }
        var legacy = ScriptedController.ready()
        #expect(throws: HostError.unsupported(.extendedAdvertising)) {
            try legacy.host.startAdvertising(parameters, at: legacy.now)
        }
        controller.settle()
        #expect(controller.takeOpcodes() == [])
    }

    static let invalid: [AdvertisingParameters] = {
        func with(_ change: (inout AdvertisingParameters) -> Void) -> AdvertisingParameters {
            var parameters = parameters()
            change(&parameters)
            return parameters
        }
        return [
            with { $0.isConnectable = true }, with { $0.extended = nil }, with { $0.scanResponse = [1] },
            with { $0.extended?.isAnonymous = true },
            with { $0.periodic?.interval = .milliseconds(7)...(.milliseconds(100)) },
            with { $0.periodic?.interval = .milliseconds(100)...(.seconds(82)) },
            with { $0.periodic?.data = [UInt8](repeating: 0, count: 1651) },
            with { $0.periodic?.responses = subevents },
            with {
                $0.periodic?.data = []
                $0.periodic?.responses = subevents
                $0.periodic?.responses?.interval = .milliseconds(51)
            },
            with {
                $0.periodic?.data = []
                $0.periodic?.responses = subevents
                $0.periodic?.responses?.responseSlotCount = 16
            },
            with {
                $0.periodic?.data = []
                $0.periodic?.responses = subevents
                $0.periodic?.responses?.responseSlotDelay = .zero
            },
        ]
    }()

    @Test("Vol 4, Part E, 7.8.61: invalid parameters are rejected", arguments: invalid)
    func isInvalid(_ parameters: AdvertisingParameters) {
        var controller = ScriptedController.periodic()
        #expect(throws: HostError.invalidParameters) {
            try controller.host.startAdvertising(parameters, at: controller.now)
        }
    }

    @Test("periodic advertising is set up again after a reset, and disabled when its set ends") func reset() throws {
        var controller = ScriptedController.periodic()
        try controller.host.startAdvertising(Self.parameters(), as: Self.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.receive([0x04, 0x10, 0x01, 0x42])
        #expect(
            controller.takePeriodicCommands() == [
                "LE Set Periodic Advertising Parameters: 01500050000000",
                "LE Set Periodic Advertising Data: 010303020106", "LE Set Periodic Advertising Enable: 0101",
            ])
        controller.receive([0x04, 0x3E, 0x06, 0x12, 0x43, 0x01, 0x00, 0x00, 0x05])
        #expect(
            controller.takeCommands() == ["LE Set Periodic Advertising Enable: 0001", "LE Remove Advertising Set: 01"])
    }
}
