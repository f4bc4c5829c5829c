/// A serial line with HCI on it, as `serial:` names it: `DEVICE[,BAUD][,rtscts][,resync]`.
///
/// Characters have eight data bits, no parity and one stop bit, as H4 asks for (Core 5.4, Vol 4, Part A, 3).
public struct SerialLine: Hashable, Sendable {
    /// The device file, such as `/dev/ttyACM0`. It contains no comma where the text form is to be read again.
    public var device: String
    /// In bits per second: any that the device can do.
    public var baudRate: UInt32
    /// Whether each side keeps the other from sending more than it can take, by the RTS and CTS wires.
    public var usesFlowControl: Bool
    /// Whether the first Reset goes out behind as many zeros as complete any command, or SCO data, that the last
    /// program to use the line did not finish.
    public var resynchronizes: Bool

    /// What Bumble takes, and what Zephyr's `hci_uart` is usually built with.
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

    /// Reads the text form. Options come in any order, each once at most.
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
