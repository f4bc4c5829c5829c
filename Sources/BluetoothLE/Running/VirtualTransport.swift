import BluetoothBase
import BluetoothHCI
import HCITransport
import VirtualRadio

/// A controller of a radio in this process. It has no descriptor: the radio wakes the adapter's thread.
final class VirtualTransport: HCITransport {
    let name = "virtual"
    let receiver = H4Framer.Receiver.host
    let fileDescriptor: Int32 = -1
    let pendingByteCount = 0
    private let port: VirtualRadio.Port
    private var received = PacketQueue()

    init(_ port: VirtualRadio.Port, for adapter: Adapter) {
        self.port = port
        port.attach(
            VirtualRadio.Host(
                wake: { [executor = adapter.executor] in executor.wake() },
                turn: { [weak adapter] in await adapter?.takeTurn() }))
    }

    func receive(_ deliver: (Span<UInt8>) -> Void) {
        port.receive(into: &received)
        while !received.isEmpty {
            deliver(received.first)
            received.removeFirst()
        }
    }

    func send(_ packet: Span<UInt8>) { port.send(packet) }
    func flush() {}
    func close() { port.detach() }
}

extension Adapter {
    /// Opens an adapter on a controller of a radio in this process.
    public static func open(
        _ port: VirtualRadio.Port, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        try await open(options, clock: RadioClock(port: port)) { adapter in
            VirtualTransport(port, for: adapter)
        } onCancel: {
        }
    }

    /// One turn, for a radio whose time is manual. Returns when the host next has something to do by itself.
    func takeTurn() -> Instant? {
        _ = turn()
        if case .closed = state { return nil }
        return host.nextDeadline
    }
}
