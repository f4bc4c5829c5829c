import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The handles of the values that the host itself serves, and the hash of the database.
struct OwnServices: Sendable {
    /// The handle of the Service Changed value; 0 if it does not exist.
    private(set) var serviceChangedHandle: AttributeHandle = 0
    /// The handle of the Central Address Resolution value; 0 if it does not exist.
    private(set) var centralAddressResolution: AttributeHandle = 0
    /// The handle of the Encrypted Data Key Material value; 0 if it does not exist.
    private(set) var encryptedDataKeyMaterial: AttributeHandle = 0
    /// The cached Database Hash. Computed only when needed, because services are often added by the dozen, and each
    /// changes it.
    private var hash: UInt128?

    /// Notes that Generic Access was added.
    mutating func added(access: GATTServiceDefinition, _ handles: GATTServiceHandles?) {
        centralAddressResolution = Self.handle(of: .centralAddressResolution, in: access, handles)
        encryptedDataKeyMaterial = Self.handle(of: .encryptedDataKeyMaterial, in: access, handles)
    }

    /// Notes that a Generic Attribute service was added. Only the first one is used.
    mutating func added(attribute: GATTServiceDefinition, _ handles: GATTServiceHandles?) {
        guard serviceChangedHandle == 0 else { return }
        serviceChangedHandle = Self.handle(of: .serviceChanged, in: attribute, handles)
    }

    /// Notes that a service was removed.
    mutating func removed(_ handles: ClosedRange<AttributeHandle>) {
        if handles.contains(serviceChangedHandle) { serviceChangedHandle = 0 }
        if handles.contains(centralAddressResolution) { centralAddressResolution = 0 }
        if handles.contains(encryptedDataKeyMaterial) { encryptedDataKeyMaterial = 0 }
    }

    mutating func databaseChanged() { hash = nil }

    /// The Database Hash (Core 5.4, Vol 3, Part G, 7.3).
    mutating func hash(of database: borrowing GATTDatabase, _ crypto: any CryptoToolbox) -> UInt128 {
        if let hash { return hash }
        var input = ByteWriter()
        database.appendHashInput(into: &input)
        let computed = crypto.authenticationCode(key: 0, message: input.bytes)
        hash = computed
        return computed
    }

    private static func handle(
        of uuid: BluetoothUUID, in definition: GATTServiceDefinition, _ handles: GATTServiceHandles?
    ) -> AttributeHandle {
        guard let index = definition.characteristics.firstIndex(where: { $0.uuid == uuid }) else { return 0 }
        return handles?.characteristics[index].value ?? 0
    }
}
