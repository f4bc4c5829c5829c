import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("G: the lifetime of a peripheral manager", .timeLimit(.minutes(30)))
struct LifetimeTests {
    @Test("Row 1: a new manager's state is unknown; the first state is reported later, on the queue")
    func unknown() async {
        let stage = Stage()
        let delegate = PeripheralRecorder(Recorder())
        let (manager, early) = await delegate.recorder.onQueue {
            let manager = stage.with(stage.radio.addController()) {
                CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
            }
            return (manager, (manager.state, delegate.recorder.all))
        }
        #expect(early.0 == .unknown && early.1 == [])
        await delegate.recorder.expect("state poweredOn")
        #expect(manager.state == .poweredOn && delegate.recorder.strays == [])
    }

    @Test("Rows 2, 3: without a queue, callbacks run on the main queue, for a delegate that may be set later")
    @MainActor func mainQueue() async {
        final class Delegate: NSObject, CBPeripheralManagerDelegate {
            let told = Recorder()
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
                dispatchPrecondition(condition: .onQueue(.main))
                told.add("state \(peripheral.state)")
            }
        }
        let stage = Stage()
        let delegate = Delegate()
        let manager = stage.with(stage.radio.addController()) { CBPeripheralManager() }
        manager.delegate = delegate
        await delegate.told.expect("state poweredOn")
        #expect(manager.state == .poweredOn)
    }

    @Test("Row 4: the delegate is held weakly")
    func weakDelegate() async {
        let scene = await PeripheralScene()
        var delegate: PeripheralRecorder? = PeripheralRecorder(Recorder())
        scene.manager.delegate = delegate
        #expect(scene.manager.delegate === delegate)
        delegate = nil
        #expect(scene.manager.delegate == nil)
    }

    @Test("Releasing a manager removes its services, its advertisement and its objects")
    func released() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read, value: Data([1])))
        let delegate = PeripheralRecorder(Recorder("other"))
        weak var gone: CBPeripheralManager?
        weak var goneService: CBMutableService?
        weak var goneCharacteristic: CBMutableCharacteristic?
        var subscription: EventSequence<[UInt8]>?
        do {
            let other = scene.stage.with(scene.port) {
                CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
            }
            gone = other
            await delegate.recorder.expect("state poweredOn")
            let characteristic = CBMutableCharacteristic("F002", .indicate)
            let service = CBMutableService("AAA0", [characteristic])
            (goneService, goneCharacteristic) = (service, characteristic)
            other.add(service)
            await delegate.recorder.expect("added AAA0 -")
            other.startAdvertising(nil)
            await delegate.recorder.expect("advertising true -")
            let port = scene.stage.radio.addController()
            let link = try await scene.link(from: port)
            subscription = try await link.notifications(of: try await link.characteristic("F002"))
            await delegate.recorder.expect("subscribed F002")
            // More than there is room for is on its way: none of it is confirmed.
            scene.stage.radio.withAir { air, _ in air[port.identifier].faults.isSilent = true }
            let taken = (0...PeripheralScene.capacity).map { _ in
                other.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil)
            }
            #expect(taken == (0...PeripheralScene.capacity).map { $0 < PeripheralScene.capacity })
        }
        await until("the manager is gone") { gone == nil }
        await until("its service is gone") { goneService == nil && goneCharacteristic == nil }
        await until("the air is quiet") { !scene.isOnAir }
        let central = try await scene.central()
        #expect(try await central.discoverServices("AAA0").isEmpty)
        #expect(try await central.read(first: "F001") == [1])
        withExtendedLifetime(subscription) {}
    }

    @Test("A manager released while a service is being published leaves nothing published")
    func releasedAtOnce() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read, value: Data([1])))
        for number in 0..<20 {
            let delegate = PeripheralRecorder(Recorder("other"))
            do {
                let other = scene.stage.with(scene.port) {
                    CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
                }
                await delegate.recorder.expect("state poweredOn")
                other.add(CBMutableService("AA\(10 + number)"))
                for _ in 0..<number { await Task.yield() }
            }
        }
        let central = try await scene.central()
        try await until("nothing is left") {
            try await !central.discoverServices().contains { "\($0.uuid)".hasPrefix("AA") }
        }
        #expect(try await central.read(first: "F001") == [1])
    }

    @Test("A manager may be released in its own callback")
    func releasedInCallback() async {
        final class Delegate: NSObject, CBPeripheralManagerDelegate {
            let told = Recorder()
            var manager: CBPeripheralManager?
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
                peripheral.add(CBMutableService("AAA0"))
                manager = nil
                told.add("state \(peripheral.state)")
            }
        }
        let stage = Stage()
        let delegate = Delegate()
        weak var gone: CBPeripheralManager?
        await delegate.told.onQueue {
            let manager = stage.with(stage.radio.addController()) {
                CBPeripheralManager(delegate: delegate, queue: delegate.told.queue)
            }
            gone = manager
            delegate.manager = manager
        }
        await delegate.told.expect("state poweredOn")
        await until("the manager is gone") { gone == nil }
        #expect(delegate.told.all == ["state poweredOn"])
    }

    @Test("Releasing the last manager closes the adapter and its links")
    func adapter() async throws {
        var scene: PeripheralScene? = await PeripheralScene(CBMutableCharacteristic("F001", .notify))
        let link = try #require(try await scene?.central())
        let adapter = AdapterWatch(try #require(scene?.port))
        #expect(!adapter.isGone)
        scene = nil
        await until("the adapter is gone") { adapter.isGone }
        try await link.waitForDisconnection()
    }

    @Test("A manager finds the adapter ready right after another one released it")
    func oneAfterTheOther() async {
        let stage = Stage()
        let port = stage.radio.addController()
        for _ in 0..<50 {
            let delegate = PeripheralRecorder(Recorder())
            let manager = stage.with(port) {
                CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
            }
            await delegate.recorder.expect("state poweredOn")
            manager.startAdvertising(nil)
            await delegate.recorder.expect("advertising true -")
        }
    }

    @Test("If a central disconnects while the application lags, everything is reported and nothing is kept")
    func behind() async throws {
        let scene = await PeripheralScene(
            CBMutableCharacteristic("F001", .writeWithoutResponse), CBMutableCharacteristic("F002", .notify))
        let link = try await scene.central()
        let characteristic = try await link.characteristic("F001")
        let values = try await link.notifications(of: try await link.characteristic("F002"))
        await scene.recorder.expect("subscribed F002")
        scene.recorder.queue.suspend()
        // More than may wait to be delivered.
        for _ in 0..<1100 { try await link.writeWithoutResponse([1], to: characteristic) }
        _ = try await link.discoverServices()
        try await link.disconnect()
        await until("the end of the link is known") { scene.manager.hasNoLinks }
        scene.recorder.queue.resume()
        await scene.recorder.skip(to: "unsubscribed F002")
        #expect(scene.recorder.all.count { $0 == "write F001 0 01" } == 1100)
        #expect(scene.manager.hasNoLinks)
        withExtendedLifetime(values) {}
    }

    @Test("Disconnected centrals are not kept")
    func centrals() async throws {
        final class Delegate: NSObject, CBPeripheralManagerDelegate {
            let told = Recorder()
            weak var central: CBCentral?
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
            func peripheralManager(
                _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
            ) {
                self.central = central
                told.add("subscribed")
            }
            func peripheralManager(
                _ peripheral: CBPeripheralManager, central: CBCentral,
                didUnsubscribeFrom characteristic: CBCharacteristic
            ) {
                told.add("unsubscribed")
            }
        }
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .notify))
        let link = try await scene.central()
        let delegate = Delegate()
        scene.manager.delegate = delegate
        let values = try await link.notifications(of: try await link.characteristic("F001"))
        await delegate.told.expect("subscribed")
        #expect(delegate.central != nil)
        try await link.disconnect()
        await delegate.told.expect("unsubscribed")
        await until("nobody keeps it") { delegate.central == nil }
        await until("nothing of it is kept") { scene.manager.hasNoLinks }
        withExtendedLifetime(values) {}
    }
}

extension CBPeripheralManager {
    /// Whether no link to a central is kept. The adapter's thread changes that.
    fileprivate var hasNoLinks: Bool { session.lock.withLock { session.centrals.isEmpty } }
}
