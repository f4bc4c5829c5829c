import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("Attribute endpoint: the server on several channels")
struct EndpointServerTests {
    @Test("a request that waits for the application blocks only its own channel")
    func slowAnswer() throws {
        var bench = try EndpointBench()
        #expect(bench.receive("0A 03 00", on: bench.first) == "")
        let token = try #require(bench.token)
        #expect(bench.outcome == .server(.readRequested(token, handle: 0x0003, offset: 0)))
        #expect(token.channel == bench.first)
        for _ in 0..<10 { #expect(bench.receive("0A 05 00", on: bench.second) == "0B CC") }
        #expect(bench.receive("12 07 00 01", on: bench.second) == "13")
        // The peer may not ask on the first channel before it has its answer there.
        #expect(bench.receive("0A 05 00", on: bench.first) == "")
        #expect(bench.outcome == .server(.dropped(.requestPending)))
        #expect(try bench.answer(token, "01 02") == "0B 01 02")
        #expect(bench.receive("0A 05 00", on: bench.first) == "0B CC")
    }

    @Test("the application is asked on both channels at once, and answers in any order")
    func twoAnswers() throws {
        var bench = try EndpointBench()
        #expect(bench.receive("0A 03 00", on: bench.first) == "")
        let read = try #require(bench.token)
        #expect(bench.receive("12 03 00 01", on: bench.second) == "")
        let write = try #require(bench.token)
        #expect(write.channel == bench.second)
        #expect(throws: GATTServerError.wrongAnswer) { try bench.accept(read) }
        #expect(try bench.accept(write) == "13")
        #expect(throws: GATTServerError.staleToken) { try bench.accept(write) }
        #expect(try bench.refuse(read, with: .unlikelyError) == "01 0A 03 00 0E")
        #expect(throws: GATTServerError.staleToken) { try bench.answer(read, "01") }
    }

    @Test("a request that the application does not answer expires on its own channel")
    func expiry() throws {
        var bench = try EndpointBench()
        _ = bench.receive("0A 03 00", on: bench.second)
        let token = try #require(bench.token)
        #expect(bench.endpoint.nextDeadline == Instant.zero.advanced(by: .seconds(25)))
        bench.now = Instant.zero.advanced(by: .seconds(24))
        #expect(bench.fire().isEmpty)
        bench.now = Instant.zero.advanced(by: .seconds(25))
        let fired = bench.fire()
        #expect(fired.map(\.channel) == [bench.second])
        #expect(fired.map(\.outcome) == [.server(.requestExpired(token))])
        #expect(fired.map(\.sent) == ["01 0A 03 00 0E"])
        #expect(bench.endpoint.nextDeadline == nil)
    }

    @Test("a subscription made on one channel applies to all, each with its own MTU")
    func subscription() throws {
        var bench = try EndpointBench()
        #expect(throws: GATTServerError.notSubscribed(0x0009)) { try bench.notify("AA", on: bench.first) }
        #expect(bench.receive("12 0A 00 03 00", on: bench.second) == "13")
        #expect(bench.endpoint.servedClient.configuration(of: 0x0009) == [.notifications, .indications])
        #expect(try bench.notify("AA", on: bench.first) == "1B 09 00 AA")
        let value = String(repeating: "AA ", count: 61)
        #expect(try bench.notify(value, on: bench.second).hasPrefix("1B 09 00 AA AA"))
        #expect(throws: GATTServerError.valueTooLong(maximum: 20)) { try bench.notify(value, on: bench.first) }
        bench.endpoint.close(bench.second)
        #expect(try bench.notify("AA", on: bench.first) == "1B 09 00 AA")
        #expect(throws: GATTServerError.bearerClosed) { try bench.notify("AA", on: bench.second) }
        bench.endpoint.forget(0x0001...0x000A)
        #expect(throws: GATTServerError.notSubscribed(0x0009)) { try bench.notify("AA", on: bench.first) }
    }

    @Test("each channel may have one unconfirmed indication")
    func indications() throws {
        var bench = try EndpointBench()
        _ = bench.receive("12 0A 00 02 00", on: bench.first)
        #expect(bench.endpoint.channelForIndication == bench.first)
        #expect(try bench.indicate("01", on: bench.first) == "1D 09 00 01")
        #expect(throws: GATTServerError.indicationPending) { try bench.indicate("02", on: bench.first) }
        #expect(bench.endpoint.channelForIndication == bench.second)
        #expect(try bench.indicate("02", on: bench.second) == "1D 09 00 02")
        #expect(bench.endpoint.channelForIndication == nil)
        #expect(bench.receive("1E", on: bench.second) == "")
        #expect(bench.outcome == .server(.confirmationReceived(0x0009)))
        #expect(bench.receive("1E", on: bench.second) == "")
        #expect(bench.outcome == .server(.dropped(.unexpectedConfirmation)))
        #expect(bench.endpoint.channelForIndication == bench.second)
    }

    @Test("a peer has one queue of prepared writes, whichever channels fill it (Vol 3, Part F, 3.4.6)")
    func preparedWrites() throws {
        var bench = try EndpointBench()
        #expect(bench.receive("16 07 00 00 00 01", on: bench.first) == "17 07 00 00 00 01")
        #expect(bench.receive("16 07 00 01 00 02", on: bench.second) == "17 07 00 01 00 02")
        #expect(bench.endpoint.servedClient.preparedWrites.count == 2)
        // The queue outlives a channel, as long as there is another.
        bench.endpoint.close(bench.first)
        #expect(bench.receive("18 01", on: bench.second) == "19")
        #expect(bench.server.database.value(of: 0x0007) == [1, 2])
        #expect(bench.endpoint.servedClient.preparedWrites.count == 0)
        _ = bench.receive("16 07 00 00 00 03", on: bench.second)
        bench.endpoint.close(bench.second)
        #expect(bench.endpoint.servedClient.preparedWrites.count == 0)
    }

    @Test("writes prepared while the application decides belong to the next execution")
    func preparedWhileExecuting() throws {
        var bench = try EndpointBench()
        _ = bench.receive("16 03 00 00 00 01", on: bench.first)
        #expect(bench.receive("18 01", on: bench.first) == "")
        let token = try #require(bench.token)
        #expect(bench.receive("16 03 00 00 00 02", on: bench.second) == "17 03 00 00 00 02")
        let asked = bench.endpoint.preparedWrites(for: token)
        #expect((0..<asked.count).map { Array(asked.value(at: $0)) } == [[1]])
        #expect(try bench.accept(token) == "19")
        #expect(bench.endpoint.preparedWrites(for: token).count == 0)
        #expect(bench.receive("18 01", on: bench.second) == "")
        let next = try #require(bench.token)
        let rest = bench.endpoint.preparedWrites(for: next)
        #expect((0..<rest.count).map { Array(rest.value(at: $0)) } == [[2]])
        #expect(try bench.refuse(next, with: .valueNotAllowed) == "01 18 00 00 13")
        #expect(bench.endpoint.servedClient.preparedWrites.count == 0)
    }

    @Test("a request on a closed channel no longer needs an answer")
    func closing() throws {
        var bench = try EndpointBench()
        _ = bench.receive("0A 03 00", on: bench.second)
        let token = try #require(bench.token)
        #expect(bench.endpoint.channels.map(\.pendingRequest) == [nil, token])
        #expect(bench.endpoint.close(bench.second) == token)
        #expect(bench.endpoint.close(bench.second) == nil)
        #expect(throws: GATTServerError.staleToken) { try bench.answer(token, "01") }
        #expect(bench.receive("0A 05 00", on: bench.second) == "")
        #expect(bench.outcome == .ignored)
        // A channel that is opened later has an identifier of its own.
        let third = bench.endpoint.open(ATTBearer(channelMTU: 100))
        #expect(third != bench.second && third != bench.first)
        #expect(bench.endpoint.bearer(of: third)?.mtu == 100)
        #expect(bench.endpoint.bearer(of: bench.second) == nil)
        #expect(bench.receive("0A 05 00", on: third) == "0B CC")
    }
}
