import CoreBluetooth

/// Written for an SDK whose `service` was no optional.
final class ValueReader: NSObject, CBPeripheralDelegate {
    var values: [CBUUID: Data] = [:]

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard characteristic.service.uuid == CBUUID(string: "180D") else { return }
        values[characteristic.service.uuid] = characteristic.value
    }
}
