import BluetoothPlatform
import CBluetoothHCI

/// The settings of a terminal.
struct TerminalSettings: Sendable {
    private var settings: cbt_terminal

    /// Reads the current settings of a terminal. Throws `ENOTTY` if the descriptor is not a terminal.
    init(of descriptor: Int32) throws(Errno) {
        var settings = cbt_terminal()
        try Errno.check { cbt_terminal_get(descriptor, &settings) }
        self.settings = settings
    }

    /// The baud rate in bits per second.
    var baudRate: UInt32 { settings.output_speed }

    /// Applies the settings to a terminal immediately.
    func apply(to descriptor: Int32) throws(Errno) {
        var settings = settings
        try Errno.check { cbt_terminal_set(descriptor, &settings) }
    }

    /// Returns settings for unprocessed bytes: eight data bits, no parity, one stop bit.
    func raw(baudRate: UInt32, usesFlowControl: Bool) -> TerminalSettings {
        var raw = self
        // Breaks and characters with errors are ignored.
        raw.settings.input_flags = UInt32(IGNBRK | IGNPAR)
        raw.settings.output_flags = 0
        raw.settings.local_flags = 0
        raw.settings.control_flags &=
            ~(cbt_baud_rate_mask | cbt_flow_control | UInt32(CSIZE) | UInt32(CSTOPB) | UInt32(PARENB))
        // CLOCAL: modem control lines are ignored.
        raw.settings.control_flags |= cbt_any_baud_rate | UInt32(CS8 | CREAD | CLOCAL)
        if usesFlowControl { raw.settings.control_flags |= cbt_flow_control }
        raw.settings.input_speed = baudRate
        raw.settings.output_speed = baudRate
        withUnsafeMutableBytes(of: &raw.settings.control_characters) {
            // A read returns what is available, and an empty read is not mistaken for the end of file.
            $0[Int(VMIN)] = 1
            $0[Int(VTIME)] = 0
        }
        return raw
    }
}
