import BluetoothBase
import BluetoothNumbers

/// The type of an AD structure, which defines its content (Core Supplement, Part A, 1; the values are in Assigned
/// Numbers, 2.3).
public struct ADType: RawRepresentable, Hashable, Sendable {
    /// The octet that follows the length in an AD structure.
    public var rawValue: UInt8

    /// Creates a type from its octet, whether or not the value is assigned.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Flags: the discoverability of the device (Core Supplement, Part A, 1.3).
    @inlinable public static var flags: Self { Self(rawValue: 0x01) }
    /// An incomplete list of 16-bit service UUIDs (Core Supplement, Part A, 1.1).
    @inlinable public static var incompleteServiceUUIDs16: Self { Self(rawValue: 0x02) }
    /// A complete list of 16-bit service UUIDs (Core Supplement, Part A, 1.1).
    @inlinable public static var completeServiceUUIDs16: Self { Self(rawValue: 0x03) }
    /// An incomplete list of 32-bit service UUIDs (Core Supplement, Part A, 1.1).
    @inlinable public static var incompleteServiceUUIDs32: Self { Self(rawValue: 0x04) }
    /// A complete list of 32-bit service UUIDs (Core Supplement, Part A, 1.1).
    @inlinable public static var completeServiceUUIDs32: Self { Self(rawValue: 0x05) }
    /// An incomplete list of 128-bit service UUIDs (Core Supplement, Part A, 1.1).
    @inlinable public static var incompleteServiceUUIDs128: Self { Self(rawValue: 0x06) }
    /// A complete list of 128-bit service UUIDs (Core Supplement, Part A, 1.1).
    @inlinable public static var completeServiceUUIDs128: Self { Self(rawValue: 0x07) }
    /// The beginning of the device's name, in UTF-8 (Core Supplement, Part A, 1.2).
    @inlinable public static var shortenedLocalName: Self { Self(rawValue: 0x08) }
    /// The device's complete name, in UTF-8 (Core Supplement, Part A, 1.2).
    @inlinable public static var completeLocalName: Self { Self(rawValue: 0x09) }
    /// The transmit power of the packet in dBm, one signed octet (Core Supplement, Part A, 1.5).
    @inlinable public static var txPowerLevel: Self { Self(rawValue: 0x0A) }
    /// The peripheral's preferred range of connection intervals, in units of 1.25 ms (Core Supplement, Part A, 1.9).
    @inlinable public static var peripheralConnectionIntervalRange: Self { Self(rawValue: 0x12) }
    /// The 16-bit UUIDs of the services that the device solicits (Core Supplement, Part A, 1.10).
    @inlinable public static var solicitedServiceUUIDs16: Self { Self(rawValue: 0x14) }
    /// The 128-bit UUIDs of the services that the device solicits (Core Supplement, Part A, 1.10).
    @inlinable public static var solicitedServiceUUIDs128: Self { Self(rawValue: 0x15) }
    /// Service data after a 16-bit service UUID (Core Supplement, Part A, 1.11).
    @inlinable public static var serviceData16: Self { Self(rawValue: 0x16) }
    /// The public addresses of the intended recipients, six octets each (Core Supplement, Part A, 1.13).
    @inlinable public static var publicTargetAddress: Self { Self(rawValue: 0x17) }
    /// The random addresses of the intended recipients, six octets each (Core Supplement, Part A, 1.14).
    @inlinable public static var randomTargetAddress: Self { Self(rawValue: 0x18) }
    /// The external appearance of the device (Core Supplement, Part A, 1.12).
    @inlinable public static var appearance: Self { Self(rawValue: 0x19) }
    /// The advertising interval as two octets, in units of 0.625 ms (Core Supplement, Part A, 1.15).
    @inlinable public static var advertisingInterval: Self { Self(rawValue: 0x1A) }
    /// The 32-bit UUIDs of the services that the device solicits (Core Supplement, Part A, 1.10).
    @inlinable public static var solicitedServiceUUIDs32: Self { Self(rawValue: 0x1F) }
    /// Service data after a 32-bit service UUID (Core Supplement, Part A, 1.11).
    @inlinable public static var serviceData32: Self { Self(rawValue: 0x20) }
    /// Service data after a 128-bit service UUID (Core Supplement, Part A, 1.11).
    @inlinable public static var serviceData128: Self { Self(rawValue: 0x21) }
    /// A URI whose scheme is abbreviated to one code point (Core Supplement, Part A, 1.18).
    @inlinable public static var uri: Self { Self(rawValue: 0x24) }
    /// The features that the Link Layer supports (Core Supplement, Part A, 1.19).
    @inlinable public static var leSupportedFeatures: Self { Self(rawValue: 0x27) }
    /// The advertising interval as three or four octets, in units of 0.625 ms (Core Supplement, Part A, 1.15).
    @inlinable public static var advertisingIntervalLong: Self { Self(rawValue: 0x2F) }
    /// Encrypted Data: AD structures that only holders of the key material can decrypt (Core Supplement, Part A, 1.23).
    @inlinable public static var encryptedData: Self { Self(rawValue: 0x31) }
    /// Data in a manufacturer's format, after its company identifier (Core Supplement, Part A, 1.4).
    @inlinable public static var manufacturerSpecificData: Self { Self(rawValue: 0xFF) }
}

extension ADType {
    /// The size of each UUID in octets if this is a list of service UUIDs; otherwise 0.
    @inlinable
    public var serviceUUIDLength: Int {
        switch rawValue {
        case 0x02, 0x03: 2
        case 0x04, 0x05: 4
        case 0x06, 0x07: 16
        default: 0
        }
    }

    /// The size of each UUID in octets if this is a list of solicited service UUIDs; otherwise 0.
    @inlinable
    public var solicitedServiceUUIDLength: Int {
        switch rawValue {
        case 0x14: 2
        case 0x1F: 4
        case 0x15: 16
        default: 0
        }
    }

    /// The size in octets of the UUID before the data if this is service data; otherwise 0.
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
    /// The name in Assigned Numbers; nil if the value is not assigned.
    public var name: String? { AssignedNumbers.name(ofADType: rawValue) }

    /// The name, or `AD type 0x99` if the value is not assigned.
    public var description: String { name ?? "AD type 0x" + hexadecimal(rawValue) }
}
