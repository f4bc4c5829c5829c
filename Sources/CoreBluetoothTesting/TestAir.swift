import BluetoothAdapter
import BluetoothBase
import BluetoothLE
import CoreBluetooth
import Synchronization
import VirtualRadio

/// The air of a test, which its devices share, and their adapters.
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
        let name: String
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

    /// - Parameter name: the name of the device in messages.
    func include(_ adapter: Adapter, _ name: String) {
        devices.withLock { devices in
            devices.removeAll { $0.runner == nil }
            devices.append(Device(runner: adapter.runner, name: name))
        }
    }

    /// Ends all devices. With manual time, they would otherwise wait forever for time to pass.
    func end() {
        for (runner, _) in runners { runner.kill() }
        // An app that has ended already may still be disconnecting its links, and be writing its bonds.
        if radio.time == .manual { radio.advanceHosts(by: .seconds(4)) }
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

    /// The adapters of all devices and of the app, with their names in messages.
    var runners: [(runner: AdapterRunner, name: String)] {
        let devices = devices.withLock { $0.compactMap { device in device.runner.map { ($0, device.name) } } }
        return devices + [AdapterSimulation.runner(at: transport)].compactMap { $0.map { ($0, "the app") } }
    }

    // MARK: - Surroundings

    var now: Instant { radio.now }

    func changeAir(_ body: (inout Air, Instant) -> Void) { radio.withAir { body(&$0, $1) } }

    func schedule(at instant: Instant, _ action: @escaping @Sendable () -> Void) {
        radio.schedule(at: instant, action)
    }

    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task { await body() } }

    func passing<Value: Sendable>(
        _ call: TestCall, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await wait(atMost: Self.limit, call, for: body)
    }
}
