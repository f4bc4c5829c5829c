import BluetoothBase
import BluetoothHCI

/// An open way to an HCI controller, or from a controller to its host.
///
/// Packets are whole and start with their H4 packet indicator (Core 5.4, Vol 4, Part A, 2), on every kind of transport.
/// Nothing here waits: an event loop watches `fileDescriptor`, calls `receive` when it is readable and, while
/// `wantsWrite` is true, `flush` when it is writable. One thread at a time may use a transport.
public protocol HCITransport: AnyObject {
    /// What errors call the transport: the text of its `TransportName`, where it has one.
    var name: String { get }

    /// What the other side calls its end, where opening this one has made it: `serial:/dev/pts/5` or `hci0`. Nil for
    /// all others.
    var otherEnd: String? { get }

    /// Which end of HCI this is, and so which packets it may receive.
    var receiver: H4Framer.Receiver { get }

    /// What to open to come to the same controller again, wherever it is then; nil where nothing names it for good.
    ///
    /// An adapter is named by its address, since it may have another number when it has been unplugged and plugged in.
    var reopeningName: TransportName? { get }

    /// What an event loop waits on; -1 once closed.
    var fileDescriptor: Int32 { get }

    /// How many bytes were taken by `send` and not yet by the kernel.
    var pendingByteCount: Int { get }

    /// Reads what has arrived, without waiting, and hands over each whole packet, oldest first. It reads a bounded
    /// amount, so that a flood cannot starve other descriptors: wait again, level-triggered, for the rest.
    ///
    /// Packets that came before a failure are handed over before it is thrown. `deliver` may send, and may close the transport; it must not call `receive`.
    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError)

    /// Sends one packet, with one system call where the kernel takes it at once; otherwise it is kept, within a bound,
    /// until `flush`. Throws `.outputFull` where the bound is reached: then the packet was not taken at all.
    func send(_ packet: Span<UInt8>) throws(TransportError)

    /// Sends every packet of a queue and takes it out. What could not be taken stays in the queue.
    func send(_ packets: inout PacketQueue) throws(TransportError)

    /// Sends what `send` had to keep, as far as the kernel takes it now.
    func flush() throws(TransportError)

    /// Closes the transport and gives back what it held. What is still pending is lost. Closing twice does nothing.
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
