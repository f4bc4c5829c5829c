import BluetoothBase
import BluetoothHCI

/// A transport in bad weather: faults drawn from a seed befall the packets of another one.
///
///     let faults = HCIFaults(.badWeather, seed: 7)
///     let transport = try FaultyTransport(name.open(), faults) { print($0) }
///
/// What it holds comes when it is due: its descriptor is readable then. A transport that ends takes what is held with it.
public final class FaultyTransport: TransportDecorator {
    public let transport: any HCITransport
    private var faults: HCIFaults
    private let report: (HCIFault) -> Void
    /// Waits for the transport and for what is due: an event loop around this one waits for its descriptor.
    private let loop: EventLoop
    private var isClosed = false
    private var isAwaitingRoom = false

    private static let token = 0

    /// - Parameter report: told of each fault.
    /// - Throws: where the process has no file descriptors left.
    public init(
        _ transport: any HCITransport, _ faults: HCIFaults, report: @escaping (HCIFault) -> Void = { _ in }
    ) throws(TransportError) {
        self.transport = transport
        self.faults = faults
        self.report = report
        loop = try EventLoop()
        try loop.add(transport.fileDescriptor, token: Self.token, for: .read)
    }

    /// A transport on which every packet takes some time, in each direction, and nothing else happens to it.
    public convenience init(_ transport: any HCITransport, latency: Duration) throws(TransportError) {
        var rates = HCIFaultRates.none
        rates.latency = latency
        try self.init(transport, HCIFaults(rates, seed: 0))
    }

    public var fileDescriptor: Int32 { isClosed ? -1 : loop.fileDescriptor }

    public var pendingByteCount: Int { transport.pendingByteCount + faults[outgoing].byteCount }

    /// Who receives what is sent here.
    private var outgoing: H4Framer.Receiver { receiver.other }

    public func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard !isClosed else { return try transport.receive(deliver) }
        defer { prepareToWait() }
        // Not waiting: it has been waited for, or nothing is there.
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

    public func send(_ packet: Span<UInt8>) throws(TransportError) {
        guard isClosed || faults.hasRoom else {
            throw TransportError(.outputFull(pending: pendingByteCount), transport: name)
        }
        defer { prepareToWait() }
        if isClosed || take(packet, to: outgoing) { return try transport.send(packet) }
        try flush()
    }

    /// Sends what is due, as far as the transport accepts it now.
    public func flush() throws(TransportError) {
        do throws(TransportError) {
            if transport.wantsWrite { try transport.flush() }
            if !faults[outgoing].isEmpty { try transport.send(&faults[outgoing]) }
        } catch {
            // The rest follows when there is room.
            guard case .outputFull = error.reason else { throw error }
        }
    }

    public func close() {
        guard !isClosed else { return }
        isClosed = true
        loop.remove(transport.fileDescriptor)
        transport.close()
        faults.removeAll()
    }

    /// Draws what befalls a packet. True if it passes as it is.
    private func take(_ packet: Span<UInt8>, to receiver: H4Framer.Receiver) -> Bool {
        switch faults.receive(packet, to: receiver, at: MonotonicClock.now) {
        case .passed: return true
        case .taken(let fault):
            if let fault { report(fault) }
            return false
        }
    }

    /// Delivers what is due for this end.
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
