import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

/// What goes over enhanced ATT bearers.
@Suite("PDUs on enhanced ATT bearers")
struct EnhancedBearerDataTests {
    var scene = EnhancedBearerScene()

    // MARK: - Requests of the peer

    @Test("EATT: a request is answered on its own bearer")
    mutating func answered() throws {
        try scene.connect()
        scene.open(2)
        #expect(scene.receive("0300 0A 0F00", on: 0x41) == [bytes("5100 0200 0B 01")])
        #expect(scene.receive("0300 0A 0F00", on: 0x40) == [bytes("5000 0200 0B 01")])
        #expect(scene.receive("0A 0F00") == [bytes("0400 0B 01")])
    }

    @Test("EATT: a request that waits for the application holds up only its own bearer")
    mutating func waits() throws {
        let value = try scene.publish(.dynamic, [.read, .write])
        try scene.connect()
        scene.open(2)
        #expect(scene.receive("0300 0A \(value.text)", on: 0x40) == [])
        let requests = scene.controller.seen.compactMap { seen -> ServerRequest? in
            if case .server(_, .readRequested(let request, _, _)) = seen.event { request } else { nil }
        }
        #expect(scene.receive("0300 0A 0F00", on: 0x41) == [bytes("5100 0200 0B 01")])
        #expect(scene.receive("0A 0F00") == [bytes("0400 0B 01")])
        try scene.controller.host.answer(try #require(requests.first), value: [7, 8].span)
        #expect(scene.sent() == [bytes("5000 0300 0B 0708")])
    }

    @Test("EATT: a pending request expires when its bearer closes")
    mutating func expired() throws {
        let value = try scene.publish(.dynamic, [.read, .write])
        try scene.connect()
        scene.open(1)
        scene.receive("0400 12 \(value.text) 01", on: 0x40)
        let request = scene.controller.seen.compactMap { seen -> ServerRequest? in
            if case .server(_, .writeRequested(let request, _, _)) = seen.event { request } else { nil }
        }.first
        _ = scene.controller.takeEvents()
        scene.receive("06 02 0400 4000 5000", on: 0x05)
        #expect(scene.controller.takeEvents() == ["request expired"])
        #expect(throws: HostError.server(.staleToken)) {
            try scene.controller.host.accept(try #require(request))
        }
    }

    @Test("EATT: prepared writes are queued per peer, not per bearer (Vol 3, Part F, 3.4.6.1)")
    mutating func queuedWrites() throws {
        let value = try scene.publish(.variableLength([]), [.read, .write])
        try scene.connect()
        scene.open(2)
        #expect(
            scene.receive("0700 16 \(value.text) 0000 0102", on: 0x40)
                == [bytes("5000 0700 17 \(value.text) 0000 0102")])
        scene.receive("06 02 0400 4000 5000", on: 0x05)
        #expect(scene.receive("0200 18 01", on: 0x41) == [bytes("5100 0100 19")])
        #expect(scene.controller.host.server.database.value(of: value) == [1, 2])
    }

    // MARK: - Rules

    @Test("EATT: the MTU is never exchanged on an enhanced bearer (Vol 3, Part F, 3.4.2.1)")
    mutating func exchangeMTU() throws {
        try scene.connect()
        scene.open(1)
        #expect(scene.receive("0300 02 0502", on: 0x40) == [bytes("5000 0500 01 02 0000 06")])
        _ = try scene.start(.exchangeMTU(clientRxMTU: 100), on: scene.bearers[0])
        #expect(scene.sent().filter { $0[0] == 0x50 } == [])
        #expect(scene.controller.takeEvents() == ["operation completed"])
    }

    @Test("EATT: a signed write on an enhanced bearer is ignored (Vol 3, Part F, 3.4.5.4)")
    mutating func signedWrite() throws {
        let value = try scene.publish(.variableLength([0]), [.read, .authenticatedSignedWrites])
        try scene.connect()
        scene.open(1)
        #expect(scene.receive("1000 D2 \(value.text) 01 00000000 0102030405060708", on: 0x40) == [])
        #expect(scene.controller.host.faults[.attributePDUIgnored] == 1)
        #expect(scene.controller.host.server.database.value(of: value) == [0])
    }

