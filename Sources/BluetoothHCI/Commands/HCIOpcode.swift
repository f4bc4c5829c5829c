import BluetoothBase

/// A command opcode: a 6-bit group (OGF) and a 10-bit command (OCF) (Core 5.4, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    /// The 16 bits of the opcode: the OGF in the upper 6 bits and the OCF in the lower 10.
    public var rawValue: UInt16

    /// Creates an opcode from its 16 bits, whether or not this package knows the command.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The group of commands that an opcode belongs to, its OGF. The list is not exhaustive.
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
        /// Vendor-specific commands (5.4.1).
        case vendorSpecific = 0x3F
    }

    /// Creates an opcode from its group and its number in the group, the OCF. Only the lower 10 bits of the number are
    /// used.
    @inlinable
    public init(_ group: Group, _ command: UInt16) {
        rawValue = UInt16(group.rawValue) << 10 | command & 0x03FF
    }

    /// The opcode's group; nil if it is not listed in `Group`.
    public var group: Group? { Group(rawValue: UInt8(truncatingIfNeeded: rawValue >> 10)) }

    /// No command. A controller uses this opcode in Command Complete to report only the number of commands it can
    /// accept (7.7.14).
    public static let none = HCIOpcode(rawValue: 0)
}

extension HCIOpcode: HCIParameter {}

extension HCIOpcode: CustomStringConvertible {
    /// The name of the command, or its number if this package does not know it.
    public var description: String {
        HCICommandCatalog.entry(for: self)?.name ?? untypedName ?? "Command 0x" + hexadecimal(rawValue, digits: 4)
    }
}
