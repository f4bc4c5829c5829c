import BluetoothBase
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

@Suite("ACL packets from the controller")
struct ReassemblyTests {
    static let notification = frame([0x1B, 0x10, 0x00, 1, 2, 3, 4, 5, 6, 7, 8])

    @Test("L2: a frame may be cut anywhere, in its header too", arguments: 1..<notification.count)
    func aFrameInPieces(_ first: Int) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFragment(Array(Self.notification[..<first]))
        #expect(controller.takeEvents() == [])
        for byte in Self.notification[first...] { controller.receiveFragment([byte], 0x40, .continuing) }
        #expect(controller.seen.first?.bytes == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(controller.takeEvents() == ["notification 16"])
    }

    /// Packets that come to nothing, on handle 0x0040 where no other is named.
    static let ignored: [(String, [UInt8])] = [
        ("H8: an unknown handle", bytes("02 4120 0700 0300 0400 1B1000")),
        ("H8: a reserved handle", bytes("02 FF2F 0700 0300 0400 1B1000")),
        ("H8: a continuation without start", bytes("02 4010 0700 0300 0400 1B1000")),
        ("H8: a length that is not that of the packet", bytes("02 4020 0800 0300 0400 1B1000")),
        ("H8: nothing at all", bytes("02 4020 0000")),
        ("H8: half a header", bytes("02 4020")),
        ("L1: more than the frame's length", bytes("02 4020 0700 0100 0400 0A0300")),
        ("L1: less than the frame's length", bytes("02 4020 0500 2000 0400 0A")),
        ("L3: 65535 octets announced", bytes("02 4020 0700 FFFF 0400 0A0300")),
        ("L4: an empty ATT PDU", bytes("02 4020 0400 0000 0400")),
        ("L4: an empty command", bytes("02 4020 0400 0000 0500")),
        ("L4: an empty SMP PDU", bytes("02 4020 0400 0000 0600")),
        ("L5: an unassigned channel", bytes("02 4020 0700 0300 3F00 0A0300")),
        ("L5: a reserved channel", bytes("02 4020 0700 0300 2000 0A0300")),
        ("L5: a dynamic channel nobody opened", bytes("02 4020 0700 0300 4100 0A0300")),
        ("channel 0", bytes("02 4020 0700 0300 0000 0A0300")),
        ("synchronous data", bytes("03 4000 01 00")),
        ("isochronous data", bytes("05 4000 0100 00")),
    ]

    @Test(arguments: ignored)
    func aPacketThatMeansNothingIsIgnored(_ what: String, _ packet: [UInt8]) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(packet)
        #expect(controller.takeEvents() == [])
        #expect(controller.takeData() == [])
        controller.receiveFragment(Self.notification)
        #expect(controller.takeEvents() == ["notification 16"], "the link goes on")
    }

    @Test("H8: a start while a frame is partial")
    func startWhilePartial() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFragment(Array(Self.notification[..<6]))
        controller.receiveFragment(Self.notification)
        controller.receiveFragment(Array(Self.notification[6...]), 0x40, .continuing)
        #expect(controller.takeEvents() == ["notification 16"])
    }

    @Test("H9: ACL data after the end of the link, and before its beginning")
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
        let error = HostError.controller(.remoteUserTerminatedConnection)
        #expect(controller.takeEvents() == ["connection failed: \(error)"])
    }

    @Test(
        "S16: pairing is refused",
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

    @Test("S4: no key is given to a controller that asks for one")
    func keyRequest() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x40, randomNumber: 0, encryptedDiversifier: 0))
        #expect(controller.commands == [.init(opcode: .leLongTermKeyRequestNegativeReply, parameters: [0x40, 0])])
    }
}
