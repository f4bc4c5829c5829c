import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Both roles, end to end", .timeLimit(.minutes(30)))
struct CardTests {
    static let service = CBUUID(string: "E07F0AE8-00BB-47F5-94F4-4A7174EA3032")
    static let notified = CBUUID(string: "F001")
    static let written = CBUUID(string: "F002")

    @Test("The order of callbacks on both sides")
    func order() async throws {
        let stage = Stage()
        let (near, far) = (stage.radio.addController(), stage.radio.addController())
        let (central, peripheral) = (CentralRecorder(Recorder("central")), PeripheralRecorder(Recorder("peripheral")))

        let server = stage.with(far) { CBPeripheralManager(delegate: peripheral, queue: peripheral.recorder.queue) }
        #expect(server.state == .unknown)
        await peripheral.recorder.expect("state poweredOn")
        let card = CBMutableCharacteristic(type: Self.notified, properties: .notify, value: nil, permissions: .readable)
        let box = CBMutableCharacteristic(
            type: Self.written, properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [card, box]
        server.add(service)
        await peripheral.recorder.expect("added \(Self.service.uuidString) -")
        server.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [Self.service], CBAdvertisementDataLocalNameKey: "Card",
        ])
        await peripheral.recorder.expect("advertising true -")

        let manager = stage.with(near) { CBCentralManager(delegate: central, queue: central.recorder.queue) }
        #expect(manager.state == .unknown)
        await central.recorder.expect("state poweredOn")
        manager.scanForPeripherals(withServices: [Self.service])
        await central.recorder.skip(to: "discovered Card")
        manager.stopScan()
        let found = try #require(central.peripherals.first)
        manager.connect(found)
        #expect(found.state == .connecting)
        await central.recorder.skip(to: "connected connected")
        found.discoverServices([Self.service])
        await central.recorder.skip(to: "services -")
        let discovered = try #require(found.services?.first)
        found.discoverCharacteristics(nil, for: discovered)
        await central.recorder.expect("characteristics \(Self.service.uuidString) -")
        let characteristics = try #require(discovered.characteristics)
        #expect(characteristics.map(\.uuid) == [Self.notified, Self.written])
        found.setNotifyValue(true, for: characteristics[0])
        await central.recorder.expect("notifying F001 true -")
        await peripheral.recorder.expect("subscribed F001")
        #expect(card.subscribedCentrals?.count == 1)
        for text in ["first", "second", "EOM"] {
            #expect(server.updateValue(Data(text.utf8), for: card, onSubscribedCentrals: nil))
        }
        for text in ["first", "second", "EOM"] {
            await central.recorder.expect("value F001 \(Data(text.utf8).hex) -")
        }

        peripheral.answer = { manager, requests in
            requests[0].value = requests[0].value ?? Data([1, 2, 3]).dropFirst(requests[0].offset)
            manager.respond(to: requests[0], withResult: .success)
        }
        found.writeValue(Data([7, 8]), for: characteristics[1], type: .withResponse)
        found.readValue(for: characteristics[1])
        await peripheral.recorder.expect("write F002 0 0708", "read F002 0")
        await central.recorder.expect("written F002 -", "value F002 010203 -")
        manager.cancelPeripheralConnection(found)
        await central.recorder.expect("disconnected disconnected -")
        await peripheral.recorder.expect("unsubscribed F001")
        #expect(card.subscribedCentrals?.isEmpty == true)
        #expect(central.recorder.strays == [] && peripheral.recorder.strays == [])
    }
}
