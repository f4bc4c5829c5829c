import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP signalling: Connection Parameter Update")
struct ConnectionParameterUpdateTests {
    static let wanted = ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 4, timeout: 500)
    var writer = ByteWriter()

    /// The outcome of a payload, and what the channel writes.
    mutating func receive(_ text: String, _ channel: inout SignallingChannel) -> (SignallingOutcome, [UInt8]) {
        writer.removeAll()
        let outcome = channel.receive(bytes(text).span, into: &writer)
        return (outcome, writer.bytes)
    }

    // MARK: As the central

    @Test("L2CAP/LE/CPU/BV-02: a central accepts valid parameters")
    mutating func accepted() {
        var channel = SignallingChannel(role: .central)
        let (outcome, answer) = receive("12 01 08 00 18 00 28 00 04 00 F4 01", &channel)
        #expect(outcome == .connectionParameterUpdateAccepted(Self.wanted))
        #expect(answer == bytes("13 01 02 00 00 00"))
    }

    @Test(
        "L8, L2CAP/LE/CPU/BI-01: a central rejects invalid parameters",
        arguments: [
            "64 00 50 00 00 00 0A 00",  // shortest interval above the longest, timeout too small
            "05 00 28 00 00 00 F4 01",  // interval below 7.5 ms
            "18 00 81 0C 00 00 80 0C",  // interval above 4 s
            "28 00 18 00 00 00 F4 01",  // shortest interval above the longest
            "06 00 06 00 F4 01 80 0C",  // latency 500
            "06 00 06 00 00 00 09 00",  // timeout below 100 ms
            "06 00 06 00 00 00 81 0C",  // timeout above 32 s
            "28 00 28 00 04 00 32 00",  // timeout no longer than the latency allows for
            "FF FF FF FF FF FF FF FF", "00 00 00 00 00 00 00 00",
        ])
    mutating func rejected(_ data: String) throws {
        var channel = SignallingChannel(role: .central)
        let (outcome, answer) = receive("12 01 08 00" + data, &channel)
        var reader = ByteReader(bytes(data).span)
        #expect(outcome == .connectionParameterUpdateRejected(try reader.readConnectionParameters()))
        #expect(answer == bytes("13 01 02 00 01 00"))
    }

    @Test(
        "a central grants parameters that its owner accepts, and narrows the intervals to the owner's range",
        arguments: [
            (.init(), (24, 40)),
            (.init(intervals: 30...36), (30, 36)),
            (.init(intervals: 6...24), (24, 24)),
            (.init(intervals: 40...3200), (40, 40)),
            (.init(intervals: 6...23), nil),
            (.init(intervals: 41...3200), nil),
            (.init(maximumLatency: 4), (24, 40)),
            (.init(maximumLatency: 3), nil),
            (.init(timeouts: 500...500), (24, 40)),
            (.init(timeouts: 10...499), nil),
        ] as [(AcceptableConnectionParameters, (UInt16, UInt16)?)])
    mutating func policy(_ acceptable: AcceptableConnectionParameters, _ intervals: (UInt16, UInt16)?) {
        var channel = SignallingChannel(role: .central, acceptableParameters: acceptable)
        let (outcome, answer) = receive("12 FF 08 00 18 00 28 00 04 00 F4 01", &channel)
        if let (shortest, longest) = intervals {
            let granted = ConnectionParameters(intervalMin: shortest, intervalMax: longest, latency: 4, timeout: 500)
            #expect(outcome == .connectionParameterUpdateAccepted(granted))
            #expect(answer == bytes("13 FF 02 00 00 00"))
        } else {
            #expect(outcome == .connectionParameterUpdateRejected(Self.wanted))
            #expect(answer == bytes("13 FF 02 00 01 00"))
        }
    }

    @Test("L8, L2CAP/LE/CPU/BI-02: a peripheral rejects the request as not understood")
    mutating func requestToPeripheral() {
        var channel = SignallingChannel(role: .peripheral)
        let (outcome, answer) = receive("12 01 08 00 18 00 28 00 04 00 F4 01", &channel)
        #expect(outcome == .rejected(.commandNotUnderstood))
        #expect(answer == bytes("01 01 02 00 00 00"))
    }

    // MARK: As the peripheral

    @Test(
        "L2CAP/LE/CPU/BV-01: a peripheral's request ends with the central's answer",
        arguments: [
            ("13 01 02 00 00 00", .accepted), ("13 01 02 00 01 00", .rejected), ("01 01 02 00 00 00", .notSupported),
            ("01 01 04 00 01 00 17 00", .notSupported), ("01 01 00 00", .notSupported),
            // Reserved results: an answer, and no agreement.
            ("13 01 02 00 02 00", .rejected), ("13 01 02 00 FF FF", .rejected),
        ] as [(String, ConnectionParameterUpdateEnd)])
    mutating func answered(_ response: String, _ end: ConnectionParameterUpdateEnd) throws {
        var channel = SignallingChannel(role: .peripheral)
        try channel.requestConnectionParameterUpdate(Self.wanted, at: .zero, into: &writer)
        #expect(writer.bytes == bytes("12 01 08 00 18 00 28 00 04 00 F4 01"))
        #expect(channel.nextDeadline == Instant(nanoseconds: 30_000_000_000))
        #expect(receive(response, &channel) == (.connectionParameterUpdateEnded(end), []))
        #expect(channel.nextDeadline == nil)
        // L12: the same answer again is unsolicited.
        #expect(receive(response, &channel) == (.ignored, []))
    }

    @Test(
        "L12: a response that does not match leaves the request pending",
        arguments: [
            "13 02 02 00 00 00", "13 00 02 00 00 00", "01 02 02 00 00 00",  // another identifier
            "13 01 01 00 00", "13 01 03 00 00 00 00", "13 01 02 00 00",  // malformed
            "15 01 0A 00 42 00 00 02 F7 00 03 00 00 00", "07 01 04 00 40 00 51 00",  // another command's
        ])
    mutating func notTheAnswer(_ response: String) throws {
        var channel = SignallingChannel(role: .peripheral)
        try channel.requestConnectionParameterUpdate(Self.wanted, at: .zero, into: &writer)
        #expect(receive(response, &channel) == (.ignored, []))
        #expect(channel.nextDeadline != nil)
        #expect(receive("13 01 02 00 00 00", &channel) == (.connectionParameterUpdateEnded(.accepted), []))
    }

    @Test("an unanswered request times out once, at its deadline")
    mutating func timeout() throws {
        var channel = SignallingChannel(role: .peripheral, responseTimeout: .seconds(5))
        let start = Instant(nanoseconds: 1_000)
        try channel.requestConnectionParameterUpdate(Self.wanted, at: start, into: &writer)
        let deadline = start.advanced(by: .seconds(5))
        #expect(channel.nextDeadline == deadline)
        #expect(channel.fire(at: Instant(nanoseconds: deadline.nanoseconds - 1)) == .ignored)
        #expect(channel.fire(at: deadline) == .connectionParameterUpdateEnded(.timedOut))
        #expect(channel.fire(at: deadline) == .ignored)
        #expect(channel.nextDeadline == nil)
        // An answer that arrives too late is ignored, and the next request has another identifier.
        #expect(receive("13 01 02 00 00 00", &channel) == (.ignored, []))
        writer.removeAll()
        try channel.requestConnectionParameterUpdate(Self.wanted, at: deadline, into: &writer)
        #expect(writer.bytes.prefix(2) == [0x12, 0x02])
        #expect(receive("13 01 02 00 00 00", &channel) == (.ignored, []))
    }

    @Test("a request that is not allowed fails, and nothing is written")
    mutating func refusedLocally() throws {
        var central = SignallingChannel(role: .central)
        #expect(throws: ConnectionParameterUpdateError.notPeripheral) {
            try central.requestConnectionParameterUpdate(Self.wanted, at: .zero, into: &writer)
        }
        var channel = SignallingChannel(role: .peripheral)
        var invalid = Self.wanted
        invalid.latency = 500
        #expect(throws: ConnectionParameterUpdateError.invalidParameters) {
            try channel.requestConnectionParameterUpdate(invalid, at: .zero, into: &writer)
        }
        #expect(writer.bytes == [])
        try channel.requestConnectionParameterUpdate(Self.wanted, at: .zero, into: &writer)
        writer.removeAll()
        #expect(throws: ConnectionParameterUpdateError.requestOutstanding) {
            try channel.requestConnectionParameterUpdate(Self.wanted, at: .zero, into: &writer)
        }
        #expect(writer.bytes == [])
    }

    @Test("identifiers run from 1 to 255, then wrap around")
    mutating func identifiers() throws {
        var channel = SignallingChannel(role: .peripheral)
        for round in 0..<600 {
            let identifier = UInt8(round % 255 + 1)
            writer.removeAll()
            try channel.requestConnectionParameterUpdate(Self.wanted, at: .zero, into: &writer)
            #expect(writer.bytes[1] == identifier)
            let answer = "13 \(hexadecimal(identifier)) 02 00 01 00"
            #expect(receive(answer, &channel) == (.connectionParameterUpdateEnded(.rejected), []))
        }
    }
}
