import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("ACL packets from the controller")
struct ReassemblyTests {
    static let notification = frame([0x1B, 0x10, 0x00, 1, 2, 3, 4, 5, 6, 7, 8])

    @Test("L2: a frame may be split anywhere, even in its header", arguments: 1..<notification.count)
    func aFrameInPieces(_ first: Int) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFragment(Array(Self.notification[..<first]))
        #expect(controller.takeEvents() == [])
        for byte in Self.notification[first...] { controller.receiveFragment([byte], 0x40, .continuing) }
        #expect(controller.seen.first?.bytes == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(controller.takeEvents() == ["notification 16"])
    }

    /// Packets that are dropped, on handle 0x0040 where no other is named: what is reported at once, and what it counts
    /// as.
    static let ignored: [(String, [UInt8], String?, HostFault?)] = [
        ("H8: an unknown handle", bytes("02 4120 0700 0300 0400 1B1000"), nil, .dataUnassigned),
        ("H8: a reserved handle", bytes("02 FF2F 0700 0300 0400 1B1000"), nil, .dataUnassigned),
        (
            "H8: a continuation without start", bytes("02 4010 0700 0300 0400 1B1000"), "lost: fragmentInvalid",
            .fragmentInvalid
        ),
        (
            "H8: a length that is not that of the packet", bytes("02 4020 0800 0300 0400 1B1000"),
            "lost: fragmentInvalid", .fragmentInvalid
        ),
        ("H8: one of an unknown handle", bytes("02 4120 0800 0300 0400 1B1000"), nil, .dataUnassigned),
        (
            "an active broadcast", bytes("02 4060 0B00 0700 0400 1B10000102 0304"), "lost: fragmentInvalid",
            .dataFlagsInvalid
        ),
        ("a reserved broadcast", bytes("02 40A0 0700 0300 0400 1B1000"), "lost: fragmentInvalid", .dataFlagsInvalid),
        ("both broadcast flags", bytes("02 40E0 0700 0300 0400 1B1000"), "lost: fragmentInvalid", .dataFlagsInvalid),
        ("a whole frame of AMP", bytes("02 4030 0700 0300 0400 1B1000"), "lost: fragmentInvalid", .dataFlagsInvalid),
        ("a broadcast of an unknown handle", bytes("02 4160 0700 0300 0400 1B1000"), nil, .dataUnassigned),
        ("H8: nothing at all", bytes("02 4020 0000"), nil, .fragmentEmpty),
        ("H8: half a header", bytes("02 4020"), "lost: fragmentInvalid", .fragmentInvalid),
        ("H8: half a handle", bytes("02 40"), nil, .dataUnassigned),
        (
            "L1: more than the frame's length", bytes("02 4020 0700 0100 0400 0A0300"), "lost: fragmentInvalid",
            .fragmentInvalid
        ),
        (
            "L3: 65535 octets announced", bytes("02 4020 0700 FFFF 0400 520300"), "lost: fragmentInvalid",
            .fragmentInvalid
        ),
        ("L4: an empty ATT PDU", bytes("02 4020 0400 0000 0400"), nil, nil),
        ("L4: an empty command", bytes("02 4020 0400 0000 0500"), nil, nil),
        ("L4: an empty SMP PDU", bytes("02 4020 0400 0000 0600"), nil, nil),
        ("L5: an unassigned channel", bytes("02 4020 0700 0300 3F00 0A0300"), nil, .channelUnknown),
        ("L5: a reserved channel", bytes("02 4020 0700 0300 2000 0A0300"), nil, .channelUnknown),
        ("L5: a dynamic channel that is not open", bytes("02 4020 0700 0300 4100 0A0300"), nil, .channelUnknown),
        ("channel 0", bytes("02 4020 0700 0300 0000 0A0300"), nil, .channelUnknown),
        ("synchronous data", bytes("03 4000 01 00"), nil, nil),
        ("isochronous data", bytes("05 4000 0100 00"), nil, nil),
    ]

    @Test(
        "A packet that is invalid or has no recipient is dropped, and the link still receives data",
        arguments: ignored)
    func aPacketThatMeansNothingIsDropped(
        _ what: String, _ packet: [UInt8], _ loss: String?, _ fault: HostFault?
    ) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(packet)
        #expect(controller.takeEvents() == [loss].compactMap { $0 })
        #expect(controller.takeData() == [])
        if let fault { #expect(controller.host.faults[fault] == 1) }
        #expect(controller.host.faults.dropped == (fault == nil ? 0 : 1))
        controller.receiveFragment(Self.notification)
        #expect(controller.takeEvents() == ["notification 16"], "the link goes on")
    }

    @Test("H8: the start of a frame discards a partial frame")
    func startWhilePartial() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFragment(Array(Self.notification[..<6]))
        controller.receiveFragment(Self.notification)
        controller.receiveFragment(Array(Self.notification[6...]), 0x40, .continuing)
        #expect(controller.takeEvents() == ["lost: frameInterrupted", "notification 16", "lost: fragmentInvalid"])
        #expect(controller.host.faults[.frameInterrupted] == 1 && controller.host.faults[.fragmentInvalid] == 1)
    }

    @Test("L1: a frame that is cut short is discarded when the next one starts")
    func tooShort() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(bytes("02 4020 0500 2000 0400 0A"))
        #expect(controller.takeEvents() == [], "the rest may still come")
        controller.receiveFragment(Self.notification)
        #expect(controller.takeEvents() == ["lost: frameInterrupted", "notification 16"])
    }

    @Test(
        "A packet that is not valid data of the link discards its partial frame",
        arguments: ["02 4050 0100 00", "02 4030 0100 00", "02 4010 0200 00"])
    func notEvenAFragment(_ packet: String) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFragment(Array(Self.notification[..<8]))
        controller.receive(bytes(packet))
        controller.receiveFragment(Array(Self.notification[8...]), 0x40, .continuing)
        let events = controller.takeEvents()
        #expect(events.filter { $0 == "lost: fragmentInvalid" }.count == 2, "\(events)")
        #expect(!events.contains("notification 16"))
        controller.receiveFragment(Self.notification)
        #expect(controller.takeEvents() == ["notification 16"])
    }

    @Test("A loss is reported in order among the events of its link, and does not affect other links")
    func lossInOrder() throws {
        var controller = ScriptedController.ready()
        let first = try controller.connect(0x40)
        _ = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        controller.receiveFragment(Self.notification)
        controller.receiveFragment(Array(Self.notification[..<8]))
        controller.receiveFragment(Self.notification, 0x41)
        controller.receiveFragment(Self.notification + [0], 0x40, .continuing)
        controller.receiveFragment(Self.notification)
        let events = controller.seen.filter {
            switch $0.event {
            case .link(first, _), .client(first, _): true
            default: false
            }
        }
        #expect(events.map(\.event.brief) == ["notification 16", "lost: fragmentInvalid", "notification 16"])
        #expect(controller.seen.count == 4)
    }

    @Test("A loss on a link that has not been reported is counted, but not reported")
    func lossBeforeTheLink() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection()
        controller.receiveFragment([1, 0, 4, 0, 0], 0x40, .continuing)
        #expect(controller.takeEvents() == [])
        #expect(controller.host.faults[.fragmentInvalid] == 1)
    }

    @Test("H9: ACL data before the beginning and after the end of a link is ignored")
    func dataOutsideOfTheLink() throws {
        var controller = ScriptedController.ready()
        _ = try controller.host.connect(to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.receiveFragment(Self.notification)
        controller.reportConnection()
        controller.receiveFragment(Array(Self.notification[..<6]))
        #expect(controller.takeEvents() == [])
        controller.reportDisconnection(0x40, .remoteUserTerminatedConnection)
        controller.receiveFragment(Array(Self.notification[6...]), 0x40, .continuing)
        controller.receiveFragment(Self.notification)
        let error = HostError.disconnected(.byPeer)
        #expect(controller.takeEvents() == ["connection failed: \(error)"])
    }

    @Test(
        "S16: a host without security refuses pairing",
        arguments: [
            (bytes("01 03 00 01 10 00 00"), [bytes("4000 0600 0200 0600 0505")]),
            (bytes("0B 01"), [bytes("4000 0600 0200 0600 0505")]),
            (bytes("05 05"), []),
            (bytes("FF"), []),
        ])
    func pairing(_ pdu: [UInt8], _ answer: [[UInt8]]) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFrame(pdu, on: 0x06)
        #expect(controller.takeData() == answer)
    }

    @Test("S4: a host without security gives the controller no key")
    func keyRequest() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x40, randomNumber: 0, encryptedDiversifier: 0))
        #expect(controller.commands == [.init(opcode: .leLongTermKeyRequestNegativeReply, parameters: [0x40, 0])])
    }
}
