import BluetoothBase

/// A command opcode: 6 bits of group, 10 bits of command (Core 5.4, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The group of commands an opcode belongs to, its OGF. The list is not exhaustive.
    public enum Group: UInt8, Sendable {
        /// Link Control commands (7.1).
        case linkControl = 0x01
        /// Controller & Baseband commands (7.3).
        case controllerAndBaseband = 0x03
        /// Informational parameters (7.4).
        case informational = 0x04
        /// Status parameters (7.5).
        case status = 0x05
        /// LE Controller commands (7.8).
        case leController = 0x08
        /// Commands of the controller's manufacturer (5.4.1).
        case vendorSpecific = 0x3F
    }

    /// Creates an opcode from its group and its number in the group, its OCF. Only the lower 10 bits of the number
    /// count.
    @inlinable
    public init(_ group: Group, _ command: UInt16) {
        rawValue = UInt16(group.rawValue) << 10 | command & 0x03FF
    }

    /// The group; nil if it is not one of those listed.
    public var group: Group? { Group(rawValue: UInt8(truncatingIfNeeded: rawValue >> 10)) }

    /// No command: a controller uses it in Command Complete only to report how many commands it accepts (7.7.14).
    public static let none = HCIOpcode(rawValue: 0)
}

extension HCIOpcode: HCIParameter {}

extension HCIOpcode: CustomStringConvertible {
    /// The name of the command, or its number if this package does not know it.
    public var description: String {
        HCICommandCatalog.entry(for: self)?.name ?? untypedName ?? "Command 0x" + hexadecimal(rawValue, digits: 4)
    }
}
