import BluetoothBase
import BluetoothSimulation
import CoreBluetooth
import Testing

/// An application of one's own on Core Bluetooth in many worlds: a thermometer that counts its readings, and a phone
/// that takes them for as long as it can. What it shows must never go back, whatever the weather does to the link.
@Suite("A custom application on Core Bluetooth")
struct OwnDelegatesTests {
    @Test("Readings never go back, whatever the weather", arguments: [ScenarioKind.links, .controllers])
    func thermometer(_ weather: ScenarioKind) throws {
        var total = 0
        let failures = try World.play(seeds: 0..<20, for: .seconds(60), weather: weather) { world in
            let sensor = world.addStation(), phone = world.addStation()
            try sensor.launch { Thermometer(world) }
            var last: UInt8?
            try phone.launch {
                Phone { reading in
                    total += 1
                    if let before = last, reading <= before {
                        world.fail(.application, "reading \(reading) after reading \(before)")
                    }
                    last = reading
                }
            }
        }
        #expect(failures.isEmpty, "\(failures)")
        #expect(total > 1_000)
    }

    @Test("The same seed gives the same readings, and the world releases its applications")
    func repeatable() throws {
        func readings(_ seed: UInt64) throws -> [UInt8] {
            let world = World(seed: seed)
            var readings: [UInt8] = []
            weak var phone: Phone?
            try world.addStation().launch { Thermometer(world) }
            phone = try world.addStation().launch { Phone { readings.append($0) } }
            world.run(for: .seconds(20))
            #expect(phone != nil)
            world.end()
            #expect(phone == nil && world.violations.isEmpty)
            return readings
        }
        let first = try readings(4)
        #expect(try readings(4) == first && first.count > 50)
    }
}

private var service: CBUUID { CBUUID(string: "1809") }
private var characteristic: CBUUID { CBUUID(string: "2A1E") }

private final class Thermometer: NSObject, CBPeripheralManagerDelegate {
    private let world: World
    private var manager: CBPeripheralManager?
    private var reading: CBMutableCharacteristic?
    private var number: UInt8 = 0

    init(_ world: World) {
        self.world = world
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "thermometer"))
        measure()
    }

    /// Four times a second.
    private func measure() {
        world.schedule(at: world.now.advanced(by: .milliseconds(250))) { [weak self] in
            guard let self else { return }
            if let reading, manager?.state == .poweredOn {
                number += 1
                _ = manager?.updateValue(Data([number]), for: reading, onSubscribedCentrals: nil)
            }
            measure()
        }
    }

    func peripheralManagerDidUpdateState(_ manager: CBPeripheralManager) {
        reading = nil
        guard manager.state == .poweredOn else { return }
        let added = CBMutableService(type: service, primary: true)
        let value = CBMutableCharacteristic(type: characteristic, properties: .notify, value: nil, permissions: [])
        added.characteristics = [value]
        reading = value
        manager.add(added)
        manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service]])
    }
}

private final class Phone: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private let show: (UInt8) -> Void
    private var central: CBCentralManager?
    private var thermometer: CBPeripheral?

    init(_ show: @escaping (UInt8) -> Void) {
        self.show = show
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [service]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        thermometer = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([service])
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for found in peripheral.services ?? [] { peripheral.discoverCharacteristics([characteristic], for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for found in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        if error == nil, let reading = characteristic.value?.first { show(reading) }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        peripheral.discoverServices([service])
    }
}
