import BluetoothBase

/// The names that the Bluetooth SIG has given to numbers (the document Assigned Numbers).
///
/// The lists are in `Lists/`, which `Scripts/numbers` writes. They are searched where they lie: nothing is built when a
/// program starts, and what it does not look up costs nothing but its place in the file.
///
/// A name is a company's or the SIG's text. It has no control characters, and may have any other character of Unicode.
public enum AssignedNumbers {
    /// The name of a service: `Heart Rate` for 0x180D (Assigned Numbers, 3.4). Nil for a vendor's own.
    public static func name(ofService uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { name(of: $0, in: services) }
    }

    /// The name of a characteristic: `Heart Rate Measurement` for 0x2A37 (Assigned Numbers, 3.8).
    public static func name(ofCharacteristic uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { name(of: $0, in: characteristics) }
    }

    /// The name of a descriptor: `Client Characteristic Configuration` for 0x2902 (Assigned Numbers, 3.7).
    public static func name(ofDescriptor uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { name(of: $0, in: descriptors) }
    }

    /// The name of an attribute that declares something: `Primary Service` for 0x2800 (Assigned Numbers, 3.6).
    public static func name(ofDeclaration uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { name(of: $0, in: declarations) }
    }

    /// The name of a unit: `thermodynamic temperature (kelvin)` for 0x2705 (Assigned Numbers, 3.5).
    public static func name(ofUnit number: UInt16) -> String? { name(of: number, in: units) }

    /// The name of the company that has an identifier: `Apple, Inc.` for 0x004C (Assigned Numbers, 7.1).
    public static func name(ofCompany identifier: UInt16) -> String? { name(of: identifier, in: companies) }

    /// The member of the SIG, or the standards organisation, to which a 16-bit UUID was allotted: `Google LLC` for 0xFEAA
    /// (Assigned Numbers, 3.10 and 3.11). It says what the UUID is for as it likes.
    public static func name(ofMember uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { name(of: $0, in: members) }
    }

    /// What an appearance is called: `Heart Rate Belt` for 0x0341 (Assigned Numbers, 2.6). One whose subcategory has no
    /// name has that of its category.
    public static func name(ofAppearance value: UInt16) -> String? {
        name(of: value, in: appearances) ?? name(of: value & ~0x3F, in: appearances)
    }

    /// The name of an advertising data type: `Flags` for 0x01 (Assigned Numbers, 2.3).
    public static func name(ofADType type: UInt8) -> String? { name(of: UInt16(type), in: adTypes) }

    /// The name in the line of `list` that begins with `number`.
    ///
    /// A list has lines of four hexadecimal digits, a space and a name, in ascending order. So the middle of what is left
    /// is looked at, and from there back to the beginning of its line.
    static func name(of number: UInt16, in list: StaticString) -> String? {
        list.withUTF8Buffer { text in
            /// The beginnings of the first line that may be it, and of the first behind that may not.
            var lower = text.startIndex, upper = text.endIndex
            while lower < upper {
                var start = lower + (upper - lower) / 2
                while start > lower, text[start - 1] != lineFeed { start -= 1 }
                let end = text[start..<upper].firstIndex(of: lineFeed) ?? upper
                let found = text[start..<end].prefix(4).reduce(0) { $0 << 4 | value(ofDigit: $1) }
                if found == number { return String(decoding: text[start..<end].dropFirst(5), as: UTF8.self) }
                if found < number { lower = min(end + 1, upper) } else { upper = start }
            }
            return nil
        }
    }

    private static var lineFeed: UInt8 { 0x0A }

    /// The value of an upper-case hexadecimal digit.
    private static func value(ofDigit digit: UInt8) -> UInt16 {
        UInt16(digit <= UInt8(ascii: "9") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "A") &+ 10)
    }
}
