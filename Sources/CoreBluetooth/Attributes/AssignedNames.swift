import BluetoothBase
import BluetoothNumbers

/// The names that Core Bluetooth prints for UUIDs of the Bluetooth SIG.
enum AssignedNames {
    static func name(of uuid: BluetoothUUID) -> String? {
        if let number = uuid.uint16, let name = applesOwn[number] { return name }
        // The lists have no number in common.
        return AssignedNumbers.name(ofService: uuid) ?? AssignedNumbers.name(ofCharacteristic: uuid)
            ?? AssignedNumbers.name(ofDescriptor: uuid) ?? AssignedNumbers.name(ofDeclaration: uuid)
    }

    /// Apple's names that differ from those in the current lists of the SIG.
    private static let applesOwn: [UInt16: String] = [
        0x1800: "Generic Access", 0x1801: "Generic Attribute", 0x2904: "Characteristic Format",
    ]
}
