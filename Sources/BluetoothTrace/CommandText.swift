import BluetoothBase
import BluetoothHCI

/// Formats a command packet.
struct CommandText {
    var fields: FieldText
    var keyOwners: [UInt128: String]? = nil

    /// The commands that contain or return keys, PINs, passkeys or out-of-band data. Those of BR/EDR have no type in
    /// this package.
    static let keyed: Set<HCIOpcode> = [
        .leEncrypt, .leEnableEncryption, .leLongTermKeyRequestReply, .leAddDeviceToResolvingList,
        // Replies to the requests for a link key, a PIN code, a passkey and out-of-band data.
        HCIOpcode(rawValue: 0x040B), HCIOpcode(rawValue: 0x040D), HCIOpcode(rawValue: 0x042E),
        HCIOpcode(rawValue: 0x0430), HCIOpcode(rawValue: 0x0445),
        // Write Stored Link Key, and Read Local OOB Data with its extended version.
        HCIOpcode(rawValue: 0x0C11), HCIOpcode(rawValue: 0x0C57), HCIOpcode(rawValue: 0x0C7D),
    ]

    /// Returns the text of a packet without its H4 indicator.
    func text(_ packet: Span<UInt8>, _ description: inout PacketDescription) -> String {
        do throws(DecodingFailure) {
            let command = try HCICommandPacket(decoding: packet)
            description.command = PacketDescription.Command(
                opcode: command.opcode, parameterLength: command.parameters.count)
            return joined(command.opcode.description, parameters(of: command, in: packet, &description))
        } catch {
            return joined("command", description.malformed(error, packet))
        }
    }

    private func parameters(
        of command: borrowing HCICommandPacket, in packet: Span<UInt8>, _ description: inout PacketDescription
    ) -> String {
        let isHidden = !fields.showsKeys && Self.keyed.contains(command.opcode)
        do throws(DecodingFailure) {
            guard let known = try command.decodeKnown() else {
                return isHidden ? "(hidden)" : untyped(command, &description)
            }
            description.command?.connectionHandles = connectionHandles(in: known)
            guard let key = encryptionKey(in: known), let keyOwners else { return fields.fields(of: known) }
            description.command?.keyOwner = keyOwners[key]
            return fields.fields(of: known) + ", " + (keyOwners[key] ?? "no known key")
        } catch {
            // The opcode and the length precede the parameters.
            return description.malformed(error.offset(by: 3), isHidden ? packet.extracting(0..<0) : packet)
        }
    }

    /// Returns the text of the parameters of a command without a type: the connection handle, if known, and octets.
    private func untyped(_ command: borrowing HCICommandPacket, _ description: inout PacketDescription) -> String {
        let parameters = command.parameters
        guard command.opcode.untypedBeginsWithConnectionHandle, let link = LinkParameters(parameters, handleAt: 0)
        else {
            return parameters.hexadecimal()
        }
        description.command?.connectionHandles = [link.handle]
        return link.text
    }

    /// Returns the encryption key that the host provides to the controller for a link.
    private func encryptionKey(in command: Any) -> UInt128? {
        switch command {
        case let command as LEEnableEncryption: command.longTermKey
        case let command as LELongTermKeyRequestReply: command.longTermKey
        default: nil
        }
    }
}
