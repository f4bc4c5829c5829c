import CoreBluetooth

struct Catalog {
    let onValue: (CBCharacteristic) -> String = { (characteristic: CBCharacteristic) in
        characteristic.service.uuid.uuidString
    }

    /// What is unwrapped already stays.
    func peripheral(of service: CBService) -> CBPeripheral? {
        let own: CBMutableService? = service as? CBMutableService
        if let peripheral = own?.peripheral { return peripheral }
        return service.peripheral
    }
}
