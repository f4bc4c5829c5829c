import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Command queue")
struct CommandQueueTests {
    static let reset = bytes("01 03 0C 00")
    static let rand = bytes("01 18 20 00")

    @Test("one command is sent at first, then up to the number that the controller accepts")
    func window() throws {
        var bench = CommandBench()
        for token in 1...4 as ClosedRange<UInt64> { try bench.enqueue(LERand(), token) }
        #expect(bench.transmit() == [Self.rand])
        #expect(bench.transmit() == [])
        #expect(bench.complete(.leRand, credits: 2) == .init(token: 1, opcode: .leRand))
        #expect(bench.transmit() == [Self.rand, Self.rand])
        #expect(bench.complete(.leRand, credits: 1) == .init(token: 2, opcode: .leRand))
        #expect(bench.transmit() == [])
        #expect(bench.complete(.leRand, credits: 1) == .init(token: 3, opcode: .leRand))
        #expect(bench.transmit() == [Self.rand])
        #expect(bench.complete(.leRand, credits: 1) == .init(token: 4, opcode: .leRand))
        #expect(bench.queue.isEmpty)
        #expect(bench.queue.nextDeadline == nil)
    }

    @Test("a completion carries status and return parameters")
    func completion() throws {
        var queue = CommandQueue()
        var outbox = PacketQueue()
        try queue.enqueue(LERand(), token: 7, at: .zero)
        queue.transmit(into: &outbox, at: .zero)
        let returned = bytes("00 01 02 03 04 05 06 07 08")
        let event = CommandComplete(opcode: .leRand, returnParameters: returned.span)
        guard let completion = queue.receive(event, at: .zero) else {
            Issue.record("not matched")
            return
        }
        #expect(completion.token == 7)
        #expect(completion.status == .success)
        #expect(completion.isComplete == true)
        let number = try completion.decodeReturnParameters(of: LERand.self).randomNumber
        #expect(number == 0x0807_0605_0403_0201)
        #expect(throws: DecodingFailure.self) { _ = try completion.decodeReturnParameters(of: LEReadPHY.self) }
    }

    @Test("commands waiting for one connection are removed, and the others keep their order", arguments: [0, 1, 2])
    func takenOut(before: Int) throws {
        var bench = CommandBench()
        // The ring has gone around by so much, and further with each command.
        for _ in 0..<before * 31 {
            try bench.enqueue(LERand(), 9)
            _ = bench.transmit()
            _ = bench.complete(.leRand, credits: 1)
        }
        try bench.enqueue(LERand(), 1)
        _ = bench.transmit()
        try bench.enqueue(Disconnect(connectionHandle: 0x40), 2)
        try bench.enqueue(ReadRSSI(connectionHandle: 0x41), 3)
        try bench.enqueue(LELongTermKeyRequestReply(connectionHandle: 0x40, longTermKey: 1), 4)
        try bench.enqueue(LESetAdvertisingEnable(isEnabled: true), 5)
        #expect(bench.queue.popWaiting(for: 0x40) == .init(token: 2, opcode: .disconnect))
        #expect(bench.queue.popWaiting(for: 0x40) == .init(token: 4, opcode: .leLongTermKeyRequestReply))
        #expect(bench.queue.popWaiting(for: 0x40) == nil)
        // What has been sent is answered, or taken back.
        #expect(bench.queue.takeBack(.disconnect, at: bench.now) == nil)
        #expect(bench.queue.takeBack(.leRand, at: bench.now) == .init(token: 1, opcode: .leRand))
        #expect(bench.transmit() == [bytes("01 05 14 02 41 00")])
        #expect(bench.complete(.readRSSI, credits: 1) == .init(token: 3, opcode: .readRSSI))
        #expect(bench.transmit() == [bytes("01 0A 20 01 01")])
        #expect(bench.complete(.leSetAdvertisingEnable, credits: 1) == .init(token: 5, opcode: .leSetAdvertisingEnable))
        #expect(bench.queue.isEmpty)
    }

