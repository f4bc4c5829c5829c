import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

/// Opening waits for an adapter that has just been plugged in.
struct AdapterWaitTests {
    private static let added: [UInt8] = [0x04, 0x00, 0x00, 0x00, 0x00, 0x00]
    private static let removed: [UInt8] = [0x05, 0x00, 0x00, 0x00, 0x00, 0x00]

    /// Opens an adapter whose attempts end like `attempts` in turn, with nil for success, while the kernel announces
    /// `packets`. Returns the reason of failure, and how many attempts were not made.
    private func open(
        _ attempts: [TransportError.Reason?], announcing packets: [[UInt8]], deadline: Instant = hangGuard(),
        cancellation: Waker? = nil
    ) throws -> (TransportError.Reason?, Int) {
        let (near, far) = try Socket.pair(cbt_packet_socket, name: "management")
        defer { close(far) }
        for packet in packets { try #require(BluetoothPlatform.send(far, packet, packet.count, 0) == packet.count) }
        let arrivals = try AdapterArrivals(open: { near })
        var attempts = attempts
        let reason = reason { () throws(TransportError) in
            let connector = Connector(deadline: deadline, cancellation: cancellation)
            _ = try connector.openAdapter(arrivals: arrivals) { () throws(TransportError) in
                if let reason = attempts.removeFirst() { throw TransportError(reason, transport: "hci-socket:0") }
                return try PacketTransport.pair().host
            }
        }
        #expect(arrivals.fileDescriptor == -1)
        return (reason, attempts.count)
    }

    @Test("an adapter that is present is opened at once")
    func atOnce() throws {
        #expect(try open([nil], announcing: []) == (nil, 0))
    }

    @Test("an adapter being set up is opened once it is announced, after any number of announcements")
    func announced() throws {
        #expect(try open([.adapterInitializing, nil], announcing: [Self.removed, Self.added]) == (nil, 0))
        // An announcement of another adapter comes first: its packet is read, then there is another one.
        let many = [[UInt8]](repeating: Self.removed, count: AdapterArrivals.packetsPerDrain - 1) + [Self.added]
        #expect(
            try open([.adapterInitializing, .adapterInitializing, nil], announcing: many + [Self.added]) == (nil, 0))
    }

    @Test("opening an adapter that is never announced times out, even amid other announcements")
    func deadline() throws {
        #expect(try open([.adapterInitializing, nil], announcing: [], deadline: .zero) == (.adapterInitializing, 1))
        #expect(
            try open([.adapterInitializing, nil], announcing: [Self.removed], deadline: .zero)
                == (.adapterInitializing, 1))
    }

    @Test("the wait for an adapter can be cancelled")
    func cancelled() throws {
        let cancellation = try Waker()
        cancellation.wake()
        #expect(try open([.adapterInitializing, nil], announcing: [], cancellation: cancellation) == (.cancelled, 1))
    }

    @Test(
        "other errors are reported without waiting",
        arguments: [.noSuchAdapter(present: []), .adapterHeld(by: nil)] as [TransportError.Reason])
    func otherFailures(reason: TransportError.Reason) throws {
        #expect(try open([reason, nil], announcing: [Self.added]) == (reason, 1))
    }
}
