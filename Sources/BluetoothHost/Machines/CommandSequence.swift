import BluetoothBase
import BluetoothHCI

/// Commands to be sent one after another. Two sequences are equal if their packets consist of the same octets, so that
/// state machines which hold one can be compared.
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