    @Test(
        "EATT: a violation of the channel's rules closes the bearer, but not the link or other bearers",
        arguments: ["0602 0A0F00", "0300 0A", "0300 0A0F0000", "0A"])
    mutating func violated(_ frame: String) throws {
        try scene.connect()
        scene.open(2)
        // The second one is only the beginning of an SDU.
        guard frame != "0300 0A" else {
            #expect(scene.receive(frame, on: 0x40) == [])
            #expect(scene.receive("0F00", on: 0x40) == [bytes("5000 0200 0B 01")])
            return
        }
        #expect(scene.receive(frame, on: 0x40) == [bytes("0500 06 01 0400 5000 4000")])
        #expect(scene.controller.host.faults[.channelViolated] == 1)
        #expect(scene.bearers.count == 1)
        #expect(scene.receive("0300 0A 0F00", on: 0x41) == [bytes("5100 0200 0B 01")])
        #expect(scene.controller.takeEvents() == [])
    }

    @Test("EATT: a PDU longer than the ATT_MTU is malformed, even if the channel accepts it")
    mutating func tooLong() throws {
        try scene.connect()
        scene.open(1, mtu: "4000")
        let long = String(repeating: "00", count: 62)
        #expect(scene.receive("4100 12 0F00 \(long)", on: 0x40) == [bytes("5000 0500 01 12 0000 04")])
        #expect(scene.receive("4100 1B 0F00 \(long)", on: 0x40) == [])
        #expect(scene.controller.takeEvents() == ["lost: \(LinkLoss.attributePDUTooLong)"])
    }

    @Test("EATT: a peer that keeps sending requests without granting credits for the answers loses the bearer")
    mutating func flood() throws {
        try scene.connect()
        scene.open(1, credits: "0100")
        let limit = scene.controller.host.configuration.sendQueueLimit + Link.answerReserve
        #expect(scene.receive("0300 0A 0F00", on: 0x40) == [bytes("5000 0200 0B 01")])
        for _ in 0..<limit {
            #expect(scene.receive("0300 0A 0F00", on: 0x40) == [])
        }
        #expect(scene.bearers.count == 1)
        #expect(scene.receive("0300 0A 0F00", on: 0x40).last == bytes("0500 06 01 0400 5000 4000"))
        #expect(scene.bearers.isEmpty)
        #expect(scene.receive("0A 0F00") == [bytes("0400 0B 01")])
    }

    // MARK: - Values

    @Test("EATT: values are notified over the bearer of their subscription, in order")
    mutating func notified() throws {
        let value = try scene.publish(.fixedLength([0]), [.read, .notify])
        let descriptor = AttributeHandle(value.rawValue + 1)
        try scene.connect()
        scene.open(2, credits: "0200")
        #expect(scene.receive("0500 12 \(descriptor.text) 0100", on: 0x41) == [bytes("5100 0100 13")])
        #expect(try scene.controller.host.notify(value, value: [1].span, on: scene.link) == true)
        #expect(try scene.controller.host.notify(value, value: [2].span, on: scene.link) == true)
        #expect(scene.sent() == [bytes("5100 0400 1B \(value.text) 01")])
        #expect(scene.controller.host.queuedFrameCount(of: scene.link) == 1)
        #expect(scene.receive("16 02 0400 5100 0100", on: 0x05) == [bytes("5100 0400 1B \(value.text) 02")])
        #expect(scene.controller.host.queuedFrameCount(of: scene.link) == 0)
        // What has no bearer any more goes over the fixed channel.
        scene.receive("06 03 0400 4100 5100", on: 0x05)
        #expect(try scene.controller.host.notify(value, value: [3].span, on: scene.link) == true)
        #expect(scene.sent() == [bytes("0400 1B \(value.text) 03")])
    }

    @Test("EATT: values are refused while the queue is full, and the host reports when there is room")
    mutating func backPressure() throws {
        let value = try scene.publish(.fixedLength([0]), [.read, .notify])
        let descriptor = AttributeHandle(value.rawValue + 1)
        try scene.connect()
        scene.open(1, credits: "0100")
        scene.receive("0500 12 \(descriptor.text) 0100", on: 0x40)
        _ = scene.controller.takeEvents()
        for _ in 0..<scene.controller.host.configuration.sendQueueLimit {
            #expect(try scene.controller.host.notify(value, value: [1].span, on: scene.link) == true)
        }
        #expect(try scene.controller.host.notify(value, value: [1].span, on: scene.link) == false)
        #expect(scene.receive("16 02 0400 5000 0400", on: 0x05).count == 4)
        #expect(scene.controller.takeEvents() == [])
        #expect(scene.receive("16 03 0400 5000 1000", on: 0x05).count == 12)
        #expect(scene.controller.takeEvents() == ["ready to send"])
    }

