import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import Synchronization
import Testing

@testable import HCITransport

/// A transport to a controller that reads nothing, so that all packets remain in the buffer.
private final class FullTransport: HCITransport {
    let name = "full"
    let receiver = H4Framer.Receiver.host
    private let waker: Waker
    var fileDescriptor: Int32 { waker.fileDescriptor }
    private(set) var pendingByteCount = 0
    private let sent: @Sendable () -> Void

    init(sent: @escaping @Sendable () -> Void) throws(TransportError) {
        waker = try Waker()
        self.sent = sent
    }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {}

    func send(_ packet: Span<UInt8>) throws(TransportError) {
        pendingByteCount += packet.count
        sent()
    }

    func flush() throws(TransportError) {}
    func close() {}
}

struct FullTransportTests {
    @Test("A packet that was delayed may find its transport full")
    func delayed() async throws {
        var rates = HCIFaultRates.none
        rates.latency = .milliseconds(1)
        var options = AdapterOptions(host: HostConfiguration(seed: 1))
        options.faults = HCIFaults(rates, seed: 1)
        let (sends, sent) = AsyncStream.makeStream(of: Void.self)
        let calls = TransportCalls(
            open: { (_, _) throws(TransportError) in try FullTransport { sent.yield() } }, watchArrivals: { _ in nil })
        let runner = try AdapterRunner(TransportName("tcp-client:127.0.0.1:1"), options: options, calls: calls)
        // Sent by a turn in which only time has passed.
        for await _ in sends { break }
        runner.close()
        #expect(runner.isClosed)
    }
}
