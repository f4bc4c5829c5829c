import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import HCITransport

/// H4 on a line that may be joined at any time (Core 5.4, Vol 4, Part A, 4).
struct ResetSynchronizerTests {
    private func transport(
        _ socket: ScriptedSocket, as receiver: H4Framer.Receiver, sendsZeros: Bool = false
    ) -> StreamTransport {
        StreamTransport(
            name: "test", fileDescriptor: 7, receiver: receiver, calls: socket.calls,
            synchronizer: ResetSynchronizer(receiver: receiver, sendsZeros: sendsZeros))
    }

    /// The packets received from a stream in pieces of `size` bytes.
    private func received(
        _ stream: [UInt8], in size: Int, as receiver: H4Framer.Receiver, after sent: [UInt8]? = nil
    ) throws -> [[UInt8]] {
        let pieces = stride(from: 0, to: stream.count, by: size).map {
            ScriptedSocket.Answer.bytes(Array(stream[$0..<min($0 + size, stream.count)]))
        }
        let transport = transport(ScriptedSocket(incoming: pieces, outgoing: [.takesAll]), as: receiver)
        if let sent { try transport.send(sent) }
        var packets: [[UInt8]] = []
        for _ in pieces { try transport.receive { packets.append(Array($0)) } }
        return packets
    }

    @Test(
        "H1: after sending Reset, a host ignores everything before its completion",
        arguments: [
            [], [0x00], [0x04], [0x04, 0x0E], [0x04, 0x0E, 0x04, 0x01, 0x03], [0x04, 0x0E, 0x04, 0x04, 0x0E],
            [0x04, 0x0E, 0x04, 0x01, 0x09, 0x10, 0x00], [0xFF, 0xFE, 0x02, 0x40, 0x20, 0xFF, 0xFF], aclData,
            [UInt8](repeating: 0x04, count: 300),
        ] as [[UInt8]])
    func answerIsFound(garbage: [UInt8]) throws {
        let stream = garbage + resetComplete + aclData + resetComplete
        for size in [1, 2, 3, 7, 8, 400] {
            #expect(
                try received(stream, in: size, as: .host, after: reset) == [resetComplete, aclData, resetComplete],
                "pieces of \(size)")
        }
    }

    @Test("any completion of Reset counts, whatever its status and number of commands")
    func anyAnswer() throws {
        let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x07, 0x03, 0x0C, 0x03]
        #expect(try received([0xAA] + answer, in: 100, as: .host, after: reset) == [answer])
    }

    @Test("before a host has sent anything, received bytes are ignored")
    func unasked() throws {
        let socket = ScriptedSocket(
            incoming: [.bytes(resetComplete + aclData), .bytes(resetComplete)], outgoing: [.takesAll])
        let transport = transport(socket, as: .host)
        var packets: [[UInt8]] = []
        try transport.receive { packets.append(Array($0)) }
        #expect(packets.isEmpty)
        try transport.send(reset)
        try transport.receive { packets.append(Array($0)) }
        #expect(packets == [resetComplete])
    }

    @Test("a host that does not start with Reset is synchronized at once")
    func otherBeginning() throws {
        #expect(try received(aclData, in: 100, as: .host, after: aclData) == [aclData])
    }

    @Test("a host that loses sync later cannot regain it")
    func hostLosesStep() throws {
        let socket = ScriptedSocket(
            incoming: [.bytes(resetComplete + [0xFF]), .bytes(resetComplete)], outgoing: [.takesAll])
        let transport = transport(socket, as: .host)
        try transport.send(reset)
        for _ in 0..<2 {
            let failure = reason { () throws(TransportError) in try transport.receive { _ in } }
            #expect(failure == .malformedStream(.unexpectedIndicator(0xFF)))
        }
    }

    @Test("H1: a controller that has lost sync regains it at Reset", arguments: 1...40)
    func controllerFindsStep(size: Int) throws {
        // A truncated packet, bytes that complete it and more, and then a well-behaved host.
        let start = Array(aclData.prefix(7))
        let stream = reset + start + [UInt8](repeating: 0, count: 20) + reset + aclData
        let cut = start + [UInt8](repeating: 0, count: 6)
        #expect(try received(stream, in: size, as: .controller) == [reset, cut, reset, aclData])
    }

    @Test("a controller is synchronized from the first byte")
    func controllerBegins() throws {
        #expect(try received(aclData + reset, in: 5, as: .controller) == [aclData, reset])
    }

    @Test("zeros are sent only before the first Reset, and complete a truncated command")
    func zeros() throws {
        let socket = ScriptedSocket()
        let host = transport(socket, as: .host, sendsZeros: true)
        try host.send(reset)
        try host.send(reset)
        socket.allow([.takesAll])
        try host.flush()
        let sent = Array(socket.written.joined())
        #expect(sent == [UInt8](repeating: 0, count: 258) + reset + reset)

        // The worst case: of the longest command, nothing but the indicator had been sent.
        let command: [UInt8] = [0x01]
        let packets = try received(command + sent, in: 64, as: .controller)
        #expect(packets.suffix(2) == [reset, reset])
        #expect(packets.count == 3, "the command that was cut short, and the two")
    }

    @Test("zeros are sent before a queue that begins with Reset")
    func zerosBeforeQueue() throws {
        let socket = ScriptedSocket(outgoing: [.takesAll])
        let host = transport(socket, as: .host, sendsZeros: true)
        var queue = PacketQueue()
        queue.append(reset)
        try host.send(&queue)
        #expect(socket.written == [[UInt8](repeating: 0, count: 258) + reset])
    }

    @Test(
        "H1: Reset is found after any bytes, and at most the length of the packet is buffered",
        arguments: 1...200 as ClosedRange<UInt64>)
    func anyBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let command = reset
        for (receiver, packet) in [(H4Framer.Receiver.host, resetComplete), (.controller, reset)] {
            var synchronizer = ResetSynchronizer(receiver: receiver)
            switch receiver {
            case .host: _ = synchronizer.prepare(command.span)
            case .controller: _ = synchronizer.loseSync()
            }
            // Many of the bytes are those of the packet itself.
            let garbage = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                packet.randomElement(using: &generator) ?? 0
            }
            var end: Int?
            for byte in garbage + packet where end == nil {
                let bytes = [byte]
                end = synchronizer.search(bytes.span)
                #expect(synchronizer.found.count <= packet.count)
            }
            #expect(end == 1)
            #expect(synchronizer.isSynchronized)
            #expect(
                synchronizer.found == packet || receiver == .host && synchronizer.found.prefix(3) == packet.prefix(3))
        }
    }
}
