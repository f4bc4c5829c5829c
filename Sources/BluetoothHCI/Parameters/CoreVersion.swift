import BluetoothBase

/// The version of the Core specification that a controller or a Link Layer implements (Assigned Numbers, 2.1).
public struct CoreVersion: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number of the version in Assigned Numbers: 6 for 4.0, up to 13 for 5.4.
    public var rawValue: UInt8

    /// Creates a version from its number, whether or not it is listed here.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Version 4.0.
    public static let v40 = CoreVersion(rawValue: 6)
    /// Version 4.1.
    public static let v41 = CoreVersion(rawValue: 7)
    /// Version 4.2.
    public static let v42 = CoreVersion(rawValue: 8)
    /// Version 5.0.
    public static let v50 = CoreVersion(rawValue: 9)
    /// Version 5.1.
    public static let v51 = CoreVersion(rawValue: 10)
    /// Version 5.2.
    public static let v52 = CoreVersion(rawValue: 11)
    /// Version 5.3.
    public static let v53 = CoreVersion(rawValue: 12)
    /// Version 5.4.
    public static let v54 = CoreVersion(rawValue: 13)

    /// Returns whether the first version is older.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension CoreVersion: CustomStringConvertible {
    /// The version, for example `5.4`, or the number if it is not listed above.
    public var description: String {
        switch rawValue {
        case 6...8: "4.\(rawValue - 6)"
        case 9...13: "5.\(rawValue - 9)"
        default: "version 0x" + hexadecimal(rawValue)
        }
    }
}

extension CoreVersion: HCIParameter {}
