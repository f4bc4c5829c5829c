import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Key-value observing", .timeLimit(.minutes(30)))
struct ObservingTests {
    /// What an observer was told.
    private final class Changes<Value> {
        private let lock = NSLock()
        private var values: [Value] = []

        var all: [Value] { lock.withLock { values } }

        func add(_ value: Value) { lock.withLock { values.append(value) } }
    }

    @Test("Observers see all states of a peripheral, including those that no callback reports")
    func states() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        let changes = Changes<[CBPeripheralState?]>()
        let observation = peripheral.observe(\.state, options: [.initial, .old, .new]) { peripheral, change in
            // A property may be looked at from inside.
            #expect(change.newValue == peripheral.state && change.kind == .setting)
            changes.add([change.oldValue, change.newValue])
        }
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected connected")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
        let expected: [[CBPeripheralState?]] = [
            [nil, .disconnected], [.disconnected, .connecting], [.connecting, .connected],
            [.connected, .disconnecting],
            [.disconnecting, .disconnected],
        ]
        #expect(changes.all == expected)
        observation.invalidate()
        scene.manager.connect(peripheral)
        #expect(changes.all.count == expected.count)
    }

    @Test("Observers see a manager's state and scan, and a characteristic's value")
    func others() async throws {
        let scene = try await CentralScene()
        let states = Changes<CBManagerState>(), scans = Changes<Bool>()
        let observations = [
            scene.manager.observe(\.state, options: .new) { manager, _ in states.add(manager.state) },
            scene.manager.observe(\.isScanning, options: .new) { _, change in scans.add(change.newValue ?? false) },
        ]
        let (peripheral, characteristics) = try await scene.discovered()
        #expect(states.all == [.poweredOn] && scans.all == [true, false])
        let characteristic = try #require(characteristics[CentralScene.stored])
        let values = Changes<Data?>()
        var observation: NSKeyValueObservation? = characteristic.observe(\.value) { characteristic, change in
            #expect(change.newValue == nil)
            values.add(characteristic.value)
        }
        for _ in 0..<2 {
            peripheral.readValue(for: characteristic)
            await scene.recorder.skip(to: "value F001")
        }
        #expect(values.all == [Data([1, 2, 3])])
        weak let weakly = observation
        observation = nil
        #expect(weakly == nil)
        withExtendedLifetime(observations) {}
    }

    @Test("An observation does not keep its object alive")
    func lifetime() throws {
        let stage = Stage()
        var manager: CBPeripheralManager? = stage.with(stage.radio.addController()) {
            CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "server"))
        }
        weak let weakly = manager
        let observation = manager?.observe(\.isAdvertising) { _, _ in }
        manager = nil
        #expect(weakly == nil)
        observation?.invalidate()
    }
}
