import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct PacketTransportTests {
    private func transport(_ socket: ScriptedSocket, outputLimit: Int = 4096) -> PacketTransport {
        PacketTransport(name: "test", fileDescriptor: 7, calls: socket.calls, outputLimit: outputLimit)
    }

    @Test("packets cross a pair intact, in both directions, including the longest")
    func pair() throws {
        let (host, controller) = try PacketTransport.pair()
        let longest = [UInt8](repeating: 0x02, count: PacketTransport.longestPacket)
        for packet in [reset, aclData, longest] { try host.send(packet) }
        #expect(try receive(3, from: controller) == [reset, aclData, longest])
        try controller.send(resetComplete)
        #expect(try receive(1, from: host) == [resetComplete])
    }

    @Test("a queue of packets is sent as separate packets")
    func queue() throws {
        let (host, controller) = try PacketTransport.pair()
        var queue = PacketQueue()
        queue.append(reset)
        queue.append(aclData)
        try host.send(&queue)
        #expect(queue.isEmpty)
        #expect(try receive(2, from: controller) == [reset, aclData])
    }

    @Test("calls interrupted by a signal are retried")
    func interrupted() throws {
        let socket = ScriptedSocket(
            incoming: [.fails(EINTR), .bytes(reset), .fails(EINTR), .bytes(aclData)],
            outgoing: [.fails(EINTR), .fails(EINTR), .takesAll])
        let transport = transport(socket)
        var received: [[UInt8]] = []
        try transport.receive { received.append(Array($0)) }
        #expect(received == [reset, aclData])
        try transport.send(reset)
        #expect(socket.written == [reset])
        #expect(!transport.wantsWrite)
    }

    @Test("packets that the kernel does not accept stay pending, in order and with their boundaries")
    func backPressure() throws {
        let socket = ScriptedSocket(outgoing: [.takesAll])
        let transport = transport(socket)
        for packet in [reset, aclData, resetComplete] { try transport.send(packet) }
        #expect(socket.written == [reset])
        #expect(transport.wantsWrite)

        // Space for one: the rest stays pending, and new packets follow it.
        socket.allow([.takesAll])
        try transport.flush()
        #expect(socket.written == [reset, aclData])
        try transport.send(reset)
        #expect(transport.wantsWrite)

        socket.allow([.takesAll, .takesAll])
        try transport.flush()
        #expect(socket.written == [reset, aclData, resetComplete, reset])
        #expect(!transport.wantsWrite)
        #expect(transport.pendingByteCount == 0)
    }

    @Test("pending packets are bounded; a packet over the limit is rejected entirely and the rest is kept")
    func outputFull() throws {
        let socket = ScriptedSocket()
        let transport = transport(socket, outputLimit: 20)
        try transport.send(reset)
        try transport.send(reset)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .outputFull(pending: 16))
        socket.allow([.takesAll, .takesAll])
        try transport.flush()
        #expect(socket.written == [reset, reset])
        socket.allow([.takesAll])
        try transport.send(aclData)
        #expect(socket.written.last == aclData)
    }

    @Test("a queue that reaches the limit keeps what was not accepted")
    func queueMeetsBound() throws {
        let transport = transport(ScriptedSocket(), outputLimit: 20)
        var queue = PacketQueue()
        for _ in 0..<3 { queue.append(reset) }
        #expect(reason { () throws(TransportError) in try transport.send(&queue) } == .outputFull(pending: 16))
        #expect(queue.count == 1)
    }

    @Test("a flood does not starve other descriptors")
    func boundedReceive() throws {
        let flood = Array(repeating: ScriptedSocket.Answer.bytes(reset), count: PacketTransport.packetsPerReceive + 1)
        let transport = transport(ScriptedSocket(incoming: flood))
        var count = 0
        try transport.receive { _ in count += 1 }
        #expect(count == PacketTransport.packetsPerReceive)
        try transport.receive { _ in count += 1 }
        #expect(count == PacketTransport.packetsPerReceive + 1)
    }

    @Test("H1: a packet longer than HCI allows is a fault, and nothing is read past the buffer")
    func tooLong() throws {
        let count = PacketTransport.longestPacket + 1
        let transport = transport(
            ScriptedSocket(incoming: [.bytes(reset), .bytes([UInt8](repeating: 4, count: count))]))
        var received: [[UInt8]] = []
        let failure = reason { () throws(TransportError) in try transport.receive { received.append(Array($0)) } }
        #expect(failure == .invalidPacketLength(count))
        #expect(received == [reset])
    }

    @Test("packets of an invalid length are not sent", arguments: [0, PacketTransport.longestPacket + 1])
    func invalidLength(count: Int) {
        let socket = ScriptedSocket(outgoing: [.takesAll])
        let transport = transport(socket)
        let packet = [UInt8](repeating: 2, count: count)
        #expect(reason { () throws(TransportError) in try transport.send(packet) } == .invalidPacketLength(count))
        #expect(socket.written.isEmpty)
    }

    @Test("a peer that closes is an error, after everything it sent was delivered")
    func closedByPeer() throws {
        let (host, controller) = try PacketTransport.pair()
        try controller.send(resetComplete)
        controller.close()
        try waitForHangUp(of: host.fileDescriptor)
        var received: [[UInt8]] = []
        let failure = reason { () throws(TransportError) in try host.receive { received.append(Array($0)) } }
        #expect(received == [resetComplete])
        #expect(failure == .closedByPeer)
        // Not SIGPIPE, which would end the process.
        #expect(reason { () throws(TransportError) in try host.send(reset) } == .closedByPeer)
    }

    @Test("a closed transport throws, closes its socket once, and delivers nothing more")
    func closed() throws {
        let socket = ScriptedSocket(incoming: [.bytes(reset), .bytes(reset)])
        let transport = transport(socket)
        try transport.send(reset)
        var count = 0
        try transport.receive { _ in
            count += 1
            transport.close()
        }
        transport.close()
        #expect(count == 1)
        #expect(socket.closed == [7])
        #expect(transport.fileDescriptor == -1)
        #expect(!transport.wantsWrite)
        #expect(reason { () throws(TransportError) in try transport.receive { _ in } } == .closed)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .closed)
        #expect(reason { () throws(TransportError) in try transport.flush() } == .closed)
    }

    @Test("a packet may be answered while it is being delivered")
    func answering() throws {
        let socket = ScriptedSocket(incoming: [.bytes(reset)], outgoing: [.takesAll])
        let transport = transport(socket)
        try transport.receive { _ in try? transport.send(resetComplete) }
        #expect(socket.written == [resetComplete])
    }
}
