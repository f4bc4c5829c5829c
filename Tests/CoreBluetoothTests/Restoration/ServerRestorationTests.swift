import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("A peripheral manager resumes in the next run (semantics 10)", .timeLimit(.minutes(30)))
struct ServerRestorationTests {
    static let options: [String: Any] = [CBPeripheralManagerOptionRestoreIdentifierKey: "app"]

    private func manager(
        _ stage: Stage, _ port: VirtualRadio.Port, _ recorder: PeripheralRecorder
    ) -> CBPeripheralManager {
        stage.with(port) {
            CBPeripheralManager(delegate: recorder, queue: recorder.recorder.queue, options: Self.options)
        }
    }

    private func firstRun(
        _ stage: Stage, _ port: VirtualRadio.Port, then: (CBPeripheralManager, CBMutableService) -> Void = { _, _ in }
    ) async {
        let recorder = PeripheralRecorder(Recorder("first"))
        let manager = manager(stage, port, recorder)
        await recorder.recorder.expect("state poweredOn")
        let inner = CBMutableService(type: CBUUID(string: "180A"), primary: false)
        let name = CBMutableCharacteristic(
            type: CBUUID(string: "2A24"), properties: .read, value: Data("X1".utf8), permissions: .readable)
        name.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "model")]
        inner.characteristics = [name]
        let outer = CBMutableService(type: CBUUID(string: "180F"), primary: true)
        outer.includedServices = [inner]
        outer.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "2A19"), properties: [.read, .notify], value: nil, permissions: .readable)
        ]
        manager.add(inner)
        manager.add(outer)
        await recorder.recorder.expect("added 180A -", "added 180F -")
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Server", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180F")],
        ])
        await recorder.recorder.expect("advertising true -")
        // A callback that runs keeps its manager.
        await recorder.recorder.onQueue {}
        then(manager, outer)
    }

    @Test("Row 10: services and advertising are restored")
    func everything() async throws {
        let stage = Stage(storesFiles: true)
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        await firstRun(stage, far)

        let recorder = PeripheralRecorder(Recorder("second"))
        let server = manager(stage, far, recorder)
        await recorder.recorder.expect("restore kCBRestoredAdvertisement kCBRestoredServices", "state poweredOn")
        #expect(server.isAdvertising)
        let central = CentralRecorder(Recorder("central"))
        let manager = stage.with(near) { CBCentralManager(delegate: central, queue: central.recorder.queue) }
        await central.recorder.expect("state poweredOn")
        manager.scanForPeripherals(withServices: [CBUUID(string: "180F")])
        await central.recorder.skip(to: "discovered Server")
        let found = try #require(central.peripherals.first)
        manager.connect(found)
        await central.recorder.skip(to: "connected connected")
        found.discoverServices([CBUUID(string: "180F")])
        await central.recorder.skip(to: "services -")
        let service = try #require(found.services?.first)
        found.discoverIncludedServices(nil, for: service)
        await central.recorder.skip(to: "included 180F -")
        let inner = try #require(service.includedServices?.first)
        found.discoverCharacteristics(nil, for: inner)
        await central.recorder.skip(to: "characteristics 180A -")
        found.readValue(for: try #require(inner.characteristics?.first))
        await central.recorder.skip(to: "value 2A24 \(Data("X1".utf8).hex) -")
        #expect(recorder.recorder.all.count == 2)
        withExtendedLifetime(server) {}
    }

    @Test("Removed services and stopped advertising are not restored")
    func taken() async throws {
        let stage = Stage(storesFiles: true)
        let port = stage.radio.addController()
        await firstRun(stage, port) { manager, outer in
            manager.stopAdvertising()
            manager.remove(outer)
        }
        let recorder = PeripheralRecorder(Recorder("second"))
        let server = manager(stage, port, recorder)
        await recorder.recorder.expect("restore kCBRestoredServices", "state poweredOn")
        #expect(!server.isAdvertising)
        server.removeAllServices()
        // Behind that.
        server.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
        await recorder.recorder.expect("added 180D -")
    }

    @Test("Without a restore identifier, nothing is restored")
    func unnamed() async {
        let stage = Stage(storesFiles: true)
        let port = stage.radio.addController()
        await firstRun(stage, port)
        let recorder = PeripheralRecorder(Recorder("second"))
        let server = stage.with(port) { CBPeripheralManager(delegate: recorder, queue: recorder.recorder.queue) }
        await recorder.recorder.expect("state poweredOn")
        withExtendedLifetime(server) {}
    }
}
