import BluetoothBase
import BluetoothHCI

/// Commands that are sent one after the other. Machines that hold some can be compared: by the octets of the packets.
struct CommandSequence: Sendable {
    private var commands: [any HCICommand]

    init(_ commands: [any HCICommand] = []) { self.commands = commands }

    var isEmpty: Bool { commands.isEmpty }

    /// Removes the first command; nil if none is left.
    mutating func popFirst() -> (any HCICommand)? { commands.isEmpty ? nil : commands.removeFirst() }

    private var octets: [UInt8] {
        var writer = ByteWriter()
        for command in commands { command.encodePacket(into: &writer) }
        return writer.bytes
    }
}

extension CommandSequence: Hashable {
    static func == (first: CommandSequence, second: CommandSequence) -> Bool { first.octets == second.octets }

    func hash(into hasher: inout Hasher) { hasher.combine(octets) }
}
