import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// An app that takes a sensor's readings, again after each disconnection.
private final class Monitor: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var readings: [UInt8] = []
    private(set) var connections = 0
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "1809")]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        connections += 1
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for found in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        if let reading = characteristic.value?.first { readings.append(reading) }
    }
}

@Suite(.timeLimit(.minutes(30)))
struct WorldTests {
    /// Plays an app in worlds with faults. Returns the violations, and the number of readings.
    private func play(_ seeds: Range<UInt64>, limit: Int) throws -> (failed: Int, readings: Int) {
        var readings = 0
        let failures = try World.play(seeds: seeds, for: .seconds(40), weather: .links) { world in
            let value = VirtualCharacteristic("2A1E", .notify)
            let sensor = VirtualPeripheral(name: "T", services: [VirtualService("1809", characteristics: [value])])
            world.add(sensor) { sensor in
                for number in 0..<UInt8.max {
                    try await world.clock.sleep(for: .milliseconds(500))
                    try await sensor.simulateValueUpdate(Data([number]), for: "2A1E")
                }
            }
            let app = try world.app { Monitor() }
            world.always("readings are in order") { app.readings == app.readings.sorted() }
            world.always("there are few readings") { app.readings.count < limit }
            world.schedule(at: world.now.advanced(by: .seconds(39))) { readings += app.readings.count }
        }
        return (failures.count, readings)
    }

    @Test func `an app keeps its invariants in worlds with faults`() throws {
        let outcome = try play(0..<10, limit: .max)
        #expect(outcome.failed == 0 && outcome.readings > 100)
    }

    @Test func `a peripheral stays in a world that gives it nothing to do`() throws {
        let world = World(seed: 1)
        world.add(VirtualPeripheral(name: "T", services: [VirtualService("1809")]))
        let app = try world.app { Monitor() }
        world.run(for: .seconds(20))
        #expect(app.connections == 1)
        world.end()
        #expect(world.violations.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a mistake in the declaration of a peripheral fails the world`(isTooLong: Bool) throws {
        let world = World(seed: 1)
        let payload = VirtualAdvertisement(manufacturerData: isTooLong ? Data(count: 100) : nil)
        world.add(VirtualPeripheral(name: "T", advertisements: [payload], services: [VirtualService("1809")])) {
            // The characteristic does not exist.
            if !isTooLong { try await $0.simulateValueUpdate(Data([1]), for: "2A1E") }
        }
        world.run(for: .seconds(1))
        world.end()
        #expect(world.violations.map(\.rule) == [.application])
        #expect(world.violations.first?.text.contains("the peripheral T") == true)
    }

    @Test func `a fault that ends a peripheral does not fail the world`() throws {
        let world = World(seed: 1)
        let sensor = VirtualPeripheral(
            name: "T", services: [VirtualService("1809", characteristics: [.init("2A1E", .read, value: Data([1]))])])
        world.add(sensor) { sensor in
            sensor.simulateReset()
            try await sensor.simulateAdvertising([])
            try await sensor.simulateAdvertising([VirtualAdvertisement(name: "T")])
        }
        world.run(for: .seconds(1))
        world.end()
        #expect(world.violations.isEmpty)
    }

    @Test func `an invariant that does not hold fails the world, and the same seeds give the same readings`() throws {
        let outcome = try play(0..<3, limit: 5)
        #expect(outcome.failed == 3)
        #expect(try play(0..<3, limit: 5) == outcome)
    }
}
