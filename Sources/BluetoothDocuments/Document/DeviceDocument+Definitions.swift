import BluetoothATT
import BluetoothBase
import BluetoothGATT

// Conversion of the parts of a document to the definitions of a database.

extension DeviceDocument.Service {
    /// The definition of the service. `layout` fills in the handles of included services.
    var definition: GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: uuid, isPrimary: isPrimary, includes: includes.map { _ in 0 },
            characteristics: characteristics.map { $0.definition(in: uuid) }, handle: handle, endHandle: endHandle,
            includeHandles: includes.map(\.handle))
    }
}

extension DeviceDocument.Characteristic {
    fileprivate func definition(in service: BluetoothUUID) -> GATTCharacteristicDefinition {
        let granted = permissions.granted(over: GATTPermissions(openFor: properties))
        // Each client has its own value of this characteristic.
        let isPerClient =
            service == .genericAttribute && uuid == .clientSupportedFeatures && properties.contains(.write)
        return GATTCharacteristicDefinition(
            uuid: uuid, properties: properties, permissions: granted, subscription: permissions.subscribe,
            value: isPerClient ? .clientSupportedFeatures : value.stored, descriptors: descriptors.map(\.definition),
            addsDescriptors: addsDescriptors, handle: handle, valueHandle: valueHandle)
    }
}

extension DeviceDocument.Descriptor {
    fileprivate var definition: GATTDescriptorDefinition {
        let isConfiguration = uuid == .clientCharacteristicConfiguration
        let usual: GATTPermissions = isConfiguration ? .init(read: .open, write: .open) : .readOnly
        return GATTDescriptorDefinition(
            uuid: uuid, permissions: permissions.granted(over: usual), value: value.stored, handle: handle)
    }
}

extension DeviceDocument.Value {
    fileprivate var stored: GATTAttributeValue {
        maximumLength.map { .variableLength(octets, maximum: max($0, octets.count)) } ?? .fixedLength(octets)
    }
}

extension DeviceDocument.Permissions {
    fileprivate func granted(over usual: GATTPermissions) -> GATTPermissions {
        var granted = usual
        if let read { granted.read = read }
        if let write { granted.write = write }
        if let keySize { granted.minimumEncryptionKeySize = keySize }
        if let readError { (granted.read, granted.readError) = (.notAllowed, readError) }
        if let writeError { (granted.write, granted.writeError) = (.notAllowed, writeError) }
        return granted
    }
}
