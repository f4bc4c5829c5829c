import BluetoothBase
import BluetoothHCI

/// A transport that wraps another one and forwards to it everything that it does not implement itself.
public protocol TransportDecorator: HCITransport {
    /// The wrapped transport.
    var transport: any HCITransport { get }
}

extension TransportDecorator {
    /// The name of the wrapped transport.
    public var name: String { transport.name }
    /// The wrapped transport's other end.
    public var otherEnd: String? { transport.otherEnd }
    /// The side of HCI that the wrapped transport is.
    public var receiver: H4Framer.Receiver { transport.receiver }
    /// The name with which the wrapped transport can be opened again.
    public var reopeningName: TransportName? { transport.reopeningName }
    /// The wrapped transport's descriptor; -1 once closed.
    public var fileDescriptor: Int32 { transport.fileDescriptor }
    /// The number of bytes that the wrapped transport has accepted but not yet sent.
    public var pendingByteCount: Int { transport.pendingByteCount }

    /// Sends the bytes that the wrapped transport has buffered, as far as the kernel accepts them now.
    public func flush() throws(TransportError) { try transport.flush() }

    /// Closes the wrapped transport.
    public func close() { transport.close() }
}
