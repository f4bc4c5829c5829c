import BluetoothBase

/// The names of the numbers that the Bluetooth SIG has assigned (from the document Assigned Numbers).
///
/// The lists are in `Lists/`, which `Scripts/numbers` generates. They are not initialized at startup. A list that a
/// program does not use costs only its space in the executable.
///
/// Names are texts of companies or the SIG. They contain no control characters, but may contain any other Unicode
/// character.
public enum AssignedNumbers {
    /// Returns the name of a service, for example `Heart Rate` for 0x180D (Assigned Numbers, 3.4). Returns nil if the
    /// UUID is not assigned to a service, as for all vendor-specific UUIDs.
    public static func name(ofService uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { services.name(of: $0) }
    }

    /// Returns the name of a characteristic, for example `Heart Rate Measurement` for 0x2A37 (Assigned Numbers, 3.8).
    public static func name(ofCharacteristic uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { characteristics.name(of: $0) }
    }

    /// Returns the name of a descriptor, for example `Client Characteristic Configuration` for 0x2902 (Assigned
    /// Numbers, 3.7).
    public static func name(ofDescriptor uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { descriptors.name(of: $0) }
    }

    /// Returns the name of a declaration attribute, for example `Primary Service` for 0x2800 (Assigned Numbers, 3.6).
    public static func name(ofDeclaration uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { declarations.name(of: $0) }
    }

    /// Returns the name of a unit, for example `thermodynamic temperature (kelvin)` for 0x2705 (Assigned Numbers, 3.5).
    public static func name(ofUnit number: UInt16) -> String? { units.name(of: number) }

    /// Returns the name of the company with an identifier, for example `Apple, Inc.` for 0x004C (Assigned Numbers,
    /// 7.1).
    public static func name(ofCompany identifier: UInt16) -> String? { companies.name(of: identifier) }

    /// Returns the SIG member or standards organization to which a 16-bit UUID is allocated, for example `Google LLC`
    /// for 0xFEAA (Assigned Numbers, 3.10 and 3.11). The owner defines the purpose of the UUID.
    public static func name(ofMember uuid: BluetoothUUID) -> String? {
        uuid.uint16.flatMap { members.name(of: $0) }
    }

    /// Returns the name of an appearance, for example `Heart Rate Belt` for 0x0341 (Assigned Numbers, 2.6). If the
    /// subcategory has no name, this returns the name of the category.
    public static func name(ofAppearance value: UInt16) -> String? {
        appearances.name(of: value) ?? appearances.name(of: value & ~0x3F)
    }

    /// Returns the name of an advertising data type, for example `Flags` for 0x01 (Assigned Numbers, 2.3).
    public static func name(ofADType type: UInt8) -> String? { adTypes.name(of: UInt16(type)) }
}
