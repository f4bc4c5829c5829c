import Combine
import CoreBluetooth

/// The model that an app's views would observe. None of its code is specific to Linux.
final class HeartRateManager: NSObject, ObservableObject {
    @Published private(set) var status = "Starting"
    @Published private(set) var sensorName: String?
    @Published private(set) var heartRate: Int?
    @Published private(set) var batteryLevel: Int?

    private static let heartRateService = CBUUID(string: "180D")
    private static let heartRateMeasurement = CBUUID(string: "2A37")
    private static let batteryService = CBUUID(string: "180F")
    private static let batteryLevel = CBUUID(string: "2A19")

    private var centralManager: CBCentralManager?
    private var sensor: CBPeripheral?

    override init() {
        super.init()
        // With a restore identifier, the manager's activity continues in the next run, however this run ends.
        centralManager = CBCentralManager(
            delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "heart-rate-monitor"])
    }

    /// Releases the manager, which disconnects the sensor.
    func stop() {
        status = "Ending"
        sensor = nil
        centralManager = nil
    }

    /// Continues with the sensor of the previous run, if there was one, and scans otherwise.
    private func begin() {
        switch sensor?.state {
        case .connected: sensor?.discoverServices([Self.heartRateService, Self.batteryService])
        case .connecting: status = "Waiting for \(sensorName ?? "the sensor")"
        default: startScanning()
        }
    }

    private func startScanning() {
        status = "Looking for a heart rate sensor"
        centralManager?.scanForPeripherals(withServices: [Self.heartRateService])
    }

    /// Returns the beats per minute in a Heart Rate Measurement. Bit 0 of the flags selects an 8-bit or 16-bit value.
    private func beatsPerMinute(in data: Data) -> Int? {
        let bytes = [UInt8](data)
        guard let flags = bytes.first else { return nil }
        if flags & 0x01 == 0 { return bytes.count >= 2 ? Int(bytes[1]) : nil }
        return bytes.count >= 3 ? Int(bytes[1]) | Int(bytes[2]) << 8 : nil
    }
}

extension HeartRateManager: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: begin()
        case .poweredOff: status = "Bluetooth is off"
        case .unauthorized: status = "This app may not use Bluetooth"
        case .unsupported: status = "There is no Bluetooth here"
        case .resetting, .unknown: status = "Waiting for Bluetooth"
        @unknown default: status = "Bluetooth is in an unknown state"
        }
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        guard let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] else { return }
        sensor = peripherals.first
        sensor?.delegate = self
        sensorName = sensor?.name
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        central.stopScan()
        sensor = peripheral
        sensorName = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name
        status = "Connecting to \(sensorName ?? "a sensor"), \(rssi) dBm"
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        status = "Connected"
        peripheral.discoverServices([Self.heartRateService, Self.batteryService])
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        status = "Disconnected: \(error?.localizedDescription ?? "as wanted")"
        heartRate = nil
        sensor = nil
        startScanning()
    }
}

extension HeartRateManager: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] {
            if characteristic.properties.contains(.notify) { peripheral.setNotifyValue(true, for: characteristic) }
            if characteristic.properties.contains(.read) { peripheral.readValue(for: characteristic) }
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard error == nil, let value = characteristic.value else { return }
        switch characteristic.uuid {
        case Self.heartRateMeasurement: heartRate = beatsPerMinute(in: value)
        case Self.batteryLevel: batteryLevel = value.first.map { Int($0) }
        default: break
        }
    }
}
