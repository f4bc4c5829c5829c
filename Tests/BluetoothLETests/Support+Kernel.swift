import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import HCITransport
import Synchronization

@testable import BluetoothAdapter
@testable import BluetoothLE

/// Stands in for a kernel with one adapter, which comes and goes: `hci-socket:…` leads to a virtual controller.
final class FakeKernel: Sendable {
    private struct State {
        /// How the adapter is reached; nil while it is away.
        var controller: TransportName?
        /// Why it cannot be opened although it is there.
        var obstacle: TransportError.Reason?
        var asked: [TransportName] = []
        /// What arrivals are told through: the writing ends of the pipes.
        var listeners: [Int32] = []
    }

    private let state = Mutex(State())
    /// What the adapter's transport calls it.
    let name: TransportName
    /// Whether there is anything that tells of arrivals.
    let tellsOfArrivals: Bool

    init(_ name: TransportName, tellsOfArrivals: Bool = true) {
        self.name = name
        self.tellsOfArrivals = tellsOfArrivals
    }

    deinit { for listener in state.withLock({ $0.listeners }) { close(listener) } }

    /// The names that were asked for.
    var asked: [TransportName] { state.withLock { $0.asked } }

    func plugIn(_ controller: TransportName, behind obstacle: TransportError.Reason? = nil) {
        state.withLock { ($0.controller, $0.obstacle) = (controller, obstacle) }
        announce()
    }

    func unplug() { state.withLock { $0.controller = nil } }

    func clear() { state.withLock { $0.obstacle = nil } }

    /// Tells those who listen that some adapter has come.
    func announce() {
        for listener in state.withLock({ $0.listeners }) { _ = write(listener, "a", 1) }
    }

    var calls: TransportCalls {
        TransportCalls(
            open: { [self] (name, cancellation) throws(TransportError) in
                let (controller, obstacle) = state.withLock { state in
                    state.asked.append(name)
                    return (state.controller, state.obstacle)
                }
                guard let controller else { throw TransportError(.noSuchAdapter(present: []), transport: "\(name)") }
                if let obstacle { throw TransportError(obstacle, transport: "\(name)") }
                return NamedTransport(try controller.open(cancellation: cancellation), self.name)
            },
            watchArrivals: { [self] _ in tellsOfArrivals ? listen() : nil })
    }

    private func listen() -> PipedArrivals? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        state.withLock { $0.listeners.append(ends[1]) }
        return PipedArrivals(fileDescriptor: ends[0])
    }

    final class PipedArrivals: Arrivals {
        private(set) var fileDescriptor: Int32

        init(fileDescriptor: Int32) { self.fileDescriptor = fileDescriptor }

        deinit { close() }

        func drain() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 64)
            return read(fileDescriptor, &bytes, bytes.count) > 0
        }

        func close() {
            guard fileDescriptor >= 0 else { return }
            _ = BluetoothPlatform.close(fileDescriptor)
            fileDescriptor = -1
        }
    }
}

/// A transport under another name.
final class NamedTransport: HCITransport {
    private let transport: any HCITransport
    let reopeningName: TransportName?

    init(_ transport: any HCITransport, _ reopeningName: TransportName?) {
        self.transport = transport
        self.reopeningName = reopeningName
    }

    var name: String { transport.name }
    var receiver: H4Framer.Receiver { transport.receiver }
    var fileDescriptor: Int32 { transport.fileDescriptor }
    var pendingByteCount: Int { transport.pendingByteCount }

    func receive(_ deliver: (Span<UInt8>) -> Void) throws(TransportError) { try transport.receive(deliver) }
    func send(_ packet: Span<UInt8>) throws(TransportError) { try transport.send(packet) }
    func flush() throws(TransportError) { try transport.flush() }
    func close() { transport.close() }
}

/// A clock that a test turns by hand. The adapter's thread waits for what happens, and for no time.
final class ManualClock: Sendable {
    private let instant = Mutex(Instant.zero)

    var now: Instant { instant.withLock { $0 } }

    func advance(to new: Instant) { instant.withLock { $0 = max($0, new) } }
}

extension Adapter {
    /// Opens what an adapter of a kernel would be, in a time that is turned by hand.
    static func open(
        _ name: TransportName, calls: TransportCalls, clock: ManualClock
    ) async throws(BluetoothError) -> Adapter {
        try await open(
            AdapterRunner(name, options: AdapterOptions(seed: 1), calls: calls, clock: .manual { clock.now }))
    }

    /// When the next try to get the controller back is due.
    var nextTry: Instant? { router.runner.guarded.withTurn { $0.nextTry } }

    /// Whether a try is under way.
    var isTrying: Bool { router.runner.guarded.withTurn { $0.recovery.opener != nil } }
}
