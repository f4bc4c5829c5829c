import BluetoothATT
import BluetoothBase
import BluetoothL2CAP

/// Formats a complete L2CAP PDU, depending on its channel.
struct ChannelText {
    var fields: FieldText

    func text(_ frame: borrowing L2CAPFrame, _ description: inout PacketDescription) -> String {
        switch frame.channel {
        case .attributeProtocol: attribute(frame.payload, &description)
        case .leSignalling: signalling(frame.payload, &description)
        case .securityManager:
            SecurityManagerText(showsKeys: fields.showsKeys).text(frame.payload, &description)
        default: joined("L2CAP channel \(frame.channel)", frame.payload.hexadecimal())
        }
    }

    /// Returns the text of a K-frame on an Enhanced ATT bearer, for example `EATT 0x0041 ATT_READ_REQ handle 0x0003`.
    func text(
        _ content: TracedBearers.Content, of frame: borrowing L2CAPFrame, _ description: inout PacketDescription
    ) -> String {
        let name = "EATT \(frame.channel)"
        switch content {
        case .pdu(let pdu): return joined(name, attribute(pdu.span, &description))
        case .part(let progress): return joined(name, progress)
        case .malformed:
            return joined(
                name,
                description.malformed(DecodingFailure(.invalidLength, at: 0), frame.payload))
        }
    }

    private func attribute(_ pdu: Span<UInt8>, _ description: inout PacketDescription) -> String {
        do throws(DecodingFailure) {
            let message = try ATTMessage(decoding: pdu)
            description.attribute = PacketDescription.Attribute(message)
            return message.description
        } catch {
            let name = pdu.isEmpty ? "ATT" : ATTOpcode.name(of: pdu[0])
            return joined(name, description.malformed(error, pdu))
        }
    }

    private func signalling(_ payload: Span<UInt8>, _ description: inout PacketDescription) -> String {
        var name = payload.isEmpty ? "L2CAP signalling" : SignallingCode.name(of: payload[0])
        do throws(DecodingFailure) {
            let command = try SignallingCommand(decoding: payload)
            description.signalling = PacketDescription.Signalling(
                code: command.code, identifier: command.identifier, length: command.data.count)
            name += " identifier \(command.identifier)"
            do throws(DecodingFailure) {
                return joined(name, try data(of: command))
            } catch {
                throw error.offset(by: SignallingCommand.headerLength)
            }
        } catch {
            return joined(name, description.malformed(error, payload))
        }
    }

    private func data(of command: borrowing SignallingCommand) throws(DecodingFailure) -> String {
        let data = ByteReader(command.data)
        switch SignallingCode(rawValue: command.code) {
        case .commandReject: return try fields(CommandReject(decoding: data))
        case .disconnectionRequest: return try fields(DisconnectionRequest(decoding: data))
        case .disconnectionResponse: return try fields(DisconnectionResponse(decoding: data))
        case .connectionParameterUpdateRequest: return try fields(ConnectionParameterUpdateRequest(decoding: data))
        case .connectionParameterUpdateResponse: return try fields(ConnectionParameterUpdateResponse(decoding: data))
        case .leCreditBasedConnectionRequest: return try fields(LECreditBasedConnectionRequest(decoding: data))
        case .leCreditBasedConnectionResponse: return try fields(LECreditBasedConnectionResponse(decoding: data))
        case .flowControlCredit: return try fields(FlowControlCredit(decoding: data))
        case .creditBasedConnectionRequest: return try fields(CreditBasedConnectionRequest(decoding: data))
        case .creditBasedConnectionResponse: return try fields(CreditBasedConnectionResponse(decoding: data))
        case .creditBasedReconfigureRequest: return try fields(CreditBasedReconfigureRequest(decoding: data))
        case .creditBasedReconfigureResponse: return try fields(CreditBasedReconfigureResponse(decoding: data))
        case .connectionRequest, .connectionResponse, .configurationRequest, .configurationResponse, .echoRequest,
            .echoResponse, .informationRequest, .informationResponse, nil:
            return command.data.hexadecimal()
        }
    }

    private func fields(_ pdu: some SignallingPDU) -> String { fields.fields(of: pdu) }
}

/// Returns the non-empty parts, separated by spaces.
func joined(_ parts: String...) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: " ")
}
