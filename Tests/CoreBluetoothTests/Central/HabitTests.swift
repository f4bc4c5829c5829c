import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

/// What applications do although no document mentions it.
@Suite(.timeLimit(.minutes(30)))
struct HabitTests {
    @Test
    func `Row 92: a delegate set to nil in a callback is called only after it is set again`() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        let leaving = Leaving(scene.events)
        peripheral.delegate = leaving
        peripheral.discoverServices([CentralScene.service])
        peripheral.discoverServices([CentralScene.service])
        peripheral.readRSSI()
        await scene.recorder.skip(to: "left")
        peripheral.delegate = scene.events
        peripheral.readRSSI()
        await scene.recorder.skip(to: "rssi -")
        #expect(scene.recorder.all.count { $0.hasPrefix("left") } == 1)
        #expect(peripheral.services?.count == 1, "discovery without a delegate is carried out")
    }

    /// Leaves its peripheral at the first result.
    private final class Leaving: NSObject, CBPeripheralDelegate {
        let events: CentralRecorder

        init(_ events: CentralRecorder) { self.events = events }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            events.recorder.add("left \(error.line)")
            peripheral.delegate = nil
        }
    }

    @Test
    func `Row 93: a manager released while it connects ends the attempt, and no callback follows`() async throws {
        let scene = try await CentralScene()
        // Another manager keeps the adapter open.
        await scene.on()
        let events = CentralRecorder(Recorder("leaving"))
        var manager: CBCentralManager? = scene.stage.with(scene.near) {
            CBCentralManager(delegate: events, queue: events.recorder.queue)
        }
        await events.recorder.expect("state poweredOn")
        manager?.scanForPeripherals(withServices: [CentralScene.service])
        await events.recorder.skip(to: "discovered")
        manager?.stopScan()
        let peripheral = try #require(await events.recorder.onQueue { events.peripherals.first })
        await scene.silence()
        manager?.connect(peripheral)
        await until("an attempt is under way") {
            scene.stage.radio.withAir { air, _ in air[scene.near.identifier].isInitiating }
        }
        let count = events.recorder.all.count
        let isReleased = { [weak manager] in manager == nil }
        manager = nil
        #expect(isReleased())
        await until("the attempt is over") {
            scene.stage.radio.withAir { air, _ in !air[scene.near.identifier].isInitiating }
        }
        #expect(await events.recorder.onQueue { events.recorder.all.count } == count)
        #expect(peripheral.state != .connected)
    }

    @Test
    func `Row 93: after a manager is released in a callback, nothing follows, and its peripheral can be used`()
        async throws
    {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        var (manager, events): (CBCentralManager?, CentralRecorder) = await scene.other()
        let second = try #require(manager?.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
        second.delegate = events
        manager?.connect(second)
        await events.recorder.skip(to: "connected")
        second.discoverServices([CentralScene.service])
        await events.recorder.skip(to: "services -")
        second.discoverCharacteristics(nil, for: try #require(second.services?.first))
        await events.recorder.skip(to: "characteristics")
        let all = try #require(second.services?.first?.characteristics)
        let notified = try #require(all.first { $0.uuid.uuidString == CentralScene.notified })
        let stored = try #require(all.first { $0.uuid.uuidString == CentralScene.stored })
        second.setNotifyValue(true, for: notified)
        await events.recorder.expect("notifying F003 true -")
        let releasing = Releasing(try #require(manager), Recorder())
        weak let session = manager?.session
        manager = nil
        second.delegate = releasing
        // Three values wait for the queue: the response to the other manager comes after them.
        events.recorder.queue.suspend()
        let subscriber = try #require(try scene.local(CentralScene.notified).subscribers.first)
        for number in 0..<3 as Range<UInt8> { try await subscriber.notify([number]) }
        peripheral.readValue(for: try #require(characteristics[CentralScene.stored]))
        await scene.recorder.skip(to: "value F001")
        events.recorder.queue.resume()
        await releasing.recorder.expect("value 1")
        await until("the session is gone") { session == nil }
        second.setNotifyValue(false, for: notified)
        second.writeValue(Data(count: 600), for: stored, type: .withResponse)
        second.readRSSI()
        #expect(await events.recorder.onQueue { releasing.recorder.all } == ["value 1"])
    }

    /// Releases its manager at the first value.
    private final class Releasing: NSObject, CBPeripheralDelegate {
        let recorder: Recorder
        private var manager: CBCentralManager?

        init(_ manager: CBCentralManager, _ recorder: Recorder) {
            self.manager = manager
            self.recorder = recorder
        }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) {
            recorder.add("value \(recorder.all.count + 1)")
            manager = nil
        }
    }

    @Test
    func `Row 94: cancelling a peripheral that nobody connects has no effect, and it can be connected`() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        scene.manager.cancelPeripheralConnection(peripheral)
        #expect(peripheral.state == .disconnected)
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected connected")
        #expect(!scene.recorder.all.contains { $0.hasPrefix("disconnected") })
    }

    @Test
    func `Row 95: connecting a connected peripheral has no effect`() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        scene.manager.connect(peripheral)
        #expect(peripheral.state == .connected)
        peripheral.readRSSI()
        await scene.recorder.skip(to: "rssi -")
        #expect(scene.recorder.all.count { $0.hasPrefix("connected") } == 1)
    }

    @Test
    func `Row 96: notifications switched on, off and on in a row are reported three times, and end up on`() async throws
    {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.notified])
        for isOn in [true, false, true] { peripheral.setNotifyValue(isOn, for: characteristic) }
        for _ in 0..<3 { await scene.recorder.skip(to: "notifying F003 ") }
        #expect(characteristic.isNotifying)
        let local = try scene.local(CentralScene.notified)
        await until("the peripheral has a subscriber") { local.subscribers.count == 1 }
        try await #require(local.subscribers.first).notify([7])
        await scene.recorder.expect("value F003 07 -")
    }

    @Test
    func `Row 97: an empty list in a discovery means the same as nil`() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        peripheral.discoverServices([])
        await scene.recorder.skip(to: "services -")
        let service = try #require(peripheral.services?.first { $0.uuid == CentralScene.service })
        peripheral.discoverCharacteristics([], for: service)
        await scene.recorder.skip(to: "characteristics")
        #expect(service.characteristics?.count == 5)
        peripheral.discoverIncludedServices([], for: service)
        await scene.recorder.skip(to: "included")
        #expect(service.includedServices?.isEmpty == true)
    }

    @Test
    func `Row 98: if the link ends while requests wait, only the disconnection is reported`() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.dynamic])
        // The peripheral does not answer a dynamic value here, so all of these wait.
        for value in 0..<3 {
            peripheral.readValue(for: characteristic)
            peripheral.writeValue(Data([UInt8(value)]), for: characteristic, type: .withResponse)
        }
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected")
        #expect(!scene.recorder.all.contains { $0.hasPrefix("written F002") || $0.hasPrefix("value F002") })
        // Nothing is left over in the next connection either.
        scene.manager.connect(peripheral)
        await scene.recorder.expect("connected connected")
        peripheral.readRSSI()
        await scene.recorder.expect("rssi -")
    }

    @Test
    func `Row 99: many reads in a row are each answered, in order`() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.stored])
        for _ in 0..<200 { peripheral.readValue(for: characteristic) }
        for _ in 0..<200 { await scene.recorder.expect("value F001 010203 -") }
    }

    @Test
    func `Row 100: an application may call from any thread`() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = UncheckedReference(try #require(characteristics[CentralScene.stored]))
        let called = UncheckedReference(peripheral)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 { called.object.readValue(for: characteristic.object) }
                }
            }
        }
        for _ in 0..<200 { await scene.recorder.expect("value F001 010203 -") }
        #expect(scene.recorder.strays.isEmpty)
    }

    /// Takes an object to other threads, as applications do.
    private struct UncheckedReference<Object: AnyObject>: @unchecked Sendable {
        let object: Object

        init(_ object: Object) { self.object = object }
    }

    @Test
    func `Row 101: requests made in the callback of another one are carried out after it`() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        let chain = Chain(scene.events)
        peripheral.delegate = chain
        peripheral.discoverServices([CentralScene.service])
        await scene.recorder.expect(
            "services", "characteristics 5", "descriptors 3", "value 010203", "subscribed", "written")
    }

    /// Discovers, reads, subscribes and writes, each step in the callback of the one before.
    private final class Chain: NSObject, CBPeripheralDelegate {
        let events: CentralRecorder

        init(_ events: CentralRecorder) { self.events = events }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            events.recorder.add("services")
            peripheral.services?.forEach { peripheral.discoverCharacteristics(nil, for: $0) }
        }

        func peripheral(
            _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
        ) {
            events.recorder.add("characteristics \(service.characteristics?.count ?? 0)")
            service.characteristics?.first.map { peripheral.discoverDescriptors(for: $0) }
        }

        func peripheral(
            _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            events.recorder.add("descriptors \(characteristic.descriptors?.count ?? 0)")
            peripheral.readValue(for: characteristic)
        }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) {
            events.recorder.add("value \(characteristic.value?.hex ?? "nil")")
            let notified = characteristic.service?.characteristics?.first { $0.properties.contains(.notify) }
            notified.map { peripheral.setNotifyValue(true, for: $0) }
        }

        func peripheral(
            _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            events.recorder.add("subscribed")
            let stored = characteristic.service?.characteristics?.first { $0.properties.contains(.write) }
            stored.map { peripheral.writeValue(Data([4]), for: $0, type: .withResponse) }
        }

        func peripheral(
            _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) {
            events.recorder.add("written")
        }
    }
}
