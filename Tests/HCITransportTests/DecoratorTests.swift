import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import HCITransport

/// Transports that stand before others.
struct DecoratorTests {
    private static func rates(_ set: (inout HCIFaultRates) -> Void) -> HCIFaultRates {
        var rates = HCIFaultRates.none
        set(&rates)
        return rates
    }

    @Test("a trace shows the packets that were received and accepted", arguments: [true, false])
    func trace(isHost: Bool) throws {
        let pair = try PacketTransport.pair()
        let (near, far) = isHost ? (pair.host, pair.controller) : (pair.controller, pair.host)
        var lines: [String] = []
        let traced = TracedTransport(near) { lines.append("\($1) \($0.hexadecimal())") }
        try traced.send(reset)
        try far.send(resetComplete)
        #expect(try receive(1, from: traced) == [resetComplete])
        let (us, them) = isHost ? ("host", "controller") : ("controller", "host")
        #expect(lines == ["\(them) 01 03 0C 00", "\(us) 04 0E 04 01 03 0C 00"])
        #expect(traced.name == near.name && traced.receiver == near.receiver)
    }

    @Test("without faults everything passes, in both directions, over packets and streams", arguments: [true, false])
    func clear(isStream: Bool) throws {
        let (near, far): (any HCITransport, any HCITransport)
        if isStream {
            (near, far) = try StreamTransport.pair()
        } else {
            (near, far) = try PacketTransport.pair()
        }
        let faulty = try FaultyTransport(near, HCIFaults(.none, seed: 1)) { Issue.record("\($0)") }
        try faulty.send(reset)
        #expect(try receive(1, from: far) == [reset])
        for _ in 0..<3 { try far.send(resetComplete) }
        #expect(try receive(3, from: faulty) == [resetComplete, resetComplete, resetComplete])
        far.close()
        #expect(try failure(of: faulty) == .closedByPeer)
    }

    @Test("delayed packets become readable when they are due, in both directions")
    func latency() throws {
        let (host, controller) = try PacketTransport.pair()
        let faulty = try FaultyTransport(host, latency: .milliseconds(2))
        let start = MonotonicClock.now
        try controller.send(resetComplete)
        try faulty.send(reset)
        // Both wait for the same descriptor: what is to be sent is sent while what comes is received.
        #expect(try receive(1, from: faulty) == [resetComplete])
        #expect(start.advanced(by: .milliseconds(2)) <= MonotonicClock.now)
        #expect(try receive(1, from: controller) == [reset])
    }

    @Test("each fault is reported, and the packets it affects are delivered")
    func faults() throws {
        let (host, controller) = try PacketTransport.pair()
        var reports: [HCIFault.Kind] = []
        let faults = HCIFaults(
            Self.rates {
                $0.doubledAnswers = 1
                $0.doubledData = 1
            }, seed: 1)
        let faulty = try FaultyTransport(host, faults) { reports.append($0.kind) }
        try controller.send(resetComplete)
        #expect(try receive(2, from: faulty) == [resetComplete, resetComplete])
        try faulty.send(aclData)
        #expect(try receive(2, from: controller) == [aclData, aclData])
        #expect(reports == [.doubledAnswer, .doubled])
    }

    @Test("a spontaneous reset sends the controller a Reset, whose answer the host never sees")
    func selfReset() throws {
        let (host, controller) = try PacketTransport.pair()
        let faulty = try FaultyTransport(host, HCIFaults(Self.rates { $0.resets = 1 }, seed: 1))
        try controller.send(aclData)
        let received = try receive(2, from: faulty)
        #expect(received[0] == aclData && received[1].prefix(3) == [0x04, 0x10, 0x01])
        #expect(try receive(1, from: controller) == [reset])
        try controller.send(resetComplete)
        try controller.send(aclData)
        #expect(try receive(1, from: faulty)[0] == aclData)
    }

    @Test("packets that a full transport does not accept are held, up to a limit, and sent when there is room")
    func full() throws {
        let socket = ScriptedSocket()
        let inner = PacketTransport(name: "test", fileDescriptor: 7, calls: socket.calls, outputLimit: 32)
        // Descriptor 7 is nobody's to watch: this one is only for the loop.
        let faulty = try FaultyTransport(
            WatchableTransport(inner), HCIFaults(Self.rates { $0.doubledData = 1 }, seed: 1))
        var count = 0
        let end = reason { () throws(TransportError) in
            while count < 10_000 {
                try faulty.send(aclData)
                count += 1
            }
        }
        guard case .outputFull(let pending) = end else {
            Issue.record("\(count) packets were accepted, and then: \(String(describing: end))")
            return
        }
        #expect(pending == faulty.pendingByteCount && count >= 256 && count <= 2 * HCIFaults.maximumHeldPackets)
        socket.allow(Array(repeating: .takesAll, count: 2 * count))
        for _ in 0..<(2 * count) where faulty.wantsWrite { try faulty.flush() }
        #expect(socket.written.count == 2 * count && faulty.pendingByteCount == 0)
        faulty.close()
        #expect(faulty.fileDescriptor == -1 && socket.closed == [7])
    }

    @Test("the receiver of a packet may close the transport")
    func closing() throws {
        let (host, controller) = try PacketTransport.pair()
        let faulty = try FaultyTransport(host, HCIFaults(Self.rates { $0.doubledEvents = 1 }, seed: 1))
        for _ in 0..<3 { try controller.send(bytes("04 3E 01 02")) }
        let loop = try EventLoop()
        try loop.add(faulty.fileDescriptor, token: 0, for: .read)
        _ = loop.wait(until: hangGuard())
        var count = 0
        try faulty.receive { _ in
            count += 1
            faulty.close()
        }
        #expect(count == 1)
        #expect(reason { () throws(TransportError) in try faulty.send(reset) } == .closed)
    }
}

/// A scripted transport with a descriptor that can be watched.
private final class WatchableTransport: TransportDecorator {
    let transport: any HCITransport
    private let waker: Waker

    init(_ transport: any HCITransport) throws {
        self.transport = transport
        waker = try Waker()
    }

    var fileDescriptor: Int32 { waker.fileDescriptor }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) { try transport.receive(deliver) }
    func send(_ packet: Span<UInt8>) throws(TransportError) { try transport.send(packet) }
}
