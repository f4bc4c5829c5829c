import BluetoothBase
import BluetoothHCI
import HCITransport
import Synchronization

/// A transport for a controller in this process. It has no descriptor; the port wakes the adapter instead.
final class PortTransport: HCITransport {
    let name: String
    let receiver = H4Framer.Receiver.host
    let fileDescriptor: Int32 = -1
    let pendingByteCount = 0
    private let port: any PacketPort
    private let attachment: UInt64
    private let seat: Seat
    /// Kept between turns to reuse its memory.
    private var received = PacketQueue()

    /// The adapter as the port sees it. It wakes the adapter, and records whether the controller was unplugged, which
    /// holds even if the controller has been plugged in again since.
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
        // Unchecked: `weak` requires a variable, but this one never changes after initialization, and reading it is
        // safe on any thread.
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

    /// Accesses the queue once for all packets.
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
