import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: the queue of operations")
struct ClientQueueTests {
    static let operations: [GATTClientOperation] = [
        .exchangeMTU(clientRxMTU: 517), .discoverPrimaryServices(), .discoverPrimaryServices(uuid: "180F"),
        .discoverIncludedServices(in: 0x0001...0xFFFF), .discoverCharacteristics(in: 0x0001...0xFFFF),
        .discoverDescriptors(in: 0x0001...0xFFFF), .discoverAll(includes: true), .read(0x0003), .readLong(0x0003),
        .readByUUID("2A19"), .readMultiple([3, 4]), .readMultipleVariable([3, 4]), .write(0x0003, [1]),
        .writeLong(0x0003, [1]), .writeReliably([AttributeValue(handle: 3, value: [1])]),
        .configure(descriptor: 0x0004, .notifications),
    ]

    @Test("operations are carried out one at a time, in the order they were started")
    func order() throws {
        var harness = ClientHarness()
        let first = try harness.start(.read(1)), second = try harness.start(.write(2, [9]))
        let third = try harness.start(.read(3))
        #expect([first.sent, second.sent, third.sent] == [bytes("0A 01 00"), [], []])
        #expect(harness.client.pendingCount == 3)
        #expect(harness.receive(bytes("0B AA")) == bytes("12 02 00 09"))
        #expect(harness.receive(bytes("01 12 02 00 03")) == bytes("0A 03 00"))
        #expect(harness.receive(bytes("0B BB")) == [])
        #expect(
            harness.takeEvents() == [
                .completed(first.id, .value([0xAA])),
                .failed(second.id, .att(ATTError(.writeNotPermitted, for: .writeRequest, at: 2))),
                .completed(third.id, .value([0xBB])),
            ])
    }

    @Test("an operation that cannot send its request fails, and the next one starts")
    func skipped() throws {
        var harness = ClientHarness()
        let first = try harness.start(.read(1)), second = try harness.start(.write(2, counting(21)))
        let third = try harness.start(.read(3))
        #expect(harness.receive(bytes("0B")) == bytes("0A 03 00"))
        #expect(
            harness.takeEvents() == [
                .completed(first.id, .value([])), .failed(second.id, .valueTooLong(maximum: 20)),
            ])
        #expect(harness.receive(bytes("0B")) == [])
        #expect(harness.takeEvents() == [.completed(third.id, .value([]))])
    }

    @Test("a full queue rejects operations until there is room")
    func full() throws {
        var harness = ClientHarness(maximumWaiting: 2)
        for handle in 1...3 { _ = try harness.start(.read(AttributeHandle(UInt16(handle)))) }
        #expect(throws: GATTClientError.tooManyOperations) { try harness.start(.read(4)) }
        harness.receive(bytes("0B"))
        #expect(throws: Never.self) { try harness.start(.read(4)) }
        #expect(harness.client.pendingCount == 3)
    }

    @Test("a queue has room for one operation at least", arguments: [-1, 0, 1])
    func smallest(maximumWaiting: Int) throws {
        var harness = ClientHarness(maximumWaiting: maximumWaiting)
        for handle in 1...2 { _ = try harness.start(.read(AttributeHandle(UInt16(handle)))) }
        #expect(throws: GATTClientError.tooManyOperations) { try harness.start(.read(3)) }
        #expect(harness.client.pendingCount == 2)
    }

    @Test(
        "a cancelled operation ends at once; its response is discarded before the next request", arguments: operations)
    func cancelInFlight(operation: GATTClientOperation) throws {
        var harness = ClientHarness()
        let cancelled = try harness.start(operation), next = try harness.start(.read(7))
        let opcode = try #require(cancelled.sent.first)
        var wasPending = harness.client.cancel(cancelled.id)
        #expect(wasPending)
        #expect(harness.takeEvents() == [.failed(cancelled.id, .cancelled)])
        wasPending = harness.client.cancel(cancelled.id)
        #expect(!wasPending)
        #expect(harness.client.pendingCount == 1)
        #expect(harness.receive([0x01, opcode, 0x00, 0x00, 0x0E]) == bytes("0A 07 00"))
        #expect(harness.receive(bytes("0B")) == [])
        #expect(harness.takeEvents() == [.completed(next.id, .value([]))])
    }

    @Test("a cancelled long write leaves nothing in the server's queue")
    func cancelPreparedWrites() throws {
        var harness = ClientHarness()
        let cancelled = try harness.start(.writeLong(3, counting(40)))
        _ = try harness.start(.read(7))
        harness.client.cancel(cancelled.id)
        #expect(harness.receive([0x17] + cancelled.sent.dropFirst()) == bytes("18 00"))
        #expect(harness.receive(bytes("19")) == bytes("0A 07 00"))
        #expect(harness.takeEvents() == [.failed(cancelled.id, .cancelled)])
    }

    @Test("the MTU takes effect even if the operation that exchanged it was cancelled")
    func cancelMTUExchange() throws {
        var harness = ClientHarness()
        let id = try harness.start(.exchangeMTU(clientRxMTU: 517)).id
        harness.client.cancel(id)
        harness.receive(bytes("03 F7 00"))
        #expect(harness.bearer.mtu == 247)
        #expect(harness.takeEvents() == [.failed(id, .cancelled)])
    }

    @Test("a waiting operation is cancelled without being sent")
    func cancelWaiting() throws {
        var harness = ClientHarness()
        let first = try harness.start(.read(1)), second = try harness.start(.read(2))
        _ = try harness.start(.read(3))
        let wasPending = harness.client.cancel(second.id)
        #expect(wasPending)
        #expect(harness.receive(bytes("0B")) == bytes("0A 03 00"))
        #expect(harness.takeEvents() == [.failed(second.id, .cancelled), .completed(first.id, .value([]))])
    }

    @Test("H9: a lost link ends every operation exactly once", arguments: operations)
    func disconnect(operation: GATTClientOperation) throws {
        var harness = ClientHarness()
        let first = try harness.start(operation), second = try harness.start(operation)
        harness.client.failAll(.disconnected)
        harness.client.failAll(.disconnected)
        #expect(harness.takeEvents() == [.failed(first.id, .disconnected), .failed(second.id, .disconnected)])
        #expect(harness.client.pendingCount == 0)
        #expect(harness.receive([0x01, first.sent[0], 0x00, 0x00, 0x0E]) == [])
        #expect(harness.client.events.isEmpty)
    }

    @Test("H9: a link lost between two requests of one operation ends it exactly once")
    func disconnectHalfway() throws {
        var harness = ClientHarness()
        let id = try harness.start(.discoverAll(includes: true)).id
        #expect(harness.receive(bytes("11 06 01 00 05 00 00 18")) != [])
        harness.client.failAll(.disconnected)
        #expect(harness.takeEvents() == [.failed(id, .disconnected)])
    }

    @Test("H9: a response that arrives after every operation has ended causes no further request")
    func responseAfterTheEnd() throws {
        var harness = ClientHarness()
        let id = try harness.start(.discoverPrimaryServices()).id
        harness.client.failAll(.disconnected)
        // While the discovery goes on, this response leads to the next request.
        #expect(harness.receive(bytes("11 06 01 00 05 00 00 18")) == [])
        #expect(harness.takeEvents() == [.failed(id, .disconnected)])
    }

    @Test(
        "GATT/CL/GAT/BV-01, BV-02: after 30 seconds without a response every operation fails and nothing more is sent",
        arguments: [GATTClientOperation.read(3), .write(3, [1]), .discoverAll(includes: false)])
    func timeout(operation: GATTClientOperation) throws {
        var harness = ClientHarness()
        harness.now = Instant.zero.advanced(by: .seconds(5))
        let first = try harness.start(operation).id, second = try harness.start(.read(4)).id
        let deadline = try #require(harness.bearer.nextDeadline)
        #expect(deadline == Instant.zero.advanced(by: .seconds(35)))
        #expect(harness.client.fire(bearer: &harness.bearer, at: Instant.zero.advanced(by: .seconds(34))) == nil)
        #expect(harness.client.events.isEmpty)
        #expect(harness.client.fire(bearer: &harness.bearer, at: deadline) != nil)
        #expect(
            harness.takeEvents() == [.failed(first, .transactionTimedOut), .failed(second, .transactionTimedOut)])
        #expect(harness.bearer.isDead)
        #expect(harness.receive(bytes("0B")) == [])
        #expect(throws: GATTClientError.transactionTimedOut) { try harness.start(.read(5)) }
        #expect(throws: GATTClientError.transactionTimedOut) {
            var writer = ByteWriter()
            let value: [UInt8] = [1]
            try harness.client.writeCommand(5, value: value.span, bearer: harness.bearer, into: &writer)
        }
        #expect(harness.client.events.isEmpty)
    }

    @Test("every request of a procedure has its own 30 seconds")
    func deadlineMoves() throws {
        var harness = ClientHarness()
        _ = try harness.start(.discoverPrimaryServices())
        harness.now = Instant.zero.advanced(by: .seconds(29))
        harness.receive(bytes("11 06 01 00 05 00 00 18"))
        #expect(harness.bearer.nextDeadline == Instant.zero.advanced(by: .seconds(59)))
        harness.receive(bytes("01 10 06 00 0A"))
        #expect(harness.bearer.nextDeadline == nil)
    }

    @Test(
        "GATT/CL/GAC/BV-01: the MTU is the smaller of the two, and at least 23; a part of a long value fills a PDU",
        arguments: [("03 05 02", 517), ("03 00 02", 512), ("03 F7 00", 247), ("03 FF FF", 517), ("03 05 00", 23)])
    func exchangeMTU(response: String, mtu: Int) throws {
        var harness = ClientHarness()
        let (id, sent) = try harness.start(.exchangeMTU(clientRxMTU: 517))
        #expect(sent == bytes("02 05 02"))
        harness.receive(bytes(response))
        #expect(harness.takeEvents() == [.completed(id, .mtu(mtu))])
        #expect(harness.bearer.mtu == mtu)
        let again = try harness.start(.exchangeMTU(clientRxMTU: 517))
        #expect(again.sent == [])
        #expect(harness.takeEvents() == [.completed(again.id, .mtu(mtu))])
        let part = counting(512).prefix(mtu - 5)
        #expect(try harness.start(.writeLong(3, counting(512))).sent == bytes("16 03 00 00 00") + part)
    }

    @Test("a bearer whose MTU comes from its channel does not exchange it")
    func enhancedBearer() throws {
        var harness = ClientHarness()
        harness.bearer = ATTBearer(channelMTU: 100)
        let (id, sent) = try harness.start(.exchangeMTU(clientRxMTU: 517))
        #expect(sent == [])
        #expect(harness.takeEvents() == [.completed(id, .mtu(100))])
    }
}
