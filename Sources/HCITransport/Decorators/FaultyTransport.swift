import BluetoothBase
import BluetoothHCI

/// A transport that injects faults into the packets of another transport. The faults are drawn from a seed.
///
///     let faults = HCIFaults(.badWeather, seed: 7)
///     let transport = try FaultyTransport(name.open(), faults) { print($0) }
///
/// The transport's descriptor becomes readable when a delayed packet is due. Delayed packets are lost if the transport
/// closes.
public final class FaultyTransport: TransportDecorator {
    /// The transport whose packets suffer the faults.
    public let transport: any HCITransport
    private var faults: HCIFaults
    private let report: (HCIFault) -> Void
    /// Waits for the transport and for the time at which the next delayed packet is due. An outer event loop waits for
    /// the descriptor of this one.
    private let loop: EventLoop
    private var isClosed = false
    private var isAwaitingRoom = false

    private static let token = 0

    /// Wraps a transport, and injects faults into the packets of both directions.
    ///
    /// - Parameter report: called with each fault.
    /// - Throws: `TransportError` if the process has run out of file descriptors.
    public init(
        _ transport: any HCITransport, _ faults: HCIFaults, report: @escaping (HCIFault) -> Void = { _ in }
    ) throws(TransportError) {
        self.transport = transport
        self.faults = faults
        self.report = report
        loop = try EventLoop()
        try loop.add(transport.fileDescriptor, token: Self.token, for: .read)
    }

    /// Creates a transport that delays every packet, in each direction, and injects no other fault.
    public convenience init(_ transport: any HCITransport, latency: Duration) throws(TransportError) {
        var rates = HCIFaultRates.none
        rates.latency = latency
        try self.init(transport, HCIFaults(rates, seed: 0))
    }

    /// The descriptor of the transport's own event loop, which also becomes readable when a delayed packet is due; -1
    /// once closed.
    public var fileDescriptor: Int32 { isClosed ? -1 : loop.fileDescriptor }

    /// The bytes that the wrapped transport has not sent yet, plus the bytes of the delayed packets going out.
    public var pendingByteCount: Int { transport.pendingByteCount + faults[outgoing].byteCount }

    /// The side of HCI that receives the packets sent here.
    private var outgoing: H4Framer.Receiver { receiver.other }

    /// Delivers the delayed packets that are due, then the packets that arrive and that no fault drops or delays.
    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard !isClosed else { return try transport.receive(deliver) }
        defer { prepareToWait() }
        // No need to wait: the caller already has, or nothing has arrived.
        let events = loop.wait(until: .zero)
        faults.fire(at: MonotonicClock.now)
        handOver(deliver)
        guard !isClosed else { return }
        try flush()
        guard events.contains(where: \.isReadable) else { return }
        try transport.receive { packet in
            if take(packet, to: receiver) { deliver(packet) }
            handOver(deliver)
        }
        if !isClosed { try flush() }
    }

    /// Sends a packet, unless a fault drops, changes or delays it. Throws `.outputFull` while too many packets are
    /// delayed.
    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        guard isClosed || faults.hasRoom else {
            throw TransportError(.outputFull(pending: pendingByteCount), transport: name)
        }
        defer { prepareToWait() }
        if isClosed || take(packet, to: outgoing) { return try transport.send(packet) }
        try flush()
    }

    /// Sends the packets that are due, as far as the transport accepts them now.
    public func flush() throws(TransportError) {
        do throws(TransportError) {
            if transport.wantsWrite { try transport.flush() }
            if !faults[outgoing].isEmpty { try transport.send(&faults[outgoing]) }
        } catch {
            // The rest is sent when the transport has room.
            guard case .outputFull = error.reason else { throw error }
        }
    }

    /// Closes the wrapped transport and discards the delayed packets.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        loop.remove(transport.fileDescriptor)
        transport.close()
        faults.removeAll()
    }

    /// Draws the fault for a packet. Returns true if the packet passes unchanged.
    private func take(_ packet: Span<UInt8>, to receiver: H4Framer.Receiver) -> Bool {
        switch faults.receive(packet, to: receiver, at: MonotonicClock.now) {
        case .passed: return true
        case .taken(let fault):
            if let fault { report(fault) }
            return false
        }
    }

    /// Delivers the packets that are due for this end.
    private func handOver(_ deliver: (Span<UInt8>) -> Void) {
        while let packet = faults[receiver].popFirst(), !isClosed { deliver(packet.span) }
    }

    private func prepareToWait() {
        guard !isClosed else { return }
        loop.arm(faults.nextDeadline)
        let isAwaited = transport.wantsWrite || !faults[outgoing].isEmpty
        guard isAwaited != isAwaitingRoom else { return }
        isAwaitingRoom = isAwaited
        try? loop.change(transport.fileDescriptor, token: Self.token, to: isAwaited ? [.read, .write] : .read)
    }
}
