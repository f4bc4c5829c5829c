import BluetoothAdapter
import BluetoothBase
import BluetoothLE
import CoreBluetooth
import Synchronization
import VirtualRadio

/// The air of a test, without its devices: what they share, and what knows when everything has arrived.
final class TestAir: Surroundings {
    let radio: VirtualRadio
    /// The app's controller.
    let port: VirtualRadio.Port
    let transport: BluetoothTransport
    let capture: PacketCapture
    private let devices = Mutex<[Device]>([])
    private let adapters = Atomic(0)

    /// The adapter of a declared device, as long as that device exists.
    private struct Device: Sendable {
        weak let runner: AdapterRunner?
    }

    /// - Parameter configure: changes the app's controller.
    init(_ radio: VirtualRadio, _ configure: (inout ControllerConfiguration) -> Void) {
        self.radio = radio
        capture = PacketCapture(startingAt: radio.time == .manual ? nil : radio.now)
        port = radio.addController(configure)
        transport = BluetoothTransport(TestPort(port, capture, adapter: 0))
    }

    /// The number of the next device in the capture. The app's is 0.
    func nextNumber() -> Int { adapters.add(1, ordering: .relaxed).newValue }

    func include(_ adapter: Adapter) {
        devices.withLock { devices in
            devices.removeAll { $0.runner == nil }
            devices.append(Device(runner: adapter.runner))
        }
    }

    /// The place of another device, whose distance is that from the app.
    func place(_ configure: (inout ControllerConfiguration) -> Void) -> Place {
        let device = radio.addController(configure), app = port.identifier
        return Place(
            surroundings: self, port: device, controller: device.identifier, neighbors: { [app] },
            restart: {
                device.unplug()
                device.plugIn()
            })
    }

    // MARK: - Surroundings

    var now: Instant { radio.now }

    func changeAir(_ body: (inout Air, Instant) -> Void) { radio.withAir { body(&$0, $1) } }

    func schedule(at instant: Instant, _ action: @escaping @Sendable () -> Void) {
        radio.schedule(at: instant, action)
    }

    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task { await body() } }

    func passing<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard radio.time == .manual else { return try await body() }
        return try await wait(atMost: Self.patience, #fileID, #line, for: body)
    }

    /// How long a manual radio's time passes for one call. What takes longer never happens.
    private static let patience = Duration.seconds(7200)

    // MARK: - Waiting

    func wait<Value: Sendable>(
        atMost limit: Duration, _ fileID: String, _ line: Int, for body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let isDone = Atomic(false)
        async let value = {
            defer { isDone.store(true, ordering: .releasing) }
            return try await body()
        }()
        // Many calls need no time at all.
        await giveWay { isDone.load(ordering: .acquiring) }
        let end = now.advanced(by: limit)
        while !isDone.load(ordering: .acquiring) {
            try Task.checkCancellation()
            if now >= end {
                // It may have happened just in time.
                await calm()
                await giveWay { isDone.load(ordering: .acquiring) }
                if !isDone.load(ordering: .acquiring) { throw NothingHappened(limit, fileID, line) }
                break
            }
            await step(.milliseconds(10), until: end)
        }
        return try await value
    }

    /// Lets one step of time pass, but not beyond `end`.
    func step(_ step: Duration, until end: Instant) async {
        let step = min(step, max(.nanoseconds(1), now.duration(to: end)))
        guard radio.time == .manual else { return (try? await Task.sleep(for: step)) ?? () }
        await radio.advance(by: step)
        await deliver()
    }

    /// Waits until the app's callbacks for everything so far have been called.
    func deliver() async { await AdapterSimulation.waitUntilDelivered(at: transport) }

    /// Waits until nothing is left to do at this instant. No time passes.
    func calm() async {
        var before = work
        while true {
            if radio.time == .manual { await radio.advance(by: .zero) }
            await deliver()
            let after = work
            if after == before { return }
            before = after
        }
    }

    /// Lets other tasks run until a call returns that needs no more than that.
    private func giveWay(until isDone: () -> Bool) async {
        for _ in 0..<64 where !isDone() { await Task.yield() }
    }

    func settle() async {
        // Every action responds to a call or a packet, and both are counted. If every queue was found empty in a round
        // and the counts have not changed, nothing is left to do.
        var before = work
        while true {
            await deliver()
            await waitUntilIdle()
            let after = work
            if after == before { return }
            before = after
        }
    }

    /// Waits until nothing is in progress between the adapters.
    private func waitUntilIdle() async {
        let runners = runners
        guard radio.time == .manual else {
            for runner in runners { await runner.waitUntilIdle() }
            return await radio.waitUntilQuiet()
        }
        while !(runners.allSatisfy(\.isIdle) && radio.isQuiet) { await radio.advance(by: .milliseconds(10)) }
    }

    /// The number of calls and packets that each adapter has processed so far.
    private var work: [ObjectIdentifier: UInt64] {
        Dictionary(runners.map { (ObjectIdentifier($0), $0.work) }) { first, _ in first }
    }

    private var runners: [AdapterRunner] {
        let devices = devices.withLock { $0.compactMap(\.runner) }
        return devices + [AdapterSimulation.runner(at: transport)].compactMap { $0 }
    }
}
