import BluetoothBase
import BluetoothHCI

/// An open connection to an HCI controller, or from a controller to its host.
///
/// Packets are complete and start with their H4 packet indicator (Core 5.4, Vol 4, Part A, 2), on every kind of
/// transport. Nothing here blocks: an event loop watches `fileDescriptor`, calls `receive` when it is readable and,
/// while `wantsWrite` is true, `flush` when it is writable. Only one thread may use a transport at a time.
public protocol HCITransport: AnyObject {
    /// The name of the transport in errors: the text of its `TransportName`, if it has one.
    var name: String { get }

    /// The name of the other end, if opening this one created it: `serial:/dev/pts/5` or `hci0`. Nil for all other
    /// transports.
    var otherEnd: String? { get }

    /// Which end of HCI this is, and so which packets it may receive.
    var receiver: H4Framer.Receiver { get }

    /// What to open to reach the same controller again, even if it has moved; nil if it has no permanent name.
    ///
    /// An adapter is identified by its address, since its number may change when it is unplugged and plugged in again.
    var reopeningName: TransportName? { get }

    /// What an event loop waits on; -1 once closed.
    var fileDescriptor: Int32 { get }

    /// How many bytes `send` has accepted and the kernel has not.
    var pendingByteCount: Int { get }

    /// Reads what has arrived, without blocking, and delivers each complete packet, oldest first. It reads a bounded
    /// amount, so that a flood cannot starve other descriptors: wait again, level-triggered, for the rest.
    ///
    /// Packets that arrived before a failure are delivered before it is thrown. `deliver` may send, and may close the
    /// transport; it must not call `receive`.
    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError)

    /// Sends one packet, with one system call if the kernel accepts it at once; otherwise it is buffered, within a
    /// limit, until `flush`. Throws `.outputFull` if the limit is reached: then no part of the packet was accepted.
    func send(_ packet: Span<UInt8>) throws(TransportError)

    /// Sends and removes every packet of a queue. Packets that could not be accepted stay in the queue.
    func send(_ packets: inout PacketQueue) throws(TransportError)

    /// Sends what `send` has buffered, as far as the kernel accepts it now.
    func flush() throws(TransportError)

    /// Closes the transport and releases its resources. Pending bytes are lost. Closing again does nothing.
    func close()
}

extension HCITransport {
    public var reopeningName: TransportName? { nil }
    public var otherEnd: String? { nil }

    /// Whether the event loop should watch for the transport becoming writable.
    public var wantsWrite: Bool { pendingByteCount > 0 }

    public func send(_ packets: inout PacketQueue) throws(TransportError) {
        while !packets.isEmpty {
            try send(packets.first)
            packets.removeFirst()
        }
    }
}
