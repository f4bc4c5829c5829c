import BluetoothBase

/// The names that the Bluetooth SIG has given to numbers (the document Assigned Numbers).
///
/// The lists are in `Lists/`, which `Scripts/numbers` writes. Nothing is built when a program starts, and a list in
/// which it looks nothing up costs nothing but its place in the file.
///
/// A name is a company's or the SIG's text. It has no control characters, and may have any other character of Unicode.
public enum AssignedNumbers {
    /// The name of a service: `Heart Rate` for 0x180D (Assigned Numbers, 3.4). Nil for a vendor's own.
    public static func name(ofService uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { services.name(of: $0) }
    }

    /// The name of a characteristic: `Heart Rate Measurement` for 0x2A37 (Assigned Numbers, 3.8).
    public static func name(ofCharacteristic uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { characteristics.name(of: $0) }
    }

    /// The name of a descriptor: `Client Characteristic Configuration` for 0x2902 (Assigned Numbers, 3.7).
    public static func name(ofDescriptor uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { descriptors.name(of: $0) }
    }

    /// The name of an attribute that declares something: `Primary Service` for 0x2800 (Assigned Numbers, 3.6).
    public static func name(ofDeclaration uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { declarations.name(of: $0) }
    }

    /// The name of a unit: `thermodynamic temperature (kelvin)` for 0x2705 (Assigned Numbers, 3.5).
    public static func name(ofUnit number: UInt16) -> String? { units.name(of: number) }

    /// The name of the company that has an identifier: `Apple, Inc.` for 0x004C (Assigned Numbers, 7.1).
    public static func name(ofCompany identifier: UInt16) -> String? { companies.name(of: identifier) }

    /// The member of the SIG, or the standards organisation, to which a 16-bit UUID was allotted: `Google LLC` for 0xFEAA
    /// (Assigned Numbers, 3.10 and 3.11). It says what the UUID is for as it likes.
    public static func name(ofMember uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { members.name(of: $0) }
    }

    /// What an appearance is called: `Heart Rate Belt` for 0x0341 (Assigned Numbers, 2.6). One whose subcategory has no
    /// name has that of its category.
    public static func name(ofAppearance value: UInt16) -> String? {
        appearances.name(of: value) ?? appearances.name(of: value & ~0x3F)
    }

    /// The name of an advertising data type: `Flags` for 0x01 (Assigned Numbers, 2.3).
    public static func name(ofADType type: UInt8) -> String? { adTypes.name(of: UInt16(type)) }
}