    @Test("Command Status ends a command too")
    func status() throws {
        var bench = CommandBench()
        try bench.enqueue(LEReadRemoteFeatures(connectionHandle: 0x40), 1)
        try bench.enqueue(LERand(), 2)
        _ = bench.transmit()
        let event = CommandStatus(status: .commandDisallowed, numHCICommandPackets: 1, opcode: .leReadRemoteFeatures)
        guard let completion = bench.queue.receive(event, at: bench.now) else {
            Issue.record("not matched")
            return
        }
        #expect(completion.token == 1)
        #expect(completion.status == .commandDisallowed)
        #expect(completion.isComplete == false)
        #expect(bench.transmit() == [Self.rand])
    }

    @Test("H7: a reply to another command, or a second reply, completes nothing")
    func unmatched() throws {
        var bench = CommandBench()
        try bench.enqueue(Reset(), 1)
        _ = bench.transmit()
        #expect(bench.complete(.leRand, credits: 1) == nil)
        #expect(bench.complete(.reset, credits: 1) == .init(token: 1, opcode: .reset))
        #expect(bench.complete(.reset, credits: 1) == nil)
        #expect(bench.queue.unmatchedReplies == 2)
    }

    @Test("H7: a reply after the timeout is discarded")
    func late() throws {
        var bench = CommandBench()
        try bench.enqueue(Reset(), 1)
        _ = bench.transmit()
        #expect(bench.queue.nextDeadline == bench.at(.seconds(2)))
        bench.now = bench.at(.milliseconds(1999))
        #expect(bench.queue.popExpired(at: bench.now) == nil)
        bench.now = bench.at(.milliseconds(1))
        #expect(bench.queue.popExpired(at: bench.now) == .init(token: 1, opcode: .reset))
        #expect(bench.queue.popExpired(at: bench.now) == nil)
        #expect(bench.queue.nextDeadline == nil)
        #expect(bench.complete(.reset, credits: 1) == nil)
        try bench.enqueue(LERand(), 2)
        #expect(bench.transmit() == [Self.rand])
    }

    @Test("H7: return parameters without a status are not a success")
    func noStatus() throws {
        var bench = CommandBench()
        try bench.enqueue(Reset(), 1)
        _ = bench.transmit()
        let event = CommandComplete(opcode: .reset, returnParameters: Span())
        let status = bench.queue.receive(event, at: bench.now)?.status
        #expect(status == .unspecifiedError)
    }

    @Test("opcode 0 only reports how many commands the controller accepts")
    func noOperation() throws {
        var bench = CommandBench()
        #expect(bench.complete(.none, credits: 0) == nil)
        try bench.enqueue(Reset(), 1)
        #expect(bench.transmit() == [])
        #expect(bench.complete(.none, credits: 1) == nil)
        #expect(bench.transmit() == [Self.reset])
        #expect(bench.queue.unmatchedReplies == 0)
    }

    @Test("H7: if the controller accepts no commands, each one times out")
    func noCredits() throws {
        var bench = CommandBench()
        try bench.enqueue(Reset(), 1)
        _ = bench.transmit()
        #expect(bench.complete(.reset, credits: 0) == .init(token: 1, opcode: .reset))
        bench.now = bench.at(.seconds(1))
        try bench.enqueue(LERand(), 2)
        try bench.enqueue(LERand(), 3, timeout: .seconds(5))
        #expect(bench.transmit() == [])
        #expect(bench.queue.nextDeadline == bench.at(.seconds(2)))
        bench.now = bench.at(.seconds(2))
        #expect(bench.queue.popExpired(at: bench.now) == .init(token: 2, opcode: .leRand))
        #expect(bench.queue.popExpired(at: bench.now) == nil)
        #expect(bench.queue.nextDeadline == bench.at(.seconds(3)))
        bench.now = bench.at(.seconds(3))
        #expect(bench.queue.popExpired(at: bench.now) == .init(token: 3, opcode: .leRand))
        #expect(bench.queue.isEmpty)
    }

