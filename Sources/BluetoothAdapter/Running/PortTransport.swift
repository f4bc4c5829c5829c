import BluetoothBase
import BluetoothHCI
import HCITransport
import Synchronization

/// A controller in this process as a transport. It has no descriptor: the port wakes the adapter.
final class PortTransport: HCITransport {
    let name: String
    let receiver = H4Framer.Receiver.host
    let fileDescriptor: Int32 = -1
    let pendingByteCount = 0
    private let port: any PacketPort
    private let attachment: UInt64
    private let seat: Seat
    /// Keeps its memory from one turn to the next.
    private var received = PacketQueue()

    /// The port's view of the adapter: how to wake it, and whether the controller was unplugged. The controller may
    /// have been plugged in again since.
    final class Seat: PacketPortHost {
        private let isUnplugged = Atomic(false)
        // The port retains the seat, which must not retain the adapter.
        private let turns: WeakTurns

        init(_ turns: RunnerTurns) { self.turns = WeakTurns(turns) }

        func wake() { turns.value?.wake() }
        func unplugged() { isUnplugged.store(true, ordering: .relaxed) }
        func displaced() { turns.value?.displaced() }
        func takeTurn() -> Instant? { turns.value?.takeTurn() }

        var wasUnplugged: Bool { isUnplugged.load(ordering: .relaxed) }
    }

    /// A weak reference that is set once.
    final class WeakTurns: @unchecked Sendable {
        // Unchecked: a weak reference is a variable, but this one is never changed, and reading it is safe on any
        // thread.
        private(set) weak var value: RunnerTurns?

        init(_ value: RunnerTurns) { self.value = value }
    }

    init(_ port: any PacketPort, for turns: RunnerTurns) {
        self.port = port
        name = port.name
        seat = Seat(turns)
        attachment = turns.takeSeat(seat, on: port)
    }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) {
        guard !seat.wasUnplugged else { throw TransportError(.adapterRemoved, transport: name) }
        receive(into: &received, deliver)
    }

    /// One access to the queue for all packets.
    private func receive(into packets: inout PacketQueue, _ deliver: (Span<UInt8>) -> Void) {
        port.receive(into: &packets)
        while !packets.isEmpty {
            deliver(packets.first)
            packets.removeFirst()
        }
    }

    func send(_ packet: Span<UInt8>) { port.send(packet) }
    func flush() {}
    func close() { port.detach(attachment) }
}
