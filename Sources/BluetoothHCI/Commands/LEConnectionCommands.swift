import BluetoothBase

/// LE Create Connection Cancel (Core 5.4, Vol 4, Part E, 7.8.13).
public struct LECreateConnectionCancel: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x200E)
    public init() {}
}
