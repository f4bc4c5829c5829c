import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothLE
import BluetoothNumbers
import CommandLineSupport

/// The value of an attribute for a person: what it means where that is known, text where it is text, else its octets.
enum ValueText {
    static func text(
        _ octets: [UInt8], of uuid: BluetoothUUID, _ permissions: DeviceDocument.Permissions
    ) -> String {
        if let error = permissions.readError { return "cannot be read: \(error)" }
        guard !octets.isEmpty else { return "empty" }
        if let meaning = meaning(octets, of: uuid) { return "\(octets.hexadecimal())  \(meaning)" }
        guard let text = readable(octets) else { return octets.hexadecimal() }
        return quoted(text)
    }

    /// What a value of a standard type says; nil without such a type, or if the value is not well formed.
    private static func meaning(_ octets: [UInt8], of uuid: BluetoothUUID) -> String? {
        let number = octets.reversed().reduce(0) { ($0 as UInt64) << 8 | UInt64($1) }
        switch (uuid.uint16, octets.count) {
        case (0x2A01, 2): return AssignedNumbers.name(ofAppearance: UInt16(number))
        case (0x2A19, 1): return "\(number) %"
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
        case (0x2A37, _):
            guard let value = try? HeartRateMeasurement(decoding: octets.span) else { return nil }
            return "\(value.heartRate) beats per minute"
        default: return nil
        }
    }

    /// The octets as text, if a person would take them for one: UTF-8 without control characters, but for zeros at the end.
    private static func readable(_ octets: [UInt8]) -> String? {
        let content = octets.reversed().drop { $0 == 0 }.reversed()
        guard !content.isEmpty, content.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: Array(octets), as: UTF8.self)
    }
}
