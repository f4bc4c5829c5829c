import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Core Bluetooth's first impressions", .timeLimit(.minutes(5)))
struct FirstImpressionTests {
    @Test("Row 87: services that the system uses itself are not shown, whether all are asked for or they by name")
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

    @Test("Row 87: a tool that wants to see them can")
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

    @Test("Row 88: the first callback comes when the manager has been kept")
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
            let app = App(stage, port)
            await app.told.expect("state true")
        }
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

    @Test("Row 90: a subscription is told before the first value that comes of it")
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
