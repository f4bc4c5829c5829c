import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothLE
import BluetoothNumbers
import BluetoothCommandLine

/// The value of an attribute for users: its meaning if it is known, the text if it is text, and otherwise its octets.
enum ValueText {
    static func text(
        _ octets: [UInt8], of uuid: BluetoothUUID, _ permissions: DeviceDocument.Permissions
    ) -> String {
        if let error = permissions.readError { return "cannot be read: \(error)" }
        guard !octets.isEmpty else { return "empty" }
        if let meaning = meaning(octets, of: uuid) { return "\(octets.hexadecimal())  \(meaning)" }
        switch ValueFormat.automatic(octets, of: uuid) {
        case .fields(let fields):
            // The first field needs no name, because it is the subject of the characteristic.
            let parts = fields.enumerated().map { $0 == 0 ? $1.text : "\($1.name) \($1.text)" }
            return "\(octets.hexadecimal())  \(parts.joined(separator: ", "))"
        case .text(let text): return quoted(text)
        case .octets, .integers, .numbers, .malformed: return octets.hexadecimal()
        }
    }

    /// The meaning of a value that is an assigned number or belongs to a descriptor; nil for other values.
    private static func meaning(_ octets: [UInt8], of uuid: BluetoothUUID) -> String? {
        let number = octets.reversed().reduce(0) { ($0 as UInt64) << 8 | UInt64($1) }
        switch (uuid.uint16, octets.count) {
        case (0x2A01, 2): return AssignedNumbers.name(ofAppearance: UInt16(number))
        case (0x2900, 2):
            let properties = GATTExtendedProperties(rawValue: UInt16(number))
            var words: [String] = []
            if properties.contains(.reliableWrite) { words.append("reliable write") }
            if properties.contains(.writableAuxiliaries) { words.append("writable auxiliaries") }
            return words.isEmpty ? nil : words.joined(separator: ", ")
        case (0x2904, 7):
            // Characteristic Presentation Format (Core 5.4, Vol 3, Part G, 3.3.3.5).
            let unit = UInt16(octets[2]) | UInt16(octets[3]) << 8
            let exponent = Int8(bitPattern: octets[1])
            return (AssignedNumbers.name(ofUnit: unit) ?? "unit 0x" + hexadecimal(unit, digits: 4))
                + (exponent == 0 ? "" : ", exponent \(exponent)")
        default: return nil
        }
    }
}
