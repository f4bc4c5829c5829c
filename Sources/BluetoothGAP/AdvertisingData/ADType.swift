import BluetoothBase
import BluetoothNumbers

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
    @inlinable public static var peripheralConnectionIntervalRange: Self { Self(rawValue: 0x12) }
    @inlinable public static var solicitedServiceUUIDs16: Self { Self(rawValue: 0x14) }
    @inlinable public static var solicitedServiceUUIDs128: Self { Self(rawValue: 0x15) }
    @inlinable public static var serviceData16: Self { Self(rawValue: 0x16) }
    @inlinable public static var publicTargetAddress: Self { Self(rawValue: 0x17) }
    @inlinable public static var randomTargetAddress: Self { Self(rawValue: 0x18) }
    @inlinable public static var appearance: Self { Self(rawValue: 0x19) }
    @inlinable public static var advertisingInterval: Self { Self(rawValue: 0x1A) }
    @inlinable public static var solicitedServiceUUIDs32: Self { Self(rawValue: 0x1F) }
    @inlinable public static var serviceData32: Self { Self(rawValue: 0x20) }
    @inlinable public static var serviceData128: Self { Self(rawValue: 0x21) }
    @inlinable public static var uri: Self { Self(rawValue: 0x24) }
    @inlinable public static var leSupportedFeatures: Self { Self(rawValue: 0x27) }
    @inlinable public static var advertisingIntervalLong: Self { Self(rawValue: 0x2F) }
    @inlinable public static var encryptedData: Self { Self(rawValue: 0x31) }
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
    public var name: String? { AssignedNumbers.name(ofADType: rawValue) }

    /// The name, or `AD type 0x99` for a number that has none.
    public var description: String { name ?? "AD type 0x" + hexadecimal(rawValue) }
}
