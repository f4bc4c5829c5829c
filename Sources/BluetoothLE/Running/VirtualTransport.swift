import BluetoothBase
import BluetoothHCI
import HCITransport
import Synchronization
import VirtualRadio

/// A controller of a radio in this process. It has no descriptor: the radio wakes the adapter's thread.
final class VirtualTransport: HCITransport {
    let name = "virtual"
    let receiver = H4Framer.Receiver.host
    let fileDescriptor: Int32 = -1
    let pendingByteCount = 0
    private let port: VirtualRadio.Port
    private let attachment: VirtualRadio.Port.Attachment
    private var received = PacketQueue()
    private let isUnplugged = Unplugged()

    /// Whether the controller has been unplugged; it may have been plugged in again since.
    private final class Unplugged: Sendable {
        let value = Atomic(false)
    }

    init(_ port: VirtualRadio.Port, for adapter: Adapter) {
        self.port = port
        attachment = port.attach(
            Self.host(of: adapter) { [isUnplugged] in isUnplugged.value.store(true, ordering: .relaxed) })
    }

    /// What a radio is to know of an adapter.
    static func host(
        of adapter: Adapter, unplugged: @escaping @Sendable () -> Void = {}
    ) -> VirtualRadio.Host {
        VirtualRadio.Host(
            wake: { [executor = adapter.executor] in executor.wake() },
            turn: { [weak adapter] in await adapter?.takeTurn() }, unplugged: unplugged)
    }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard !isUnplugged.value.load(ordering: .relaxed) else {
            throw TransportError(.adapterRemoved, transport: name)
        }
        port.receive(into: &received)
        while !received.isEmpty {
            deliver(received.first)
            received.removeFirst()
        }
    }

    func send(_ packet: Span<UInt8>) { port.send(packet) }
    func flush() {}
    func close() { port.detach(attachment) }
}

extension Adapter {
    /// Opens an adapter on a controller of a radio in this process.
    public static func open(
        _ port: VirtualRadio.Port, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        try await open(options, clock: RadioClock(port: port), source: .port(port)) { adapter throws(TransportError) in
            guard port.isPluggedIn else { throw TransportError(.adapterRemoved, transport: "virtual") }
            return VirtualTransport(port, for: adapter)
        } onCancel: {
        }
    }

    /// One turn, for a radio whose time is manual. Returns when the host next has something to do by itself.
    func takeTurn() -> Instant? {
        _ = turn()
        if case .closed = state { return nil }
        return nextDeadline
    }
}
