import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("A: managers, queues, state", .timeLimit(.minutes(30)))
struct ManagerTests {
    @Test("Row 1: a new manager's state is unknown; the first state is reported later, on the queue")
    func unknown() async throws {
        let stage = Stage()
        let events = CentralRecorder(Recorder())
        // Nothing can be delivered before this block ends.
        let (manager, early) = await events.recorder.onQueue {
            let manager = stage.with(stage.radio.addController()) {
                CBCentralManager(delegate: events, queue: events.recorder.queue)
            }
            return (manager, (manager.state, events.recorder.all))
        }
        #expect(early.0 == .unknown && early.1 == [])
        await events.recorder.expect("state poweredOn")
        #expect(manager.state == .poweredOn)
    }

    @Test("Row 2: without a queue, callbacks run on the main queue")
    @MainActor func mainQueue() async throws {
        final class Delegate: NSObject, CBCentralManagerDelegate {
            let told = Recorder()
            func centralManagerDidUpdateState(_ central: CBCentralManager) {
                dispatchPrecondition(condition: .onQueue(.main))
                told.add("state \(central.state)")
            }
        }
        let stage = Stage()
        let delegate = Delegate()
        let manager = stage.with(stage.radio.addController()) { CBCentralManager(delegate: delegate, queue: nil) }
        await delegate.told.expect("state poweredOn")
        #expect(manager.state == .poweredOn)
    }

    @Test("Row 3: a delegate that is set later still receives the first state")
    func lateDelegate() async throws {
        let stage = Stage()
        let events = CentralRecorder(Recorder())
        let manager = await events.recorder.onQueue {
            let manager = stage.with(stage.radio.addController()) {
                CBCentralManager(delegate: nil, queue: events.recorder.queue)
            }
            manager.delegate = events
            return manager
        }
        await events.recorder.expect("state poweredOn")
        withExtendedLifetime(manager) {}
    }

    @Test("Row 4: delegates are held weakly")
    func weakDelegates() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        var delegate: CentralRecorder? = CentralRecorder(Recorder())
        scene.manager.delegate = delegate
        peripheral.delegate = delegate
        #expect(scene.manager.delegate === delegate && peripheral.delegate === delegate)
        delegate = nil
        #expect(scene.manager.delegate == nil && peripheral.delegate == nil)
    }

    @Test("Row 5: before the adapter is on, calls are ignored and logged")
    func misuse() async throws {
        let log = Log()
        let stage = Stage()
        let events = CentralRecorder(Recorder())
        let port = stage.radio.addController()
        let manager = await events.recorder.onQueue {
            let manager = stage.with(port) { CBCentralManager(delegate: events, queue: events.recorder.queue) }
            manager.scanForPeripherals(withServices: nil)
            #expect(!manager.isScanning)
            #expect(manager.retrievePeripherals(withIdentifiers: [UUID()]) == [])
            #expect(manager.retrieveConnectedPeripherals(withServices: []) == [])
            return manager
        }
        await events.recorder.expect("state poweredOn")
        #expect(events.recorder.all == ["state poweredOn"])
        #expect(
            log.contains("API MISUSE: \(manager) can only scan while in the powered on state"))
        withExtendedLifetime(manager) {}
    }

    @Test("Row 6, 7, 36: losing the adapter ends the scan and the links, and only the state is reported")
    func adapterGone() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        scene.manager.scanForPeripherals(withServices: nil)
        #expect(scene.manager.isScanning)
        peripheral.readValue(for: try #require(characteristics[CentralScene.dynamic]))
        let before = scene.recorder.all.count
        scene.near.unplug()
        await scene.recorder.skip(to: "state resetting")
        #expect(!scene.manager.isScanning)
        #expect(peripheral.state == .disconnected && peripheral.services == nil)
        #expect(scene.recorder.all.dropFirst(before).allSatisfy { $0.hasPrefix("discovered") || $0.hasPrefix("state") })
        scene.near.plugIn()
        await scene.recorder.skip(to: "state poweredOn")
        // Row 8: what was done before is not done again.
        #expect(!scene.manager.isScanning && peripheral.state == .disconnected)
        // The object is still good.
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected connected")
    }

    @Test("Row 9: without an adapter, a manager is unsupported; the authorization can be read at any time")
    func unsupported() async throws {
        let log = Log()
        let events = CentralRecorder(Recorder())
        let stage = Stage()
        let manager = BluetoothEnvironment.with(
            transport: BluetoothTransport("unix:/nowhere/at/all"), stateDirectory: stage.stateDirectory
        ) {
            #expect(CBManager.authorization == .allowedAlways)
            return CBCentralManager(delegate: events, queue: events.recorder.queue)
        }
        await events.recorder.expect("state unsupported")
        #expect(log.contains("Bluetooth is not available: "))
        withExtendedLifetime(manager) {}
    }

    @Test("Row 11: two managers are independent, and ignore each other's peripherals")
    func twoManagers() async throws {
        let log = Log()
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        let (other, others) = await scene.other()
        other.connect(peripheral)
        #expect(peripheral.state == .disconnected)
        #expect(log.contains("API MISUSE: \(peripheral) belongs to a manager other than"))
        let own = try #require(other.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
        #expect(own !== peripheral && own.identifier == peripheral.identifier)
        own.delegate = others
        other.connect(own)
        await others.recorder.expect("connected connected")
        #expect(peripheral.state == .disconnected)
        // Row 30: there is a link already. Row 37: it stays as long as one of them wants it.
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected connected")
        #expect(scene.peripheral.connections.count == 1)
        other.cancelPeripheralConnection(own)
        await others.recorder.expect("disconnected disconnected -")
        peripheral.discoverServices(nil)
        await scene.recorder.skip(to: "services -")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
        await until("the link has ended") { scene.peripheral.connections.isEmpty }
    }
}
