import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("Attribute endpoint: the client on several channels")
struct EndpointClientTests {
    @Test("an operation uses a free channel, or the one with the fewest pending operations")
    func choice() throws {
        var bench = try EndpointBench()
        let one = try bench.start(.read(1)), two = try bench.start(.read(2)), three = try bench.start(.read(3))
        #expect([one, two, three].map(\.id.channel) == [bench.first, bench.second, bench.first])
        #expect([one, two, three].map(\.sent) == ["0A 01 00", "0A 02 00", ""])
        #expect(bench.endpoint.channels.map(\.pendingOperationCount) == [2, 1])
        #expect(bench.receive("0B BB", on: bench.second) == "")
        #expect(bench.outcome == .response)
        #expect(bench.endpoint.channelForOperation == bench.second)
        #expect(bench.receive("0B AA", on: bench.first) == "0A 03 00")
        #expect(bench.receive("01 0A 03 00 01", on: bench.first) == "")
        #expect(
            bench.takeEvents() == [
                .completed(two.id, .value([0xBB])), .completed(one.id, .value([0xAA])),
                .failed(three.id, .att(ATTError(.invalidHandle, for: .readRequest, at: 3))),
            ])
    }

    @Test("operations on a specific channel keep their order, even if another channel is free")
    func named() throws {
        var bench = try EndpointBench()
        let one = try bench.start(.read(1), on: bench.second), two = try bench.start(.read(2), on: bench.second)
        #expect([one.sent, two.sent] == ["0A 01 00", ""])
        #expect(bench.receive("0B", on: bench.first) == "", "a response on another channel answers nothing")
        #expect(bench.takeEvents().isEmpty)
        #expect(bench.receive("0B", on: bench.second) == "0A 02 00")
    }

    @Test("an operation is cancelled on the channel that carries it")
    func cancel() throws {
        var bench = try EndpointBench()
        let one = try bench.start(.read(1)), two = try bench.start(.read(2))
        #expect(one.id != two.id)
        var wasPending = bench.endpoint.cancel(two.id)
        #expect(wasPending)
        wasPending = bench.endpoint.cancel(two.id)
        #expect(!wasPending)
        #expect(bench.takeEvents() == [.failed(two.id, .cancelled)])
        #expect(bench.endpoint.channels.map(\.pendingOperationCount) == [1, 0])
    }

    @Test("closing a channel fails its operations, and no others")
    func closing() throws {
        var bench = try EndpointBench()
        let one = try bench.start(.read(1)), two = try bench.start(.read(2)), three = try bench.start(.read(3))
        bench.endpoint.close(bench.first)
        #expect(bench.takeEvents() == [.failed(one.id, .bearerClosed), .failed(three.id, .notBegun)])
        #expect(throws: GATTClientError.disconnected) { try bench.start(.read(4), on: bench.first) }
        #expect(bench.receive("0B 01", on: bench.second) == "")
        #expect(bench.takeEvents() == [.completed(two.id, .value([1]))])
        #expect(try bench.start(.read(5)).id.channel == bench.second)
        bench.endpoint.closeAll()
        #expect(bench.takeEvents().count == 1)
        #expect(throws: GATTClientError.disconnected) { try bench.start(.read(6)) }
        #expect(throws: GATTClientError.disconnected) {
            var writer = ByteWriter()
            try bench.endpoint.writeCommand(1, value: Span<UInt8>(), into: &writer)
        }
    }

    @Test("a channel whose peer does not answer a request times out, and no other")
    func timeout() throws {
        var bench = try EndpointBench()
        let one = try bench.start(.read(1))
        bench.now = Instant.zero.advanced(by: .seconds(10))
        let two = try bench.start(.read(2))
        #expect(bench.endpoint.nextDeadline == Instant.zero.advanced(by: .seconds(30)))
        bench.now = Instant.zero.advanced(by: .seconds(30))
        let fired = bench.fire()
        #expect(fired.map(\.channel) == [bench.first])
        #expect(fired.map(\.outcome) == [.channelDied(.request(.readRequest))])
        #expect(fired.map(\.sent) == [""])
        #expect(bench.takeEvents() == [.failed(one.id, .transactionTimedOut)])
        #expect(throws: GATTClientError.transactionTimedOut) { try bench.start(.read(3), on: bench.first) }
        // The dead channel has no operation, and yet is not chosen.
        #expect(bench.endpoint.channelForOperation == bench.second)
        #expect(bench.receive("0B", on: bench.second) == "")
        #expect(bench.takeEvents() == [.completed(two.id, .value([]))])
    }

    @Test("the MTU is exchanged on the first channel; a credit-based channel has its own")
    func exchangeMTU() throws {
        var bench = try EndpointBench()
        let one = try bench.start(.exchangeMTU(clientRxMTU: 517), on: bench.first)
        let two = try bench.start(.exchangeMTU(clientRxMTU: 517), on: bench.second)
        #expect([one.sent, two.sent] == ["02 05 02", ""])
        #expect(bench.takeEvents() == [.completed(two.id, .mtu(64))])
        #expect(bench.receive("03 F7 00", on: bench.first) == "")
        #expect(bench.takeEvents() == [.completed(one.id, .mtu(247))])
        #expect(bench.endpoint.channels.map(\.bearer.mtu) == [247, 64])
    }

    @Test("values from the peer arrive on any channel, and an indication is confirmed on its own channel")
    func values() throws {
        var bench = try EndpointBench()
        #expect(bench.receive("1B 09 00 AA BB", on: bench.second) == "")
        #expect(bench.outcome == .notification(0x0009, value: 3..<5))
        #expect(bench.receive("1D 09 00 AA", on: bench.second) == "1E")
        #expect(bench.outcome == .indication(0x0009, value: 3..<4))
        #expect(bench.receive("23 09 00 01 00 AA 0B 00 00 00", on: bench.first) == "")
        #expect(bench.outcome == .notifications(1..<10))
        // Handle 0 names nothing. An indication is confirmed whatever is wrong with it, so that the next one can come.
        #expect(bench.receive("1B 00 00 AA", on: bench.first) == "")
        #expect(bench.outcome == .ignored)
        #expect(bench.receive("1D 00 00 AA", on: bench.first) == "1E")
        #expect(bench.outcome == .ignored)
        for (malformed, answer) in [("1B", ""), ("1B 09", ""), ("1D 09", "1E")] {
            #expect(bench.receive(malformed, on: bench.first) == answer)
            #expect(bench.outcome == .ignored)
        }
        // Each channel has its own ATT_MTU: 23 and 64.
        let filler = [UInt8](repeating: 0xAA, count: 21).hexadecimal()
        for (opcode, answer) in [("1B 09 00", ""), ("23 09 00", ""), ("1D 09 00", "1E")] {
            #expect(bench.receive(opcode + filler, on: bench.first) == answer)
            #expect(bench.outcome == .tooLong)
            #expect(bench.receive(opcode + filler, on: bench.second) == answer)
            #expect(bench.outcome != .tooLong)
        }
    }

    @Test("a write command is sent on the given channel")
    func writeCommand() throws {
        var bench = try EndpointBench()
        let value = counting(30)
        var writer = ByteWriter()
        #expect(throws: GATTClientError.valueTooLong(maximum: 20)) {
            try bench.endpoint.writeCommand(7, value: value.span, into: &writer)
        }
        try bench.endpoint.writeCommand(7, value: value.span, on: bench.second, into: &writer)
        #expect(writer.bytes == [0x52, 0x07, 0x00] + value)
    }
}
