import BluetoothBase
import BluetoothHCI

/// An open connection to an HCI controller, or from a controller to its host.
///
/// On every kind of transport, packets are complete and start with their H4 packet indicator (Core 5.4, Vol 4, Part A,
/// 2). None of the methods blocks. An event loop watches `fileDescriptor` and calls `receive` when it is readable.
/// While `wantsWrite` is true, it also calls `flush` when the descriptor is writable. Only one thread may use a
/// transport at a time.
public protocol HCITransport: AnyObject {
    /// The name of the transport in errors: the text of its `TransportName`, if it has one.
    var name: String { get }

    /// The name of the other end if opening this transport created it, for example `serial:/dev/pts/5` or `hci0`. Nil
    /// for all other transports.
    var otherEnd: String? { get }

    /// The side of HCI that this end is, which determines the packets it may receive.
    var receiver: H4Framer.Receiver { get }

    /// The name with which the same controller can be opened again, even if its adapter number has changed. Nil if the
    /// controller has no permanent name.
    ///
    /// An adapter is identified by its address, since its number may change when it is unplugged and plugged in again.
    var reopeningName: TransportName? { get }

    /// The descriptor that an event loop waits on; -1 once closed.
    var fileDescriptor: Int32 { get }

    /// The number of bytes that `send` has accepted but the kernel has not yet.
    var pendingByteCount: Int { get }

    /// Reads the data that has arrived, without blocking, and delivers each complete packet, oldest first. Each call
    /// reads a bounded amount, so that a flood can't starve other descriptors. Wait again, level-triggered, for the
    /// rest.
    ///
    /// Packets that arrived before a failure are delivered before it is thrown. `deliver` may send, and may close the
    /// transport; it must not call `receive`.
    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError)

    /// Sends one packet. If the kernel accepts it immediately, this takes one system call; otherwise the packet is
    /// buffered, up to a limit, until `flush`. Throws `.outputFull` if the limit is reached; no part of the packet was
    /// accepted then.
    func send(_ packet: Span<UInt8>) throws(TransportError)

    /// Sends every packet of a queue and removes it. Packets that were not accepted stay in the queue.
    func send(_ packets: inout PacketQueue) throws(TransportError)

    /// Sends the bytes that `send` has buffered, as far as the kernel accepts them now.
    func flush() throws(TransportError)

    /// Closes the transport and releases its resources. Pending bytes are lost. Closing again does nothing.
    func close()
}

extension HCITransport {
    /// Nil: by default, a controller has no permanent name.
    public var reopeningName: TransportName? { nil }
    /// Nil: by default, opening a transport creates no other end.
    public var otherEnd: String? { nil }

    /// Whether the event loop should watch for the transport becoming writable.
    public var wantsWrite: Bool { pendingByteCount > 0 }

    /// Sends the packets one at a time, oldest first. The first packet that fails stays in the queue, with all later
    /// ones.
    public func send(_ packets: inout PacketQueue) throws(TransportError) {
        while !packets.isEmpty {
            try send(packets.first)
            packets.removeFirst()
        }
    }
}
