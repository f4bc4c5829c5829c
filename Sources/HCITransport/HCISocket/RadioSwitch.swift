/// A switch that blocks a radio, as known to the kernel's rfkill.
struct RadioSwitch: Equatable, Sendable {
    /// What it switches: an adapter's own switch has the adapter's name; one of the machine, such as a key, has
    /// another.
    var name: String
    /// Blocked by software, such as a desktop menu.
    var isSoftBlocked: Bool
    /// Blocked by a switch or a key of the machine.
    var isHardBlocked: Bool

    /// How it blocks the radio, if it does.
    var block: AdapterInformation.Block? { isHardBlocked ? .hardware : isSoftBlocked ? .software : nil }

    /// Whether it is a switch of the machine, which may cut the adapter's power, so that there is no adapter while it
    /// is off.
    var isMachineWide: Bool { AdapterSelector(name) == nil }

    /// The switches of Bluetooth radios. Needs no privilege.
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
