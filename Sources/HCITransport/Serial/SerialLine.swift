import BluetoothPlatform

/// A serial line that carries HCI, as named by `serial:`: `DEVICE[,BAUD][,rtscts][,resync]`.
///
/// Characters have eight data bits, no parity and one stop bit, as H4 requires (Core 5.4, Vol 4, Part A, 3).
public struct SerialLine: Hashable, Sendable {
    /// The device file, such as `/dev/ttyACM0`. It must not contain a comma if the text form is to be parsed again.
    public var device: String
    /// The baud rate in bits per second. Any rate that the device supports is valid.
    public var baudRate: UInt32
    /// Whether RTS/CTS flow control is used.
    public var usesFlowControl: Bool
    /// Whether to send zeros before the first Reset, to complete any command or SCO data that the previous program left
    /// unfinished.
    public var resynchronizes: Bool

    /// Bumble's default, and the usual configuration of Zephyr's `hci_uart`.
    public static let defaultBaudRate: UInt32 = 1_000_000

    /// Creates a serial line, by default at 1,000,000 bit/s without flow control.
    public init(
        device: String, baudRate: UInt32 = Self.defaultBaudRate, usesFlowControl: Bool = false,
        resynchronizes: Bool = false
    ) {
        self.device = device
        self.baudRate = baudRate
        self.usesFlowControl = usesFlowControl
        self.resynchronizes = resynchronizes
    }

    /// Parses the text form. Options may appear in any order, each at most once.
    init(_ text: Substring) throws(TransportNameError.Reason) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        device = try Self.path(parts[0])
        var baudRate: UInt32?
        usesFlowControl = false
        resynchronizes = false
        for option in parts.dropFirst() {
            switch option {
            case "rtscts" where !usesFlowControl: usesFlowControl = true
            case "resync" where !resynchronizes: resynchronizes = true
            default:
                // A baud rate of zero would hang up.
                guard baudRate == nil, let rate: UInt32 = decimalNumber(option), rate > 0 else {
                    throw .invalidSerialOption
                }
                baudRate = rate
            }
        }
        self.baudRate = baudRate ?? Self.defaultBaudRate
    }

    /// Validates the path of a device file, or of a link to one. Unlike a socket path, it may have any length.
    static func path(_ text: Substring) throws(TransportNameError.Reason) -> String {
        guard !text.isEmpty, !text.utf8.contains(0) else { throw .invalidDevice }
        return String(text)
    }
}

extension SerialLine: CustomStringConvertible {
    /// The text form with an explicit baud rate, such as `/dev/ttyACM0,1000000,rtscts`.
    public var description: String {
        "\(device),\(baudRate)" + (usesFlowControl ? ",rtscts" : "") + (resynchronizes ? ",resync" : "")
    }
}

extension SerialLine {
    /// Whether the device is a pseudo-terminal, with a program at its other end rather than a dongle.
    var isPseudoTerminal: Bool {
        guard let path = realpath(device, nil) else { return false }
        defer { free(path) }
        return String(cString: path).hasPrefix("/dev/pts/")
    }
}
