import BluetoothBase

/// What an AD structure contains (Core Supplement, Part A, 1; the numbers are in Assigned Numbers, 2.3).
public struct ADType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable public static var flags: Self { Self(rawValue: 0x01) }
    @inlinable public static var incompleteServiceUUIDs16: Self { Self(rawValue: 0x02) }
    @inlinable public static var completeServiceUUIDs16: Self { Self(rawValue: 0x03) }
    @inlinable public static var incompleteServiceUUIDs32: Self { Self(rawValue: 0x04) }
    @inlinable public static var completeServiceUUIDs32: Self { Self(rawValue: 0x05) }
    @inlinable public static var incompleteServiceUUIDs128: Self { Self(rawValue: 0x06) }
    @inlinable public static var completeServiceUUIDs128: Self { Self(rawValue: 0x07) }
    @inlinable public static var shortenedLocalName: Self { Self(rawValue: 0x08) }
    @inlinable public static var completeLocalName: Self { Self(rawValue: 0x09) }
    @inlinable public static var txPowerLevel: Self { Self(rawValue: 0x0A) }
    @inlinable public static var solicitedServiceUUIDs16: Self { Self(rawValue: 0x14) }
    @inlinable public static var solicitedServiceUUIDs128: Self { Self(rawValue: 0x15) }
    @inlinable public static var serviceData16: Self { Self(rawValue: 0x16) }
    @inlinable public static var appearance: Self { Self(rawValue: 0x19) }
    @inlinable public static var solicitedServiceUUIDs32: Self { Self(rawValue: 0x1F) }
    @inlinable public static var serviceData32: Self { Self(rawValue: 0x20) }
    @inlinable public static var serviceData128: Self { Self(rawValue: 0x21) }
    @inlinable public static var manufacturerSpecificData: Self { Self(rawValue: 0xFF) }
}

extension ADType {
    /// For a list of service UUIDs, how many octets each takes; otherwise 0.
    @inlinable
    public var serviceUUIDLength: Int {
        switch rawValue {
        case 0x02, 0x03: 2
        case 0x04, 0x05: 4
        case 0x06, 0x07: 16
        default: 0
        }
    }

    /// For a list of solicited service UUIDs, how many octets each takes; otherwise 0.
    @inlinable
    public var solicitedServiceUUIDLength: Int {
        switch rawValue {
        case 0x14: 2
        case 0x1F: 4
        case 0x15: 16
        default: 0
        }
    }

    /// For service data, how many octets the UUID before the data takes; otherwise 0.
    @inlinable
    public var serviceDataUUIDLength: Int {
        switch rawValue {
        case 0x16: 2
        case 0x20: 4
        case 0x21: 16
        default: 0
        }
    }
}

extension ADType: CustomStringConvertible {
    /// The name in Assigned Numbers; nil for a number that has none.
    public var name: String? {
        switch rawValue {
        case 0x01: "Flags"
        case 0x02: "Incomplete List of 16-bit Service UUIDs"
        case 0x03: "Complete List of 16-bit Service UUIDs"
        case 0x04: "Incomplete List of 32-bit Service UUIDs"
        case 0x05: "Complete List of 32-bit Service UUIDs"
        case 0x06: "Incomplete List of 128-bit Service UUIDs"
        case 0x07: "Complete List of 128-bit Service UUIDs"
        case 0x08: "Shortened Local Name"
        case 0x09: "Complete Local Name"
        case 0x0A: "Tx Power Level"
        case 0x0D: "Class of Device"
        case 0x0E: "Simple Pairing Hash C-192"
        case 0x0F: "Simple Pairing Randomizer R-192"
        case 0x10: "Security Manager TK Value"
        case 0x11: "Security Manager Out of Band Flags"
        case 0x12: "Peripheral Connection Interval Range"
        case 0x14: "List of 16-bit Service Solicitation UUIDs"
        case 0x15: "List of 128-bit Service Solicitation UUIDs"
        case 0x16: "Service Data - 16-bit UUID"
        case 0x17: "Public Target Address"
        case 0x18: "Random Target Address"
        case 0x19: "Appearance"
        case 0x1A: "Advertising Interval"
        case 0x1B: "LE Bluetooth Device Address"
        case 0x1C: "LE Role"
        case 0x1D: "Simple Pairing Hash C-256"
        case 0x1E: "Simple Pairing Randomizer R-256"
        case 0x1F: "List of 32-bit Service Solicitation UUIDs"
        case 0x20: "Service Data - 32-bit UUID"
        case 0x21: "Service Data - 128-bit UUID"
        case 0x22: "LE Secure Connections Confirmation Value"
        case 0x23: "LE Secure Connections Random Value"
        case 0x24: "URI"
        case 0x25: "Indoor Positioning"
        case 0x26: "Transport Discovery Data"
        case 0x27: "LE Supported Features"
        case 0x28: "Channel Map Update Indication"
        case 0x29: "PB-ADV"
        case 0x2A: "Mesh Message"
        case 0x2B: "Mesh Beacon"
        case 0x2C: "BIGInfo"
        case 0x2D: "Broadcast_Code"
        case 0x2E: "Resolvable Set Identifier"
        case 0x2F: "Advertising Interval - long"
        case 0x30: "Broadcast_Name"
        case 0x31: "Encrypted Advertising Data"
        case 0x32: "Periodic Advertising Response Timing Information"
        case 0x34: "Electronic Shelf Label"
        case 0x3D: "3D Information Data"
        case 0xFF: "Manufacturer Specific Data"
        default: nil
        }
    }

    /// The name, or `AD type 0x99` for a number that has none.
    public var description: String { name ?? "AD type 0x" + hexadecimal(rawValue) }
}
