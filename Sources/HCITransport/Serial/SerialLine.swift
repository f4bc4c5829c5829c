import BluetoothPlatform

/// A serial line that carries HCI, as named by `serial:`: `DEVICE[,BAUD][,rtscts][,resync]`.
///
/// Characters have eight data bits, no parity and one stop bit, as H4 requires (Core 5.4, Vol 4, Part A, 3).
public struct SerialLine: Hashable, Sendable {
    /// The device file, such as `/dev/ttyACM0`. It must not contain a comma if the text form is to be parsed again.
    public var device: String
    /// In bits per second; any rate the device supports.
    public var baudRate: UInt32
    /// Whether RTS/CTS flow control is used.
    public var usesFlowControl: Bool
    /// Whether zeros are sent before the first Reset, to complete any command or SCO data that the last program left
    /// unfinished.
    public var resynchronizes: Bool

    /// Bumble's default, and the usual configuration of Zephyr's `hci_uart`.
    public static let defaultBaudRate: UInt32 = 1_000_000

    public init(
        device: String, baudRate: UInt32 = Self.defaultBaudRate, usesFlowControl: Bool = false,
        resynchronizes: Bool = false
    ) {
        self.device = device
        self.baudRate = baudRate
        self.usesFlowControl = usesFlowControl
        self.resynchronizes = resynchronizes
    }

    /// Reads the text form. Options may be in any order, each at most once.
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

    /// The path of a file that is not a socket.
    static func path(_ text: Substring) throws(TransportNameError.Reason) -> String {
        guard !text.isEmpty, !text.utf8.contains(0) else { throw .invalidDevice }
        return String(text)
    }
}

extension SerialLine: CustomStringConvertible {
    public var description: String {
        "\(device),\(baudRate)" + (usesFlowControl ? ",rtscts" : "") + (resynchronizes ? ",resync" : "")
    }
}

extension SerialLine {
    /// Whether the other end of the line is a program's, and no dongle.
    var isPseudoTerminal: Bool {
        guard let path = realpath(device, nil) else { return false }
        defer { free(path) }
        return String(cString: path).hasPrefix("/dev/pts/")
    }
}
