import BluetoothBase
import BluetoothHCI

/// A transport that passes a copy of each packet to a trace function.
public final class TracedTransport: TransportDecorator {
    /// The wrapped transport, whose packets are traced.
    public let transport: any HCITransport
    private let trace: (Span<UInt8>, H4Framer.Receiver) -> Void

    /// Wraps a transport.
    ///
    /// - Parameter trace: called with each packet and the side of HCI that receives it. A sent packet is traced once
    ///   the transport has accepted it, so a packet rejected because the transport is full isn't traced as sent.
    public init(_ transport: any HCITransport, trace: @escaping (Span<UInt8>, H4Framer.Receiver) -> Void) {
        self.transport = transport
        self.trace = trace
    }

    /// Receives from the wrapped transport and traces each packet before it is delivered.
    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        let receiver = receiver
        try transport.receive { packet in
            trace(packet, receiver)
            deliver(packet)
        }
    }

    /// Sends a packet through the wrapped transport and traces it once the transport has accepted it.
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