    @Test("EATT: a PDU longer than the peer's K-frames is sent in several")
    mutating func segmented() throws {
        let value = try scene.publish(.constant((0..<100).map { UInt8($0) }), .read)
        try scene.connect()
        scene.receive("17 01 0A00 2700 0002 4000 0500 5000", on: 0x05)
        let octets = (0..<100).map { UInt8($0) }
        #expect(
            scene.receive("0300 0A \(value.text)", on: 0x40)
                == [bytes("5000 6500 0B") + octets[..<61], bytes("5000") + octets[61...]])
    }

    @Test("EATT: values are received over any bearer, and their credits are returned")
    mutating func received() throws {
        try scene.connect()
        scene.open(2)
        for number in 0..<127 {
            let answer: [[UInt8]] = number < 126 ? [] : [bytes("0500 16 01 0400 4000 7F00")]
            #expect(scene.receive("0500 1B 0300 \(hexadecimal(UInt8(number))) 00", on: 0x40) == answer, "\(number)")
        }
        #expect(scene.receive("0400 1D 0300 07", on: 0x41) == [bytes("5100 0100 1E")])
        #expect(
            scene.controller.takeEvents() == Array(repeating: "notification 3", count: 127) + ["indication 3"])
    }

    @Test("EATT: a notification of several values is received over a bearer")
    mutating func severalValues() throws {
        try scene.connect()
        scene.open(1)
        #expect(scene.receive("0B00 23 0300 0100 AA 0400 0100 BB", on: 0x40) == [])
        #expect(scene.controller.takeEvents() == ["notification 3", "notification 4"])
    }

    // MARK: - Requests of ours

    @Test("EATT: requests on different bearers run concurrently")
    mutating func requests() throws {
        try scene.connect()
        scene.open(2)
        _ = try scene.start(.read(3), on: scene.bearers[0])
        scene.receive("01 08 0100 0A")
        scene.receive("0500 01 0A 0300 01", on: 0x40)
        _ = scene.controller.takeEvents()
        func next() -> AttributeChannel.ID { scene.controller.host.bearerForOperation(on: scene.link) }
        #expect(next() == scene.bearers[0])
        let first = try scene.start(.read(3))
        let second = try scene.start(.read(4), on: scene.bearers[0])
        #expect(next() == scene.bearers[1])
        #expect(scene.sent() == [bytes("0400 0A 0300"), bytes("5000 0300 0A 0400")])
        scene.receive("0200 0B BB", on: 0x40)
        scene.receive("0B AA")
        let ended = scene.controller.seen.compactMap { seen -> GATTClient.OperationID? in
            if case .client(_, .operationEnded(.completed(let id, _))) = seen.event { id } else { nil }
        }
        #expect(ended == [second, first])
    }

    // MARK: - Robust caching

    @Test("EATT: after a change, Database Out Of Sync is returned on each bearer (Vol 3, Part G, 2.5.2.1)")
    mutating func outOfSync() throws {
        try scene.connect()
        scene.open(2)
        #expect(scene.receive("12 0B00 03") == [bytes("0400 13")])
        _ = try scene.publish(.constant([1]), .read)
        #expect(scene.receive("0300 0A 0F00", on: 0x40) == [bytes("5000 0500 01 0A 0F00 12")])
        // This one may have been sent before the peer was told on the other.
        #expect(scene.receive("0300 0A 0F00", on: 0x41) == [bytes("5100 0500 01 0A 0F00 12")])
        // Commands are ignored on all of them.
        #expect(scene.receive("0400 52 0300 01", on: 0x41) == [])
        #expect(scene.receive("0300 0A 0F00", on: 0x41) == [bytes("5100 0200 0B 01")])
        #expect(scene.receive("0A 0F00") == [bytes("0400 0B 01")])
    }

    @Test("EATT: a client that has read the hash on one bearer is served on all of them")
    mutating func hashRead() throws {
        try scene.connect()
        scene.open(2)
        scene.receive("12 0B00 03")
        _ = try scene.publish(.constant([1]), .read)
        #expect(
            scene.receive("0700 08 0100 FFFF 2A2B", on: 0x40).first?.starts(with: bytes("5000 1400 09 12 0D00")) == true
        )
        #expect(scene.receive("0300 0A 0F00", on: 0x41) == [bytes("5100 0200 0B 01")])
    }
}
