import BluetoothBase
import BluetoothHCI
import CBluetoothHCI
import Glibc

/// A transport that records the packets of another one.
public final class CapturedTransport: HCITransport {
    private let transport: any HCITransport
    private let file: CaptureFile
    private let adapter: UInt16
    private let clock: () -> Int64

    /// Records the packets of `transport`, with the number of its adapter if `file` is for several. `clock` returns the
    /// time to stamp each packet with, in microseconds since the start of 1970.
    public init(
        _ transport: any HCITransport, to file: CaptureFile, adapter: UInt16 = 0,
        clock: @escaping () -> Int64 = CapturedTransport.wallClock
    ) {
        self.transport = transport
        self.file = file
        self.adapter = adapter
        self.clock = clock
    }

    /// The wall clock: microseconds since the start of 1970, UTC.
    public static func wallClock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    public var name: String { transport.name }
    public var otherEnd: String? { transport.otherEnd }
    public var receiver: H4Framer.Receiver { transport.receiver }
    public var reopeningName: TransportName? { transport.reopeningName }
    public var fileDescriptor: Int32 { transport.fileDescriptor }
    public var pendingByteCount: Int { transport.pendingByteCount }

    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        try transport.receive { packet in
            record(packet, receiver == .host ? .received : .sent)
            deliver(packet)
        }
    }

    /// A packet is recorded once the transport has accepted it, so that one refused because the transport is full is
    /// not shown as sent.
    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        try transport.send(packet)
        record(packet, receiver == .host ? .sent : .received)
    }

    private func record(_ packet: Span<UInt8>, _ direction: BTSnoop.Direction) {
        file.append(packet, direction, adapter: adapter, microsecondsSince1970: clock())
    }

    public func send(_ packets: inout PacketQueue) throws(TransportError) {
        while !packets.isEmpty {
            try send(packets.first)
            packets.removeFirst()
        }
    }

    public func flush() throws(TransportError) { try transport.flush() }

    public func close() { transport.close() }
}
