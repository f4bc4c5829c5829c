import BluetoothLE
import CoreBluetooth
import Synchronization
import Testing
import VirtualRadio

@Suite("Core Bluetooth: hidden services, timing and order", .timeLimit(.minutes(30)))
struct FirstImpressionTests {
    @Test("Row 87: system services are hidden, even if discovery names them")
    func hiddenServices() async throws {
        let scene = try await CentralScene()
        let hid = try await scene.peripheral.publish(.init(uuid: "1812"))
        let peripheral = try await scene.connected()
        peripheral.discoverServices(nil)
        await scene.recorder.skip(to: "services -")
        #expect(peripheral.services?.map(\.uuid) == [CentralScene.service])
        peripheral.discoverServices(["1800", "1801", "1812"].map { CBUUID(string: $0) })
        await scene.recorder.expect("services -")
        #expect(peripheral.services?.map(\.uuid) == [CentralScene.service])
        withExtendedLifetime(hid) {}
    }

    @Test("Row 87: `showsSystemServices` shows the system services")
    func shownServices() async throws {
        // What is switched there counts for the whole process.
        await #expect(processExitsWith: .success) {
            BluetoothEnvironment.showsSystemServices = true
            let scene = try await CentralScene()
            let peripheral = try await scene.connected()
            peripheral.discoverServices([CBUUID(string: "1800")])
            await scene.recorder.skip(to: "services -")
            precondition(peripheral.services?.map(\.uuid.uuidString) == ["1800"])
        }
    }

    @Test("Row 88: the first callback comes after the manager has been assigned")
    func firstCallback() async throws {
        final class App: NSObject, CBCentralManagerDelegate {
            let told = Recorder()
            var manager: CBCentralManager?

            init(_ stage: Stage, _ port: VirtualRadio.Port) {
                super.init()
                manager = stage.with(port) { CBCentralManager(delegate: self, queue: told.queue) }
            }

            func centralManagerDidUpdateState(_ central: CBCentralManager) {
                told.add("state \(manager === central)")
            }
        }
        let stage = Stage()
        let port = stage.radio.addController()
        // So that the adapter is open already.
        let first = App(stage, port)
        await first.told.expect("state true")
        for _ in 0..<200 {
            let start = ContinuousClock.now
            let app = App(stage, port)
            let isInTime = start.duration(to: .now) < Self.patience
            let line = await app.told.next()
            #expect(line == "state true" || !isInTime)
        }
    }

    /// For how long a callback is held back at most. A thread that another one keeps from running for longer than that
    /// may be answered before it has gone on.
    private static let patience = Duration.milliseconds(250)

    /// Tells whether somebody listened.
    final class Listener: NSObject, CBPeripheralDelegate, CBPeripheralManagerDelegate {
        let told = Recorder()
        let isListening = Mutex(false)

        /// Calls, and begins to listen only after a third of the time that the thread may run for before it is
        /// answered. Expects one answer, and that it comes after that.
        func call(_ body: () -> Void) async {
            let isInTime = callAndListen(body)
            let line = await told.next()
            #expect(line == "listened true" || !isInTime)
        }

        /// Returns whether other threads left this one enough time for that.
        private func callAndListen(_ body: () -> Void) -> Bool {
            isListening.withLock { $0 = false }
            let start = ContinuousClock.now
            body()
            let end = Self.processorTime + 300_000
            while Self.processorTime < end {}
            isListening.withLock { $0 = true }
            return start.duration(to: .now) < FirstImpressionTests.patience
        }

        /// For how long this thread has run, in nanoseconds.
        private static var processorTime: Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }

        private func tell() { told.add("listened \(isListening.withLock { $0 })") }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { told.add("state") }
        func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
            tell()
        }
        func peripheralManager(
            _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
        ) { tell() }
        func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) { tell() }
        func peripheral(
            _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
        ) { tell() }
    }

    @Test("Row 91: a peripheral manager's local answers come after the caller has continued")
    func localAnswerOfManager() async throws {
        let stage = Stage()
        let listener = Listener()
        let port = stage.radio.addController()
        let manager = stage.with(port) { CBPeripheralManager(delegate: listener, queue: listener.told.queue) }
        await listener.told.expect("state")
        for _ in 0..<50 {
            await listener.call { manager.unpublishL2CAPChannel(0xC0) }
            await listener.call { manager.add(CBMutableService(type: CentralScene.service, primary: true)) }
        }
    }

    @Test("Row 91: a peripheral's local answers come after the caller has continued")
    func localAnswerOfPeripheral() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let stored = try #require(characteristics[CentralScene.stored])
        let listener = Listener()
        peripheral.delegate = listener
        for _ in 0..<50 {
            await listener.call { peripheral.writeValue(Data(count: 513), for: stored, type: .withResponse) }
            await listener.call { peripheral.readRSSI() }
        }
    }

    @Test("Row 91: endless calls delay the answers, but do not prevent them")
    func manyCalls() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let stored = try #require(characteristics[CentralScene.stored])
        // Answers that did not come before the last call would come after it: so the caller must not reach the last
        // one.
        let limit = 1_000_000
        let calls = Task.detached {
            for number in 0..<limit {
                if Task.isCancelled { return number }
                peripheral.writeValue(Data(count: 513), for: stored, type: .withResponse)
            }
            return limit
        }
        for _ in 0..<50 { await scene.recorder.expect("written F001 ATT 13") }
        calls.cancel()
        #expect(await calls.value < limit)
    }

    @Test("Row 89: no value is longer than 512 octets, and one of exactly that length arrives")
    func longestValue() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 512)
        let stored = try #require(characteristics[CentralScene.stored])
        let value = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        peripheral.writeValue(value, for: stored, type: .withoutResponse)
        peripheral.readValue(for: stored)
        await scene.recorder.expect("value F001 \(value.hex) -")
    }

    @Test("Row 90: a subscription is reported before its first value")
    func subscriptionBeforeValue() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let notified = try #require(characteristics[CentralScene.notified])
        let events = try scene.local(CentralScene.notified).events
        let firmware = Task {
            for try await event in events {
                if case .subscribed(let subscriber) = event { try await subscriber.notify([1]) }
            }
        }
        defer { firmware.cancel() }
        for _ in 0..<50 {
            peripheral.setNotifyValue(true, for: notified)
            await scene.recorder.expect("notifying F003 true -", "value F003 01 -")
            peripheral.setNotifyValue(false, for: notified)
            await scene.recorder.expect("notifying F003 false -")
        }
    }
}
