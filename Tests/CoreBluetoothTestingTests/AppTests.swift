import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// The app that is tested: it keeps what it is told of one sensor.
private final class App: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var manager: CBCentralManager!
    private var sensor: CBPeripheral?
    private let told = AsyncStream<String>.makeStream()
    private var iterator: AsyncStream<String>.Iterator

    override init() {
        iterator = told.stream.makeAsyncIterator()
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "app"))
    }

    /// What the app was told next.
    func next() async -> String? { await iterator.next() }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        told.continuation.yield("\(central.state)")
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        guard sensor == nil else { return }
        told.continuation.yield("found \(peripheral.name ?? "nil") at \(rssi)")
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        told.continuation.yield("lost, \((error as? CBError)?.code.rawValue ?? -1)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for characteristic in service.characteristics ?? [] {
            if characteristic.properties.contains(.notify) { peripheral.setNotifyValue(true, for: characteristic) }
            if characteristic.uuid == CBUUID(string: "2A38") { peripheral.readValue(for: characteristic) }
            if characteristic.uuid == CBUUID(string: "2A39") {
                peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
            }
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        told.continuation.yield("\(characteristic.uuid.uuidString) is \([UInt8](characteristic.value ?? Data()))")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        told.continuation.yield("written, \((error as? CBATTError)?.code.rawValue ?? 0)")
    }
}

/// The firmware of the sensor.
private final class Firmware: VirtualPeripheralDelegate {
    private(set) var written: [Data] = []

    func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data { Data([3]) }

    func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws {
        written.append(value)
        throw CBATTError(.insufficientResources)
    }
}

@Suite("An app's central, against declared peripherals", .timeLimit(.minutes(30)))
struct AppTests {
    private let air = TestRadio()
    private let firmware = Firmware()

    private func sensor() async throws -> VirtualPeripheral {
        let sensor = VirtualPeripheral(
            name: "Heart", advertising: ["180D"],
            services: [
                VirtualService(
                    "180D",
                    characteristics: [
                        VirtualCharacteristic("2A37", .notify), VirtualCharacteristic("2A38", .read),
                        VirtualCharacteristic("2A39", .write),
                    ])
            ], delegate: firmware)
        try await air.add(sensor)
        return sensor
    }

    @Test("An app finds a peripheral, reads, writes, and receives values and the disconnection")
    func values() async throws {
        let sensor = try await sensor()
        let app = air.app { App() }
        #expect(await app.next() == "poweredOn")
        #expect(await app.next() == "found Heart at -60")
        #expect(await app.next() == "2A38 is [3]")
        #expect(await app.next() == "written, 17")
        #expect(firmware.written == [Data([1])])
        try await sensor.simulateValueUpdate(Data([0, 72]), for: "2A37")
        #expect(await app.next() == "2A37 is [0, 72]")
        try await sensor.simulateDisconnection()
        #expect(await app.next() == "lost, 7")
    }

    @Test("Another program can join the app's link")
    func joined() async throws {
        let sensor = try await sensor()
        let app = air.app { App() }
        for line in ["poweredOn", "found Heart at -60", "2A38 is [3]", "written, 17"] {
            #expect(await app.next() == line)
        }
        try await sensor.simulateConnection()
        try await sensor.simulateDisconnection()
        #expect(await app.next() == "lost, 7")
    }

    @Test("An app's state follows its adapter: switched off, unauthorized, reset")
    func adapter() async throws {
        let sensor = try await sensor()
        let app = air.app { App() }
        #expect(await app.next() == "poweredOn")
        try await sensor.simulateConnection()
        await air.simulatePowerOff()
        while let line = await app.next(), line != "poweredOff" {}
        await air.simulatePowerOn()
        #expect(await app.next() == "poweredOn")
        await air.simulateAuthorization(.denied)
        #expect(await app.next() == "unauthorized")
        #expect(air.app { CBManager.authorization } == .denied)
        await air.simulateAuthorization(.allowedAlways)
        #expect(await app.next() == "poweredOn")
        air.simulateReset()
        #expect(await app.next() == "resetting")
        #expect(await app.next() == "poweredOn")
    }

    @Test(
        "A peripheral's proximity sets the RSSI that the app receives",
        arguments: [
            (TestRadio.Proximity.immediate, -40), (.near, -60), (.far, -85),
        ])
    func proximity(_ proximity: TestRadio.Proximity, strength: Int) async throws {
        let sensor = VirtualPeripheral(name: "Heart", advertising: ["180D"], proximity: .outOfRange)
        try await air.add(sensor)
        sensor.simulateProximityChange(proximity)
        let app = air.app { App() }
        #expect(await app.next() == "poweredOn")
        #expect(await app.next() == "found Heart at \(strength)")
    }
}
