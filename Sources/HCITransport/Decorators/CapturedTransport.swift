import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// A transport that records the packets of another one.
public final class CapturedTransport: TransportDecorator {
    /// The wrapped transport, through which each packet passes on its way to the file.
    public let transport: any HCITransport

    /// Records the packets of `transport` in `file`, with its adapter number if the file is for several adapters.
    /// `clock` returns the timestamp for each packet, in microseconds since the start of 1970.
    public init(
        _ transport: any HCITransport, to file: CaptureFile, adapter: UInt16 = 0,
        clock: @escaping () -> Int64 = CapturedTransport.wallClock
    ) {
        self.transport = TracedTransport(transport) { packet, receiver in
            file.append(
                packet, direction: receiver == .host ? .received : .sent, adapter: adapter,
                microsecondsSince1970: clock())
        }
    }

    /// The wall clock: microseconds since the start of 1970, UTC.
    public static func wallClock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Receives from the wrapped transport and records each packet before it is delivered.
    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) { try transport.receive(deliver) }

    /// Sends a packet through the wrapped transport and records it once the transport has accepted it.
    public func send(_ packet: Span<UInt8>) throws(TransportError) { try transport.send(packet) }
}
