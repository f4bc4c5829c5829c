import BluetoothBase

extension LESubeventCode: CustomStringConvertible {
    /// The event's name in the specification, or its number if it is unknown.
    public var description: String { Self.names[rawValue] ?? "LE Meta event 0x" + hexadecimal(rawValue) }

    /// The names of Core 6.0, Vol 4, Part E, 7.7.65.
    private static let names: [UInt8: String] = [
        0x01: "LE Connection Complete", 0x02: "LE Advertising Report", 0x03: "LE Connection Update Complete",
        0x04: "LE Read Remote Features Complete", 0x05: "LE Long Term Key Request",
        0x06: "LE Remote Connection Parameter Request", 0x07: "LE Data Length Change",
        0x08: "LE Read Local P-256 Public Key Complete", 0x09: "LE Generate DHKey Complete",
        0x0A: "LE Enhanced Connection Complete [v1]", 0x0B: "LE Directed Advertising Report",
        0x0C: "LE PHY Update Complete", 0x0D: "LE Extended Advertising Report",
        0x0E: "LE Periodic Advertising Sync Established [v1]", 0x0F: "LE Periodic Advertising Report [v1]",
        0x10: "LE Periodic Advertising Sync Lost", 0x11: "LE Scan Timeout", 0x12: "LE Advertising Set Terminated",
        0x13: "LE Scan Request Received", 0x14: "LE Channel Selection Algorithm", 0x15: "LE Connectionless IQ Report",
        0x16: "LE Connection IQ Report", 0x17: "LE CTE Request Failed",
        0x18: "LE Periodic Advertising Sync Transfer Received [v1]", 0x19: "LE CIS Established [v1]",
        0x1A: "LE CIS Request", 0x1B: "LE Create BIG Complete", 0x1C: "LE Terminate BIG Complete",
        0x1D: "LE BIG Sync Established", 0x1E: "LE BIG Sync Lost", 0x1F: "LE Request Peer SCA Complete",
        0x20: "LE Path Loss Threshold", 0x21: "LE Transmit Power Reporting", 0x22: "LE BIGInfo Advertising Report",
        0x23: "LE Subrate Change", 0x24: "LE Periodic Advertising Sync Established [v2]",
        0x25: "LE Periodic Advertising Report [v2]", 0x26: "LE Periodic Advertising Sync Transfer Received [v2]",
        0x27: "LE Periodic Advertising Subevent Data Request", 0x28: "LE Periodic Advertising Response Report",
        0x29: "LE Enhanced Connection Complete [v2]", 0x2A: "LE CIS Established [v2]",
        0x2B: "LE Read All Remote Features Complete", 0x2C: "LE CS Read Remote Supported Capabilities Complete",
        0x2D: "LE CS Read Remote FAE Table Complete", 0x2E: "LE CS Security Enable Complete",
        0x2F: "LE CS Config Complete", 0x30: "LE CS Procedure Enable Complete", 0x31: "LE CS Subevent Result",
        0x32: "LE CS Subevent Result Continue", 0x33: "LE CS Test End Complete",
        0x34: "LE Monitored Advertisers Report",
        0x35: "LE Frame Space Update Complete",
    ]

    /// For an event without a type in this package, the offset of the connection handle after the subevent code; nil if
    /// the event has none.
    package var untypedConnectionHandleOffset: Int? {
        switch rawValue {
        case 0x16, 0x1A, 0x31, 0x32: 0
        // After the status.
        case 0x17, 0x19, 0x1F, 0x23, 0x29, 0x2A, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x35: 1
        default: nil
        }
    }
}
