/// A switch that keeps a radio from transmitting, as the kernel's rfkill knows it.
struct RadioSwitch: Equatable, Sendable {
    /// What it switches: an adapter's own bears the adapter's name, one of the machine, such as a key, another.
    var name: String
    /// Switched off by software, such as a menu of the desktop.
    var isSoftBlocked: Bool
    /// Switched off by a switch or a key of the machine.
    var isHardBlocked: Bool

    /// How it keeps the radio from transmitting, where it does.
    var block: AdapterInformation.Block? { isHardBlocked ? .hardware : isSoftBlocked ? .software : nil }

    /// Whether it is the machine's, which may switch the adapter's power, so that there is no adapter while it is off.
    var isOfMachine: Bool { AdapterSelector(name) == nil }

    /// The switches of Bluetooth radios. Any user may ask.
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
