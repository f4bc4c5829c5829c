import BluetoothBase
import BluetoothHCI

/// What a command packet says.
struct CommandText {
    var fields: FieldText

    /// The commands that carry keys.
    private static let keyed: Set<HCIOpcode> = [
        .leEncrypt, .leEnableEncryption, .leLongTermKeyRequestReply, .leAddDeviceToResolvingList,
    ]

    /// The text of a packet without its H4 indicator.
    func text(_ packet: Span<UInt8>) -> String {
        do throws(DecodingFailure) {
            let command = try HCICommandPacket(decoding: packet)
            return joined(command.opcode.description, parameters(of: command, in: packet))
        } catch {
            return joined("command", malformed(error, packet))
        }
    }

    private func parameters(of command: borrowing HCICommandPacket, in packet: Span<UInt8>) -> String {
        do throws(DecodingFailure) {
            guard let known = try command.decodeKnown() else { return command.parameters.hexadecimal() }
            return fields.fields(of: known)
        } catch {
            let isHidden = !fields.showsKeys && Self.keyed.contains(command.opcode)
            // Opcode and length stand before the parameters.
            return malformed(error.behind(3), isHidden ? packet.extracting(0..<0) : packet)
        }
    }
}
