import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("A central manager resumes in the next run (semantics 10)", .timeLimit(.minutes(30)))
struct CentralRestorationTests {
    static let service = CBUUID(string: "E07F0AE8-00BB-47F5-94F4-4A7174EA3032")
    static let options: [String: Any] = [CBCentralManagerOptionRestoreIdentifierKey: "app"]

    /// A server with one value to be subscribed to.
    final class Sensor {
        let recorder = PeripheralRecorder(Recorder("peripheral"))
        let manager: CBPeripheralManager
        let value = CBMutableCharacteristic(
            type: CBUUID(string: "F001"), properties: .notify, value: nil, permissions: .readable)
        let service = CBMutableService(type: CentralRestorationTests.service, primary: true)

        init(_ stage: Stage, _ port: VirtualRadio.Port) async {
            manager = stage.with(port) { [recorder] in
                CBPeripheralManager(delegate: recorder, queue: recorder.recorder.queue)
            }
            await recorder.recorder.expect("state poweredOn")
            service.characteristics = [value]
            await add(service)
            await advertise()
        }

        func add(_ service: CBMutableService) async {
            manager.add(service)
            await recorder.recorder.skip(to: "added \(service.uuid.uuidString) -")
        }

        func advertise() async {
            manager.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: [CentralRestorationTests.service],
                CBAdvertisementDataLocalNameKey: "Sensor",
            ])
            await recorder.recorder.skip(to: "advertising true -")
        }

        func update(_ text: String) -> Bool {
            manager.updateValue(Data(text.utf8), for: value, onSubscribedCentrals: nil)
        }
    }

    private func manager(_ stage: Stage, _ port: VirtualRadio.Port, _ recorder: CentralRecorder) -> CBCentralManager {
        stage.with(port) {
            CBCentralManager(delegate: recorder, queue: recorder.recorder.queue, options: Self.options)
        }
    }

    /// A manager that is connected, subscribed, and scans.
    private func firstRun(_ stage: Stage, _ port: VirtualRadio.Port, _ sensor: Sensor) async throws {
        let central = CentralRecorder(Recorder("first"))
        let manager = manager(stage, port, central)
        await central.recorder.expect("state poweredOn")
        manager.scanForPeripherals(withServices: [Self.service])
        await central.recorder.skip(to: "discovered Sensor")
        let found = try #require(central.peripherals.first)
        manager.connect(found)
        await central.recorder.skip(to: "connected connected")
        found.discoverServices([Self.service])
        await central.recorder.skip(to: "services -")
        let service = try #require(found.services?.first)
        found.discoverCharacteristics(nil, for: service)
        await central.recorder.skip(to: "characteristics")
        found.setNotifyValue(true, for: try #require(service.characteristics?.first))
        await central.recorder.skip(to: "notifying F001 true -")
        await sensor.recorder.recorder.expect("subscribed F001")
    }

    @Test("Row 10: the connection, the subscription and the scan are restored")
    func everything() async throws {
        let stage = Stage(storesFiles: true)
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let sensor = await Sensor(stage, far)
        try await firstRun(stage, near, sensor)
        await sensor.recorder.recorder.skip(to: "unsubscribed F001")

        let central = CentralRecorder(Recorder("second"))
        let manager = manager(stage, near, central)
        await central.recorder.expect(
            "restore kCBRestoredPeripherals kCBRestoredScanServices", "state poweredOn")
        let peripheral = try #require(central.peripherals.first)
        #expect(central.peripherals.count == 1)
        #expect(manager.isScanning)
        #expect(peripheral.name != nil)
        let characteristic = try #require(peripheral.services?.first?.characteristics?.first)
        #expect(characteristic.isNotifying)
        #expect(characteristic.uuid == CBUUID(string: "F001"))
        await central.recorder.skip(to: "connected connected")
        #expect(characteristic.isNotifying)
        await sensor.recorder.recorder.skip(to: "subscribed F001")
        #expect(sensor.update("again"))
        await central.recorder.skip(to: "value F001 \(Data("again".utf8).hex) -")
        #expect(characteristic.value == Data("again".utf8))
        #expect(!central.recorder.all.contains { $0.hasPrefix("notifying") })
        peripheral.discoverServices([Self.service])
        await central.recorder.skip(to: "services -")
        #expect(peripheral.services?.first?.characteristics?.first === characteristic)
        withExtendedLifetime(manager) {}
    }

    @Test("A subscription is restored after the peripheral's attributes moved")
    func moved() async throws {
        let stage = Stage(storesFiles: true)
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let sensor = await Sensor(stage, far)
        try await firstRun(stage, near, sensor)
        await sensor.recorder.recorder.skip(to: "unsubscribed F001")
        sensor.manager.remove(sensor.service)
        await sensor.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
        await sensor.add(sensor.service)

        let central = CentralRecorder(Recorder("second"))
        let manager = manager(stage, near, central)
        await central.recorder.skip(to: "connected connected")
        let characteristic = try #require(central.peripherals.first?.services?.first?.characteristics?.first)
        await sensor.recorder.recorder.skip(to: "subscribed F001")
        #expect(sensor.update("moved"))
        await central.recorder.skip(to: "value F001 \(Data("moved".utf8).hex) -")
        #expect(characteristic.value == Data("moved".utf8))
        withExtendedLifetime(manager) {}
    }

    @Test("A service that the peripheral removed meanwhile is reported as modified")
    func gone() async throws {
        let stage = Stage(storesFiles: true)
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let sensor = await Sensor(stage, far)
        try await firstRun(stage, near, sensor)
        await sensor.recorder.recorder.skip(to: "unsubscribed F001")
        sensor.manager.remove(sensor.service)
        await sensor.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))

        let central = CentralRecorder(Recorder("second"))
        let manager = manager(stage, near, central)
        await central.recorder.skip(to: "connected connected")
        await central.recorder.skip(to: "modified \(Self.service.uuidString)")
        #expect(central.peripherals.first?.services?.isEmpty == true)
        withExtendedLifetime(manager) {}
    }

    @Test("A stopped scan and a cancelled connection are not restored")
    func calledOff() async throws {
        let stage = Stage(storesFiles: true)
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let sensor = await Sensor(stage, far)
        try await firstRun(stage, near, sensor)
        do {
            let central = CentralRecorder(Recorder("second"))
            let manager = manager(stage, near, central)
            await central.recorder.skip(to: "connected connected")
            manager.stopScan()
            manager.cancelPeripheralConnection(try #require(central.peripherals.first))
            await central.recorder.skip(to: "disconnected disconnected")
            // A callback that runs keeps its manager.
            await central.recorder.onQueue {}
        }
        let central = CentralRecorder(Recorder("third"))
        let manager = manager(stage, near, central)
        await central.recorder.expect("state poweredOn")
        #expect(!manager.isScanning)
    }

    @Test("The state on disk is enough to restore a manager that was killed")
    func killed() async throws {
        let (stage, copy) = (Stage(storesFiles: true), Stage(storesFiles: true))
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let sensor = await Sensor(stage, far)
        do {
            let central = CentralRecorder(Recorder("first"))
            let manager = manager(stage, near, central)
            await central.recorder.expect("state poweredOn")
            manager.scanForPeripherals(withServices: [Self.service])
            await central.recorder.skip(to: "discovered Sensor")
            manager.connect(try #require(central.peripherals.first))
            await central.recorder.skip(to: "connected connected")
            await manager.session.keeper?.settle()
            try FileManager.default.copyItem(at: stage.stateDirectory, to: copy.stateDirectory)
        }
        let central = CentralRecorder(Recorder("second"))
        let manager = manager(copy, near, central)
        await central.recorder.expect("restore kCBRestoredPeripherals kCBRestoredScanServices", "state poweredOn")
        await central.recorder.skip(to: "connected connected")
        withExtendedLifetime((manager, sensor)) {}
    }

    @Test("A second manager with the same identifier restores nothing, and overwrites nothing")
    func twice() async throws {
        let stage = Stage(storesFiles: true)
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let sensor = await Sensor(stage, far)
        try await firstRun(stage, near, sensor)
        let (one, other) = (CentralRecorder(Recorder("one")), CentralRecorder(Recorder("other")))
        do {
            let manager = manager(stage, near, one)
            let second = self.manager(stage, near, other)
            await one.recorder.expect("restore kCBRestoredPeripherals kCBRestoredScanServices", "state poweredOn")
            await other.recorder.expect("state poweredOn")
            second.scanForPeripherals(withServices: nil)
            withExtendedLifetime((manager, second)) {}
        }
        // A callback that runs keeps its manager.
        for recorder in [one, other] { await recorder.recorder.onQueue {} }
        let central = CentralRecorder(Recorder("third"))
        let manager = manager(stage, near, central)
        await central.recorder.expect("restore kCBRestoredPeripherals kCBRestoredScanServices", "state poweredOn")
        withExtendedLifetime(manager) {}
    }

    @Test("A damaged state file is set aside, and the manager starts without it")
    func damaged() async throws {
        let stage = Stage(storesFiles: true)
        let port = stage.radio.addController()
        try FileManager.default.createDirectory(at: stage.stateDirectory, withIntermediateDirectories: true)
        let file = stage.stateDirectory.appendingPathComponent("central-app.json")
        try Data("{\"version\":1,".utf8).write(to: file)
        let central = CentralRecorder(Recorder("damaged"))
        let manager = manager(stage, port, central)
        await central.recorder.expect("state poweredOn")
        #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
        manager.scanForPeripherals(withServices: [Self.service])
        _ = await central.recorder.onQueue {}
        withExtendedLifetime(manager) {}
    }
}