    @Test("a queued command does not time out while the ones before it are being answered")
    func waitingForTurn() throws {
        var bench = CommandBench()
        for token in 1...10 as ClosedRange<UInt64> { try bench.enqueue(LERand(), token) }
        for token in 1...10 as ClosedRange<UInt64> {
            #expect(bench.transmit() == [Self.rand])
            bench.now = bench.at(.milliseconds(1900))
            #expect(bench.queue.popExpired(at: bench.now) == nil)
            #expect(bench.complete(.leRand, credits: 1) == .init(token: token, opcode: .leRand))
        }
    }

    @Test("a full queue rejects commands until one is sent")
    func full() throws {
        var bench = CommandBench(capacity: 2)
        try bench.enqueue(Reset(), 1)
        try bench.enqueue(LERand(), 2)
        #expect(throws: CommandQueueFull()) { try bench.enqueue(Reset(), 3) }
        #expect(bench.transmit() == [Self.reset])
        try bench.enqueue(Reset(), 4)
        #expect(throws: CommandQueueFull()) { try bench.enqueue(Reset(), 5) }
        #expect(bench.queue.waiting == 2)
    }

    @Test("commands keep their order and bytes as the ring wraps around")
    func ring() throws {
        var bench = CommandBench(capacity: 3)
        var next: UInt64 = 0
        try bench.enqueue(LESetAdvertisingEnable(isEnabled: true), next)
        for token in 0..<50 as Range<UInt64> {
            next += 1
            if next % 2 == 0 {
                try bench.enqueue(LESetAdvertisingEnable(isEnabled: true), next)
            } else {
                try bench.enqueue(Reset(), next)
            }
            #expect(bench.transmit() == [token % 2 == 0 ? bytes("01 0A 20 01 01") : Self.reset])
            let opcode: HCIOpcode = token % 2 == 0 ? .leSetAdvertisingEnable : .reset
            #expect(bench.complete(opcode, credits: 1) == .init(token: token, opcode: opcode))
        }
    }

    @Test("removing everything resets the queue")
    func popAny() throws {
        var bench = CommandBench()
        for token in 1...3 as ClosedRange<UInt64> { try bench.enqueue(LERand(), token) }
        _ = bench.transmit()
        #expect(bench.complete(.none, credits: 0) == nil)
        var tokens: [UInt64] = []
        while let command = bench.queue.popAny() { tokens.append(command.token) }
        #expect(tokens == [1, 2, 3])
        #expect(bench.queue.isEmpty && bench.queue.nextDeadline == nil)
        try bench.enqueue(Reset(), 4)
        #expect(bench.transmit() == [Self.reset])
    }
}

/// A queue, its outbox and a clock.
struct CommandBench {
    var queue: CommandQueue
    var outbox = PacketQueue()
    var now = Instant.zero

    init(capacity: Int = 64) { queue = CommandQueue(capacity: capacity) }

    func at(_ duration: Duration) -> Instant { now.advanced(by: duration) }

    mutating func enqueue(_ command: some HCICommand, _ token: UInt64, timeout: Duration? = nil) throws {
        try queue.enqueue(command, token: token, timeout: timeout, at: now)
    }

    mutating func transmit() -> [[UInt8]] {
        queue.transmit(into: &outbox, at: now)
        var packets: [[UInt8]] = []
        while let packet = outbox.popFirst() { packets.append(packet) }
        return packets
    }

    /// Passes in a Command Complete event, and returns which command it answers.
    mutating func complete(_ opcode: HCIOpcode, credits: UInt8) -> AbandonedCommand? {
        let returned: [UInt8] = [0]
        let event = CommandComplete(
            numHCICommandPackets: credits, opcode: opcode, returnParameters: returned.span)
        guard let completion = queue.receive(event, at: now) else { return nil }
        return AbandonedCommand(token: completion.token, opcode: completion.opcode)
    }
}
