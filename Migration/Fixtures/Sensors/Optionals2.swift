import CoreBluetooth

/// Several steps, and a value that is passed on.
func owner(of descriptor: CBDescriptor) -> String {
    describe(descriptor.characteristic.service) + descriptor.characteristic.service.peripheral.identifier.uuidString
}

private func describe(_ service: CBService) -> String { service.uuid.uuidString }
