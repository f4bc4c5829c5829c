import BluetoothBase
import BluetoothHCI

/// A transport in front of another one: what it does not do itself, the other one does.
public protocol TransportDecorator: HCITransport {
    /// The one behind it.
    var transport: any HCITransport { get }
}

extension TransportDecorator {
    public var name: String { transport.name }
    public var otherEnd: String? { transport.otherEnd }
    public var receiver: H4Framer.Receiver { transport.receiver }
    public var reopeningName: TransportName? { transport.reopeningName }
    public var fileDescriptor: Int32 { transport.fileDescriptor }
    public var pendingByteCount: Int { transport.pendingByteCount }

    public func flush() throws(TransportError) { try transport.flush() }

    public func close() { transport.close() }
}
