import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("The ATT bearer of a link")
struct AttributeProtocolTests {
    @Test("A6: a request unanswered for 30 seconds ends the link")
    func timeout() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        controller.seen.removeAll()
        for _ in 1...3 { _ = try controller.host.start(.read(3), on: link, at: controller.now) }
        controller.run(for: .milliseconds(29_999))
        #expect(controller.takeEvents() == [])
        controller.run(for: .milliseconds(1))
        let failed = "operation failed: \(GATTClientError.transactionTimedOut)"
        #expect(controller.takeEvents() == [failed, failed, failed])
        #expect(controller.takeOpcodes() == [.disconnect])
        // Nothing is sent any more, neither for the caller nor for the peer.
        _ = controller.takeData()
        #expect(throws: HostError.client(.transactionTimedOut)) {
            _ = try controller.host.start(.read(3), on: link, at: controller.now)
        }
        controller.receiveFrame([0x0B, 1])
        controller.receiveFrame([0x0A, 3, 0])
        controller.receiveFrame([0x1D, 3, 0, 1])
        #expect(controller.takeData() == [])
        controller.seen.removeAll()
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        #expect(controller.takeEvents() == ["disconnected link 0.1: 34"])
    }

    @Test("An MTU exchange unanswered for 30 seconds ends the link") func theExchangeOfTheMTUTimesOutToo() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.run(for: .seconds(30))
        #expect(controller.takeEvents() == [])
        #expect(controller.takeOpcodes() == [.disconnect])
    }

    @Test("If the server does not support the MTU exchange, the MTU stays at 23 octets")
    func aServerWithoutTheExchangeKeepsTo23Octets() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x01, 0x02, 0x00, 0x00, 0x06])
        #expect(controller.takeEvents() == [])
        #expect(controller.host.information(of: link)?.mtu == 23)
    }

    @Test(
        "The MTU in the response is between 23 and 517 octets, whatever the configuration",
        arguments: [(UInt16(600), UInt16(517)), (517, 517), (100, 100), (20, 23)])
    func theOfferedMTUStaysWithinTheSpecification(_ preferred: UInt16, _ mtu: UInt16) throws {
        var controller = ScriptedController.ready([:]) { $0.preferredMTU = preferred }
        _ = try controller.connect()
        controller.receiveFrame([0x02, 0xFF, 0xFF])
        let low = UInt8(truncatingIfNeeded: mtu), high = UInt8(truncatingIfNeeded: mtu >> 8)
        #expect(controller.takeData().last == [0x40, 0, 7, 0, 3, 0, 4, 0, 0x03, low, high])
    }

    /// What a peer sends, and what it gets back.
    static let exchanges: [(String, [UInt8], [UInt8])] = [
        ("A2: a Read Request cut short", bytes("0A01"), bytes("01 0A 0000 04")),
        ("A2: a Find Information Request cut short", bytes("04 0100"), bytes("01 04 0000 04")),
        ("A3: handle 0", bytes("04 0000 0500"), bytes("01 04 0000 01")),
        ("A3: start behind end", bytes("10 0500 0100 0028"), bytes("01 10 0500 01")),
        ("A4: handle 0xFFFF", bytes("10 FFFF FFFF 0028"), bytes("01 10 FFFF 0A")),
        ("A5: an unknown request", bytes("BF"), bytes("01 BF 0000 06")),
        ("A5: an unknown command", bytes("FF"), []),
        ("A7: a response without a request", bytes("0B"), []),
        ("A7: an error without a request", bytes("01 0A 0300 01"), []),
        ("A10: an Execute Write Request with a flag that is none", bytes("18 02"), bytes("01 18 0000 04")),
        ("A14: an indication", bytes("1D 1000 01"), bytes("1E")),
        ("A14: an indication of handle 0", bytes("1D 0000 01"), bytes("1E")),
        ("A14: half an indication", bytes("1D 10"), bytes("1E")),
        ("A14: half a notification", bytes("1B 10"), []),
        ("A14: a notification of handle 0", bytes("1B 0000 01"), []),
        ("A14: values past the end", bytes("23 0300 FFFF"), []),
        ("A15: a confirmation of nothing", bytes("1E"), []),
        ("A16: a signed write", bytes("D2 0300 01 000102030405060708090A0B"), []),
        ("nothing at all", bytes("0A 0300 00 00"), bytes("01 0A 0000 04")),
    ]

    /// What of that is reported.
    static let events = [
        "A14: an indication": "indication 16", "A14: an indication of handle 0": "lost: attributePDUInvalid",
        "A14: half an indication": "lost: attributePDUInvalid", "A14: half a notification": "lost: attributePDUInvalid",
        "A14: a notification of handle 0": "lost: attributePDUInvalid",
        "A14: values past the end": "lost: attributePDUInvalid",
    ]

    @Test(
        "Malformed, unknown and unsolicited PDUs get the specified answer, and the link stays usable",
        arguments: exchanges)
    func whateverAPeerSendsGetsTheRightAnswer(_ what: String, _ pdu: [UInt8], _ answer: [UInt8]) throws {
        var controller = ScriptedController.ready()
        _ = try controller.accept(0x40)
        controller.receiveFrame(pdu)
        #expect(controller.takeData().map { Array($0[8...]) } == (answer.isEmpty ? [] : [answer]))
        #expect(controller.takeEvents() == (Self.events[what].map { [$0] } ?? []))
        controller.receiveFrame(bytes("0A 0300"))
        #expect(controller.takeData().first?[8] == 0x0B, "the link goes on")
    }

    /// PDUs one octet longer than an ATT_MTU of 23, what is answered, and what is told of them.
    static let tooLong: [(String, [UInt8], [UInt8], HostFault?)] = [
        ("a notification", bytes("1B 1000") + filler(21), [], .attributePDUTooLong),
        ("an indication", bytes("1D 1000") + filler(21), bytes("1E"), .attributePDUTooLong),
        ("several values", bytes("23 1000 1300") + filler(19), [], .attributePDUTooLong),
        ("a write command", bytes("52 0300") + filler(21), [], .attributePDUTooLong),
        ("a confirmation", bytes("1E") + filler(23), [], .attributePDUTooLong),
        ("a write request", bytes("12 0300") + filler(21), bytes("01 12 0000 04"), nil),
        ("a response nobody waits for", bytes("0B") + filler(23), [], nil),
    ]

    private static func filler(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    @Test("A PDU longer than the ATT_MTU is not delivered, and the link reports the loss", arguments: tooLong)
    func aPDUThatIsTooLong(_ what: String, _ pdu: [UInt8], _ answer: [UInt8], _ fault: HostFault?) throws {
        var controller = ScriptedController.ready()
        _ = try controller.accept(0x40)
        #expect(pdu.count == 24)
        controller.receiveFrame(pdu)
        #expect(controller.takeData().map { Array($0[8...]) } == (answer.isEmpty ? [] : [answer]))
        #expect(controller.takeEvents() == (fault == nil ? [] : ["lost: attributePDUTooLong"]))
        if let fault { #expect(controller.host.faults[fault] == 1) }
    }

    /// The beginnings of PDUs that no frame of this host can hold, and the answers.
    static let longerThanAnyFrame: [(String, String, String)] = [
        ("a write request", "12 0300", "01 12 0000 04"), ("a read request", "0A 0300", "01 0A 0000 04"),
        ("a prepare write request", "16 0300 0000", "01 16 0000 04"),
        ("an MTU request", "02 1700", "01 02 0000 04"), ("a request of an unassigned opcode", "26", "01 26 0000 06"),
        ("a write command", "52 0300", ""), ("a signed write command", "D2 0300", ""),
        ("a command of an unassigned opcode", "66", ""), ("a notification", "1B 0300", ""),
        ("an indication", "1D 0300", ""), ("a confirmation", "1E", ""), ("a response", "0B 01", ""),
    ]

    @Test(
        "A request longer than any frame is answered with an error; other PDUs of that length get no answer",
        arguments: longerThanAnyFrame)
    func aPDULongerThanAnyFrame(_ what: String, _ beginning: String, _ answer: String) throws {
        for mtu in [23, 517] as [UInt16] {
            var controller = ScriptedController.ready()
            _ = try controller.accept(0x40)
            controller.receiveFrame([0x02, UInt8(truncatingIfNeeded: mtu), UInt8(mtu >> 8)])
            _ = controller.takeData()
            _ = controller.takeEvents()
            let start = bytes(beginning)
            let whole = frame(start + [UInt8](repeating: 7, count: 600 - start.count))
            // In one packet, and as controllers with short buffers bring it.
            controller.receiveFragment(whole)
            #expect(controller.takeData().map { Array($0[8...]) } == (answer.isEmpty ? [] : [bytes(answer)]))
            #expect(controller.takeEvents() == (answer.isEmpty ? ["lost: fragmentInvalid"] : []))
            controller.receiveFragment(Array(whole[..<27]))
            for place in stride(from: 27, to: whole.count, by: 27) {
                controller.receiveFragment(Array(whole[place..<min(place + 27, whole.count)]), 0x40, .continuing)
            }
            #expect(controller.takeData().map { Array($0[8...]) } == (answer.isEmpty ? [] : [bytes(answer)]))
            controller.receiveFrame(bytes("0A 0300"))
            #expect(controller.takeData().first?[8] == 0x0B, "the link goes on")
        }
    }

    @Test("A PDU as long as the ATT_MTU is delivered; the limit is the exchanged ATT_MTU")
    func theLimitIsTheExchangedMTU() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        func notification(_ count: Int) -> [UInt8] { bytes("1B 1000") + Self.filler(count - 3) }
        controller.receiveFrame(notification(23))
        controller.receiveFrame(notification(24))
        controller.receiveFrame([0x03, 247, 0])
        controller.receiveFrame(notification(247))
        controller.receiveFrame(notification(248))
        controller.receiveFrame(notification(503))
        #expect(
            controller.takeEvents() == [
                "notification 16", "lost: attributePDUTooLong", "mtu 247", "notification 16",
                "lost: attributePDUTooLong", "lost: attributePDUTooLong",
            ])
    }

    @Test("A response longer than the ATT_MTU fails its operation, and the next operation continues")
    func aResponseThatIsTooLong() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        _ = controller.takeEvents()
        _ = try controller.host.start(.read(0x0010), on: link, at: controller.now)
        _ = try controller.host.start(.read(0x0011), on: link, at: controller.now)
        controller.settle()
        controller.receiveFrame([0x0B] + Self.filler(23))
        controller.receiveFrame([0x0B] + Self.filler(22))
        let events = controller.takeEvents()
        #expect(events.count == 2 && events[0].hasPrefix("operation failed: invalidResponse"), "\(events)")
        #expect(events.last == "operation completed")
    }

    @Test("A14: each indication of a flood is confirmed once")
    func indicationFlood() throws {
        var controller = ScriptedController.ready()
        _ = try controller.accept(0x40)
        for _ in 1...1000 { controller.receiveFrame(bytes("1D 1000 01")) }
        #expect(controller.takeData().count == 1000)
        #expect(controller.takeEvents().count == 1000)
    }

    @Test("GATT/CL/GAI/BI-01: indications that arrive before the first one is confirmed are each confirmed, in order")
    func severalIndications() throws {
        var controller = ScriptedController.ready()
        _ = try controller.accept(0x40)
        // The controller's four buffers are taken by responses that it does not send.
        controller.completesPackets = false
        for _ in 1...4 { controller.receiveFrame(bytes("0A 0300")) }
        #expect(controller.takeData().count == 4)
        controller.seen.removeAll()
        for octet in UInt8(1)...6 { controller.receiveFrame([0x1D, 0x10, 0x00, octet]) }
        #expect(controller.seen.map(\.bytes) == (UInt8(1)...6).map { [$0] })
        #expect(controller.takeEvents() == [String](repeating: "indication 16", count: 6))
        #expect(controller.takeData() == [], "none is confirmed yet")
        controller.complete(0x40, 4)
        controller.complete(0x40, 4)
        #expect(controller.takeData().map { Array($0[8...]) } == [[UInt8]](repeating: [0x1E], count: 6))
        controller.complete(0x40, 2)
        controller.run(for: .seconds(60))
        #expect(!controller.takeData().contains { $0[6] == 0x04 }, "each is confirmed once")
        #expect(!controller.takeOpcodes().contains(.disconnect))
        #expect(!controller.takeEvents().contains { $0.hasPrefix("disconnected") })
    }

    @Test(
        "A7, A8: a response that does not match the request fails the operation once",
        arguments: [
            bytes("0B"), bytes("11 06 0100"), bytes("11 06 0100 0500 0018 0600"), bytes("11 06 0500 0100 0018"),
            bytes("11 06 0000 0100 0018"), bytes("01 10 0100"), bytes("01 0A 0100 0A"), bytes("11"), bytes("11 00"),
        ])
    func wrongResponses(_ response: [UInt8]) throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        controller.seen.removeAll()
        _ = try controller.host.start(.discoverPrimaryServices(), on: link, at: controller.now)
        for _ in 1...20 { controller.receiveFrame(response) }
        controller.run(for: .seconds(31))
        #expect(controller.takeEvents().count { $0.hasPrefix("operation failed") } == 1)
    }

    @Test("Notifications are delivered before the MTU exchange completes")
    func aNotificationBeforeAnythingElseIsHeard() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFrame(bytes("1B 1000 0102"))
        controller.receiveFrame(bytes("23 1000 0100 07 1100 0000"))
        #expect(controller.seen.map(\.bytes) == [[1, 2], [7], []])
        #expect(controller.takeEvents() == ["notification 16", "notification 16", "notification 17"])
    }

    @Test("A cancelled operation fails once, and its late response does not disturb the next operation")
    func anOperationIsCancelled() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        controller.seen.removeAll()
        let first = try controller.host.start(.read(3), on: link, at: controller.now)
        _ = try controller.host.start(.read(4), on: link, at: controller.now)
        controller.host.cancel(first, on: link)
        controller.host.cancel(first, on: link)
        controller.settle()
        #expect(controller.takeEvents() == ["operation failed: cancelled"])
        controller.receiveFrame([0x0B, 1])
        #expect(controller.takeEvents() == [])
        controller.receiveFrame([0x0B, 2])
        #expect(controller.takeEvents() == ["operation completed"])
    }
}
