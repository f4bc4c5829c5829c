/// A switch that blocks a radio, as reported by the kernel's rfkill subsystem.
struct RadioSwitch: Equatable, Sendable {
    /// The name of the switch. An adapter's own switch has the adapter's name; a switch of the machine, such as a key,
    /// has another name.
    var name: String
    /// Whether software, such as a desktop menu, blocks the radio.
    var isSoftBlocked: Bool
    /// Whether a switch or a key on the machine blocks the radio.
    var isHardBlocked: Bool

    /// How the switch blocks the radio; nil if it doesn't.
    var block: AdapterInformation.Block? { isHardBlocked ? .hardware : isSoftBlocked ? .software : nil }

    /// Whether this is a switch of the machine. Such a switch may cut the adapter's power, so that the adapter
    /// disappears while the switch is off.
    var isMachineWide: Bool { AdapterSelector(name) == nil }

    /// Returns the switches of Bluetooth radios. Requires no privileges.
    static func all(in directory: String = "/sys/class/rfkill") -> [RadioSwitch] {
        SystemFiles.names(in: directory).compactMap { entry in
            let path = "\(directory)/\(entry)"
            guard SystemFiles.text(of: path + "/type") == "bluetooth", let name = SystemFiles.text(of: path + "/name")
            else { return nil }
            return RadioSwitch(
                name: name, isSoftBlocked: SystemFiles.text(of: path + "/soft") == "1",
                isHardBlocked: SystemFiles.text(of: path + "/hard") == "1")
        }
    }
}
