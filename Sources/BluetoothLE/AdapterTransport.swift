import BluetoothBase
import HCITransport

/// What an adapter needs of the way to its controller. Bytes that wait in the kernel are announced by a descriptor;
/// a radio in this process calls `AdapterExecutor.wake()` instead and brings its own clock.
protocol AdapterTransport: AnyObject {
    /// Nil where there is nothing to watch.
    var fileDescriptor: Int32? { get }
    var wantsWrite: Bool { get }
    /// The present, by the clock the transport lives in.
    var now: Instant { get }
    /// When the transport itself wants a turn.
    var nextDeadline: Instant? { get }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError)
    func send(_ packets: inout PacketQueue) throws(TransportError)
    func flush() throws(TransportError)
    func close()
}

/// A transport of the operating system's.
final class SystemTransport: AdapterTransport {
    private let transport: any HCITransport

    init(_ transport: any HCITransport) {
        self.transport = transport
    }

    var fileDescriptor: Int32? { transport.fileDescriptor < 0 ? nil : transport.fileDescriptor }
    var wantsWrite: Bool { transport.wantsWrite }
    var now: Instant { MonotonicClock.now }
    var nextDeadline: Instant? { nil }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) { try transport.receive(deliver) }
    func send(_ packets: inout PacketQueue) throws(TransportError) { try transport.send(&packets) }
    func flush() throws(TransportError) { try transport.flush() }
    func close() { transport.close() }
}
