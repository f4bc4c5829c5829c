import BluetoothLE
import CoreBluetooth
import TestSupport
import Testing
import VirtualRadio

@Suite("Lost and malformed frames", .timeLimit(.minutes(30)))
struct LossTests {
    @Test(
        "A lost notification is reported as an error, in its place among the values",
        arguments: FrameFault.allCases)
    func notified(_ fault: FrameFault) async throws {
        let stage = Stage()
        let far = stage.radio.addController()
        // An ATT_MTU of 100, which PDUs can be longer than.
        var options = AdapterOptions(seed: 2)
        options.host.preferredMTU = 100
        let peripheral = try await Adapter.open(far, options: options)
        let service = try await peripheral.publish(CentralScene.definition)
        try await peripheral.advertise(CentralScene.advertisement)
        let port = DisturbedPort(stage.radio.addController())
        let events = CentralRecorder(Recorder("central"))
        let manager = BluetoothEnvironment.with(
            transport: BluetoothTransport(port), stateDirectory: stage.stateDirectory
        ) { CBCentralManager(delegate: events, queue: events.recorder.queue) }
        await events.recorder.expect("state poweredOn")
        manager.scanForPeripherals(withServices: [CentralScene.service])
        await events.recorder.skip(to: "discovered")
        manager.stopScan()
        let device = try #require(await events.recorder.onQueue { events.peripherals.first })
        manager.connect(device)
        await events.recorder.skip(to: "connected")
        device.discoverServices([CentralScene.service])
        await events.recorder.skip(to: "services -")
        device.discoverCharacteristics(nil, for: try #require(device.services?.first))
        await events.recorder.skip(to: "characteristics")
        let characteristic = try #require(
            device.services?.first?.characteristics?.first { $0.uuid.uuidString == CentralScene.notified })
        device.setNotifyValue(true, for: characteristic)
        await events.recorder.expect("notifying F003 true -")
        port.disturb(2, of: 0x1B, by: fault)
        let local = try #require(service[BluetoothUUID(CentralScene.notified)!])
        let subscriber = try #require(local.subscribers.first)
        for number in 0..<4 as Range<UInt8> { try await subscriber.notify([number]) }
        for line in ["value F003 00 -", "value F003 01 -", "value F003 01 CB 0", "value F003 03 -"] {
            await events.recorder.expect(line)
        }
        await peripheral.close()
    }

    @Test(
        "A central is disconnected if one of its writes without response is lost or malformed",
        arguments: FrameFault.allCases)
    func written(_ fault: FrameFault) async throws {
        let stage = Stage()
        let port = DisturbedPort(
            stage.radio.addController { $0.publicAddress = PeripheralScene.address })
        let delegate = PeripheralRecorder(Recorder("peripheral"))
        let manager = BluetoothEnvironment.with(
            transport: BluetoothTransport(port), stateDirectory: stage.stateDirectory
        ) { CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue) }
        await delegate.recorder.expect("state poweredOn")
        manager.add(
            CBMutableService(
                PeripheralScene.service.uuidString, [CBMutableCharacteristic("F001", .writeWithoutResponse)]))
        await delegate.recorder.expect("added \(PeripheralScene.service.uuidString) -")
        manager.startAdvertising(nil)
        await delegate.recorder.expect("advertising true -")
        var options = AdapterOptions()
        options.host.preferredMTU = 100
        let adapter = try await Adapter.open(stage.radio.addController(), options: options)
        let central = try await adapter.connect(to: PeripheralScene.address)
        let characteristic = try await central.characteristic("F001")
        port.disturb(1, of: 0x52, by: fault)
        for number in 0..<3 as Range<UInt8> { try? await central.writeWithoutResponse([number], to: characteristic) }
        #expect(try await central.waitForDisconnection() == .byPeer)
        #expect(await delegate.recorder.next().hasPrefix("write"))
        await adapter.close()
    }
}
