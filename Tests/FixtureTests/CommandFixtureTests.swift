import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Fixtures: commands")
struct CommandFixtureTests {
    /// The recorded commands for which this package has no type.
    static let exceptions: Set<HCIOpcode> = [
        // Read Local Extended Features: the further pages of features of BR/EDR controllers.
        HCIOpcode(.informational, 0x04)
    ]

    @Test(
        "every command is decoded to its own type, and encoded to the same bytes", arguments: Capture.all)
    func commands(_ capture: Capture) throws {
        for packet in capture.packets {
            guard let content = packet.content(of: .command) else { continue }
            let command = try HCICommandPacket(decoding: content.span)
            #expect(encoded(command) == packet.bytes)
            let opcode = command.opcode
            guard let typed = try command.decodeKnown() else {
                #expect(Self.exceptions.contains(opcode), "no type for \(opcode)")
                continue
            }
            #expect(encoded(typed) == packet.bytes, "\(typed)")
        }
    }

    @Test("every exception is needed, and the captures contain a variety of other commands")
    func exceptions() {
        let opcodes = Capture.all.flatMap(\.packets).compactMap { packet -> HCIOpcode? in
            guard let content = packet.content(of: .command) else { return nil }
            return (try? HCICommandPacket(decoding: content.span))?.opcode
        }
        #expect(Self.exceptions.isSubset(of: opcodes))
        #expect(Set(opcodes).subtracting(Self.exceptions).count == 50)
    }
}
