import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct StreamTransportTests {
    private func transport(_ socket: ScriptedSocket, outputLimit: Int = 4096) -> StreamTransport {
        StreamTransport(name: "test", fileDescriptor: 7, receiver: .host, calls: socket.calls, outputLimit: outputLimit)
    }

    @Test("packets are delivered whole, however the stream is split", arguments: 1...27)
    func chunks(size: Int) throws {
        let stream = resetComplete + aclData + resetComplete
        let chunks = stride(from: 0, to: stream.count, by: size).map {
            ScriptedSocket.Answer.bytes(Array(stream[$0..<min($0 + size, stream.count)]))
        }
        let transport = transport(ScriptedSocket(incoming: chunks))
        var received: [[UInt8]] = []
        for _ in chunks { try transport.receive { received.append(Array($0)) } }
        #expect(received == [resetComplete, aclData, resetComplete])
    }

    @Test("packets cross a pair intact, in both directions")
    func pair() throws {
        let (host, controller) = try StreamTransport.pair()
        for packet in [reset, aclData, reset] { try host.send(packet) }
        #expect(try receive(3, from: controller) == [reset, aclData, reset])
        try controller.send(resetComplete)
        #expect(try receive(1, from: host) == [resetComplete])
    }

    @Test(
        "H1: a byte that starts no packet is a permanent fault", arguments: [0x00, 0x01, 0x06, 0x55, 0xFF] as [UInt8])
    func malformed(type: UInt8) throws {
        let transport = transport(ScriptedSocket(incoming: [.bytes(resetComplete + [type]), .bytes(resetComplete)]))
        var received: [[UInt8]] = []
        for _ in 0..<2 {
            let failure = reason { () throws(TransportError) in try transport.receive { received.append(Array($0)) } }
            #expect(failure == .malformedStream(.unexpectedIndicator(type)))
        }
        #expect(received == [resetComplete])
    }

    @Test("a packet that the kernel accepts in pieces arrives intact and in order")
    func partialWrites() throws {
        let socket = ScriptedSocket(outgoing: [.fails(EINTR), .takes(3)])
        let transport = transport(socket)
        try transport.send(aclData)
        try transport.send(reset)
        #expect(transport.pendingByteCount == aclData.count - 3 + reset.count)
        #expect(transport.wantsWrite)
        socket.allow([.takes(1), .takes(100)])
        try transport.flush()
        #expect(!transport.wantsWrite)
        #expect(Array(socket.written.joined()) == aclData + reset)
    }

    @Test("packets that are ready together are sent in one call")
    func queue() throws {
        let socket = ScriptedSocket(outgoing: [.takesAll])
        var queue = PacketQueue()
        queue.append(reset)
        queue.append(aclData)
        try transport(socket).send(&queue)
        #expect(socket.written == [reset + aclData])
        #expect(queue.isEmpty)
    }

    @Test("pending packets are bounded; a packet over the limit is rejected entirely")
    func outputFull() throws {
        let socket = ScriptedSocket(outgoing: [.takes(1)])
        let transport = transport(socket, outputLimit: 10)
        try transport.send(reset)
        try transport.send(reset)
        #expect(transport.pendingByteCount == 7)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .outputFull(pending: 7))
        socket.allow([.takesAll])
        try transport.flush()
        #expect(Array(socket.written.joined()) == reset + reset)
    }

    @Test("a queue that reaches the limit sends what fits and keeps the rest")
    func queueMeetsBound() throws {
        let socket = ScriptedSocket(outgoing: [.takesAll])
        let transport = transport(socket, outputLimit: 10)
        var queue = PacketQueue()
        for _ in 0..<3 { queue.append(reset) }
        #expect(reason { () throws(TransportError) in try transport.send(&queue) } == .outputFull(pending: 8))
        #expect(queue.count == 1)
        #expect(socket.written == [reset + reset])
    }

    @Test("a peer that does not read fills real buffers, and receives everything once it does")
    func realBackPressure() throws {
        let (host, controller) = try StreamTransport.pair()
        let packet = [0x02, 0x40, 0x20, 0xFC, 0x03] + [UInt8](repeating: 0x5A, count: 0x3FC)
        var sent = 0
        while !host.wantsWrite {
            try host.send(packet)
            sent += 1
        }
        let loop = try EventLoop()
        try loop.add(host.fileDescriptor, token: 0, for: .write)
        try loop.add(controller.fileDescriptor, token: 1, for: .read)
        var received = 0
        while received < sent {
            let events = loop.wait(until: hangGuard())
            try #require(!events.isEmpty, "nothing came")
            for event in events {
                switch event.token {
                case 0:
                    try host.flush()
                    if !host.wantsWrite { loop.remove(host.fileDescriptor) }
                default: try controller.receive { received += Array($0) == packet ? 1 : 0 }
                }
            }
        }
        #expect(received == sent)
        #expect(!host.wantsWrite)
    }

    @Test("the end of the stream is an error, after the packets before it, even inside a packet")
    func closedByPeer() throws {
        let transport = transport(ScriptedSocket(incoming: [.bytes(resetComplete + [0x04, 0x0E]), .bytes([])]))
        var received: [[UInt8]] = []
        try transport.receive { received.append(Array($0)) }
        #expect(received == [resetComplete])
        #expect(reason { () throws(TransportError) in try transport.receive { _ in } } == .closedByPeer)
    }

    @Test("a broken connection is an error, not a signal")
    func broken() throws {
        let (host, controller) = try StreamTransport.pair()
        controller.close()
        try waitForHangUp(of: host.fileDescriptor)
        #expect(reason { () throws(TransportError) in try host.send(reset) } == .closedByPeer)
    }

    @Test("a closed transport throws, closes its socket once, and delivers nothing more")
    func closed() throws {
        let socket = ScriptedSocket(incoming: [.bytes(resetComplete + resetComplete)])
        let transport = transport(socket)
        var count = 0
        try transport.receive { _ in
            count += 1
            transport.close()
        }
        transport.close()
        #expect(count == 1)
        #expect(socket.closed == [7])
        #expect(reason { () throws(TransportError) in try transport.receive { _ in } } == .closed)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .closed)
        #expect(reason { () throws(TransportError) in try transport.flush() } == .closed)
    }
}
