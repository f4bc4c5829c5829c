import BluetoothBase
import BluetoothHCI

/// A transport that shows its packets as they pass.
public final class TracedTransport: TransportDecorator {
    public let transport: any HCITransport
    private let trace: (Span<UInt8>, H4Framer.Receiver) -> Void

    /// - Parameter trace: called with each packet, and with whom it is for. A packet that is sent is shown once the
    ///   transport has accepted it, so that one refused because the transport is full is not shown as sent.
    public init(_ transport: any HCITransport, trace: @escaping (Span<UInt8>, H4Framer.Receiver) -> Void) {
        self.transport = transport
        self.trace = trace
    }

    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        let receiver = receiver
        try transport.receive { packet in
            trace(packet, receiver)
            deliver(packet)
        }
    }

    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        try transport.send(packet)
        trace(packet, receiver.other)
    }
}

extension H4Framer.Receiver {
    /// The other end.
    var other: H4Framer.Receiver {
        switch self {
        case .host: .controller
        case .controller: .host
        }
    }
}
