import CoreBluetooth

/// A delegate of a central manager and of its peripherals, as an application writes one.
final class CentralRecorder: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    let recorder: Recorder
    /// The peripherals seen, which are kept, and what they advertised last.
    var peripherals: [CBPeripheral] = []
    /// The channels that were opened.
    var channels: [CBL2CAPChannel] = []
    var advertisements: [[String: Any]] = []

    /// A name may be told at any time after a connection, so it is only recorded where it is asked for.
    var tellsNames = false

    init(_ recorder: Recorder) { self.recorder = recorder }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { recorder.add("state \(central.state)") }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        peripherals += dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        for peripheral in peripherals { peripheral.delegate = self }
        recorder.add("restore \(dict.keys.sorted().joined(separator: " "))")
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        if !peripherals.contains(peripheral) { peripherals.append(peripheral) }
        peripheral.delegate = self
        advertisements.append(advertisementData)
        recorder.add("discovered \(peripheral.name ?? "nil")")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        recorder.add("connected \(peripheral.state)")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        recorder.add("failed \(error.line)")
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        recorder.add("disconnected \(peripheral.state) \(isReconnecting ? "reconnecting " : "")\(error.line)")
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        recorder.add("event \(event)")
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        if tellsNames { recorder.add("name \(peripheral.name ?? "nil")") }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        recorder.add("modified \(invalidatedServices.map(\.uuid.uuidString).joined(separator: " "))")
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
        recorder.add("rssi \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        recorder.add("services \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    {
        recorder.add("included \(service.uuid.uuidString) \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        recorder.add("characteristics \(service.uuid.uuidString) \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        recorder.add("value \(characteristic.uuid.uuidString) \(characteristic.value?.hex ?? "nil") \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        recorder.add("written \(characteristic.uuid.uuidString) \(error.line)")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        recorder.add("notifying \(characteristic.uuid.uuidString) \(characteristic.isNotifying) \(error.line)")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        recorder.add("descriptors \(characteristic.uuid.uuidString) \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        recorder.add("descriptor \(descriptor.uuid.uuidString) \(error.line)")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        recorder.add("descriptor written \(descriptor.uuid.uuidString) \(error.line)")
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { recorder.add("ready") }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { channels.append(channel) }
        recorder.add("channel \(error.line)")
    }
}

extension Data {
    var hex: String { map { String(format: "%02x", $0) }.joined() }
}
