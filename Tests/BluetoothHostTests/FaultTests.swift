import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Faults and their scope")
struct FaultTests {
    @Test("Each fault has the expected scope")
    func scopes() {
        let scopes = Dictionary(grouping: HostFault.allCases, by: { "\($0.scope)" }).mapValues { $0.map { "\($0)" } }
        #expect(
            scopes == [
                "controllerReset": ["packetMalformed"],
                "dropped": [
                    "eventInvalid", "dataUnassigned", "dataFlagsInvalid",
                    "frameInterrupted", "fragmentInvalid", "fragmentEmpty", "channelUnknown", "frameUnwanted",
                    "attributePDUMalformed", "attributePDUTooLong", "attributePDUIgnored", "signatureInvalid",
                    "encryptionUnexpected", "bondClaimed", "valueUnprotected",
                ],
                "answered": ["signallingRejected", "pairingRefused", "bondUnproven"],
                "channelClosed": ["enhancedBearerExpired", "channelViolated"],
                "linkEnded": [
                    "connectionUnexpected", "identityAddressUsed", "linkShortLived", "bearerExpired",
                    "sendQueueOverflow",
                ],
            ])
    }

    /// What a peer or a controller sends, and what that counts as.
    static let faults: [(HostFault, [UInt8])] = [
        (.dataUnassigned, bytes("02 4120 0500 0100 0400 1E")),
        (.dataFlagsInvalid, bytes("02 4060 0500 0100 0400 1E")),
        (.fragmentInvalid, bytes("02 4010 0100 AA")),
        (.fragmentEmpty, bytes("02 4020 0000")),
        (.channelUnknown, bytes("02 4020 0500 0100 7000 AA")),
        (.attributePDUTooLong, bytes("02 4020 1C00 1800 0400 1B 0300") + [UInt8](repeating: 0x2A, count: 21)),
        (.encryptionUnexpected, bytes("04 08 04 00 4000 01")),
        (.packetMalformed, bytes("07 00")),
        (.packetMalformed, bytes("04 05 04 00")),
        (.packetMalformed, bytes("01 03 0C 00")),
        (.eventInvalid, bytes("04 05 01 00")),
        (.pairingRefused, bytes("02 4020 0B00 0700 0600 01 03 00 01 10 00 00")),
        (.signallingRejected, bytes("02 4020 0800 0400 0500 50 01 0000")),
        (.attributePDUMalformed, bytes("02 4020 0600 0200 0400 52 03")),
        (.attributePDUIgnored, bytes("02 4020 0500 0100 0400 1E")),
    ]

    @Test(
        "A fault is counted, and its scope determines whether the host resets the controller or sends an answer",
        arguments: faults)
    func whatIsWrongIsCounted(_ fault: HostFault, _ packet: [UInt8]) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(packet)
        #expect(controller.host.faults[fault] == 1)
        #expect(controller.host.faults.dropped == (fault.scope == .dropped ? 1 : 0))
        let wasReset = controller.takeOpcodes().first == .reset
        #expect(wasReset == (fault.scope == .controllerReset))
        #expect(controller.data.isEmpty == (fault.scope != .answered))
    }

    @Test func `a frame that is incomplete when the next one begins is counted, and the next one is received`() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        _ = controller.takeEvents()
        controller.receive(bytes("02 4020 0500 0500 0400 1B"))
        controller.receive(bytes("02 4020 0800 0400 0400 1B 0300 2A"))
        #expect(controller.host.faults[.frameInterrupted] == 1)
        #expect(controller.takeEvents() == ["lost: frameInterrupted", "notification 3"])
    }

    @Test func `a frame for a link that is about to end is counted and ignored`() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        _ = controller.takeEvents()
        controller.completesPackets = false
        try controller.host.disconnect(link, at: controller.now)
        controller.receive(bytes("02 4020 0800 0400 0400 1B 0300 2A"))
        #expect(controller.host.faults.dropped == 0)
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        controller.receive(bytes("02 4020 0800 0400 0400 1B 0300 2A"))
        #expect(controller.host.faults[.dataUnassigned] == 1)
    }

    @Test("An answer from the application that overflows the send queue ends the link at once")
    func overflowByAnAnswer() throws {
        var controller = ScriptedController.ready { $0.sendQueueLimit = 1 }
        controller.completesPackets = false
        let definition = GATTServiceDefinition(
            uuid: HostWorld.service,
            characteristics: [
                GATTCharacteristicDefinition(uuid: HostWorld.characteristic, properties: [.read], value: .dynamic)
            ])
        let value = try controller.host.addService(definition, at: controller.now).characteristics[0].value
        let link = try controller.accept(0x40)
        controller.receiveFrame([0x0A, UInt8(value.rawValue & 0xFF), UInt8(value.rawValue >> 8)])
        guard case .server(link, .readRequested(let request, value, _)) = controller.seen.first?.event else {
            Issue.record("no request")
            return
        }
        // Each indication is confirmed, and the controller sends none of that.
        while controller.host.queuedFrameCount(of: link) < 33 { controller.receiveFrame(bytes("1D 1000 01")) }
        controller.seen.removeAll()
        #expect(controller.takeOpcodes().filter { $0 == .disconnect } == [])
        try controller.host.answer(request, value: [1].span)
        controller.run(for: .zero)
        #expect(controller.takeOpcodes().filter { $0 == .disconnect } == [.disconnect])
        #expect(controller.host.faults[.sendQueueOverflow] == 1)
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        #expect(controller.takeEvents() == ["disconnected link 0.1: 7"])
        #expect(controller.host.queuedFrameCount(of: link) == 0)
    }

    @Test("A request to the controller about a link ends before the link, and its late answer is ignored")
    func requestsEndWithTheirLink() throws {
        var controller = ScriptedController.ready([.readRSSI: .silence])
        let link = try controller.connect()
        _ = try controller.host.readRSSI(of: link, at: controller.now)
        controller.settle()
        controller.reportDisconnection()
        #expect(
            controller.takeEvents() == ["request failed: \(HostError.noSuchLink)", "disconnected \(link): 8"])
        controller.complete(.readRSSI, .unknownConnectionIdentifier, [0x40, 0, 0x7F])
        #expect(controller.takeEvents() == [])
    }
}
