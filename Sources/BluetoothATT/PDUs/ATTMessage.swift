import BluetoothBase

/// Any ATT PDU (Core 5.4, Vol 3, Part F, 3.4): a view of the bytes it was decoded from.
public enum ATTMessage: ~Escapable {
    case errorResponse(ErrorResponse)
    case exchangeMTURequest(ExchangeMTURequest)
    case exchangeMTUResponse(ExchangeMTUResponse)
    case findInformationRequest(FindInformationRequest)
    case findInformationResponse(FindInformationResponse)
    case findByTypeValueRequest(FindByTypeValueRequest)
    case findByTypeValueResponse(FindByTypeValueResponse)
    case readByTypeRequest(ReadByTypeRequest)
    case readByTypeResponse(ReadByTypeResponse)
    case readRequest(ReadRequest)
    case readResponse(ReadResponse)
    case readBlobRequest(ReadBlobRequest)
    case readBlobResponse(ReadBlobResponse)
    case readMultipleRequest(ReadMultipleRequest)
    case readMultipleResponse(ReadMultipleResponse)
    case readByGroupTypeRequest(ReadByGroupTypeRequest)
    case readByGroupTypeResponse(ReadByGroupTypeResponse)
    case writeRequest(WriteRequest)
    case writeResponse(WriteResponse)
    case prepareWriteRequest(PrepareWriteRequest)
    case prepareWriteResponse(PrepareWriteResponse)
    case executeWriteRequest(ExecuteWriteRequest)
    case executeWriteResponse(ExecuteWriteResponse)
    case handleValueNotification(HandleValueNotification)
    case handleValueIndication(HandleValueIndication)
    case handleValueConfirmation(HandleValueConfirmation)
    case readMultipleVariableRequest(ReadMultipleVariableRequest)
    case readMultipleVariableResponse(ReadMultipleVariableResponse)
    case multipleHandleValueNotification(MultipleHandleValueNotification)
    case writeCommand(WriteCommand)
    case signedWriteCommand(SignedWriteCommand)
    /// An unassigned opcode and the octets after it. `ATTOpcode.Kind(ofOpcode:)` determines how to handle it.
    case unknown(opcode: UInt8, parameters: Span<UInt8>)

    /// Decodes a whole PDU, opcode first.
    ///
    /// Throws for an empty PDU, and for parameters that do not have the opcode's layout. In the second case, a server
    /// responds with Invalid PDU if the opcode is that of a request, and otherwise ignores the PDU.
    @_lifetime(copy pdu)
    public init(decoding pdu: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(pdu)
        let byte = try reader.readUInt8()
        guard let opcode = ATTOpcode(rawValue: byte) else {
            self = .unknown(opcode: byte, parameters: reader.readRemaining())
            return
        }
        switch opcode {
        case .errorResponse: self = .errorResponse(try ErrorResponse(decoding: reader))
        case .exchangeMTURequest: self = .exchangeMTURequest(try ExchangeMTURequest(decoding: reader))
        case .exchangeMTUResponse: self = .exchangeMTUResponse(try ExchangeMTUResponse(decoding: reader))
        case .findInformationRequest: self = .findInformationRequest(try FindInformationRequest(decoding: reader))
        case .findInformationResponse: self = .findInformationResponse(try FindInformationResponse(decoding: reader))
        case .findByTypeValueRequest: self = .findByTypeValueRequest(try FindByTypeValueRequest(decoding: reader))
        case .findByTypeValueResponse: self = .findByTypeValueResponse(try FindByTypeValueResponse(decoding: reader))
        case .readByTypeRequest: self = .readByTypeRequest(try ReadByTypeRequest(decoding: reader))
        case .readByTypeResponse: self = .readByTypeResponse(try ReadByTypeResponse(decoding: reader))
        case .readRequest: self = .readRequest(try ReadRequest(decoding: reader))
        case .readResponse: self = .readResponse(try ReadResponse(decoding: reader))
        case .readBlobRequest: self = .readBlobRequest(try ReadBlobRequest(decoding: reader))
        case .readBlobResponse: self = .readBlobResponse(try ReadBlobResponse(decoding: reader))
        case .readMultipleRequest: self = .readMultipleRequest(try ReadMultipleRequest(decoding: reader))
        case .readMultipleResponse: self = .readMultipleResponse(try ReadMultipleResponse(decoding: reader))
        case .readByGroupTypeRequest: self = .readByGroupTypeRequest(try ReadByGroupTypeRequest(decoding: reader))
        case .readByGroupTypeResponse: self = .readByGroupTypeResponse(try ReadByGroupTypeResponse(decoding: reader))
        case .writeRequest: self = .writeRequest(try WriteRequest(decoding: reader))
        case .writeResponse: self = .writeResponse(try WriteResponse(decoding: reader))
        case .prepareWriteRequest: self = .prepareWriteRequest(try PrepareWriteRequest(decoding: reader))
        case .prepareWriteResponse: self = .prepareWriteResponse(try PrepareWriteResponse(decoding: reader))
        case .executeWriteRequest: self = .executeWriteRequest(try ExecuteWriteRequest(decoding: reader))
        case .executeWriteResponse: self = .executeWriteResponse(try ExecuteWriteResponse(decoding: reader))
        case .handleValueNotification: self = .handleValueNotification(try HandleValueNotification(decoding: reader))
        case .handleValueIndication: self = .handleValueIndication(try HandleValueIndication(decoding: reader))
        case .handleValueConfirmation: self = .handleValueConfirmation(try HandleValueConfirmation(decoding: reader))
        case .readMultipleVariableRequest:
            self = .readMultipleVariableRequest(try ReadMultipleVariableRequest(decoding: reader))
        case .readMultipleVariableResponse:
            self = .readMultipleVariableResponse(try ReadMultipleVariableResponse(decoding: reader))
        case .multipleHandleValueNotification:
            self = .multipleHandleValueNotification(try MultipleHandleValueNotification(decoding: reader))
        case .writeCommand: self = .writeCommand(try WriteCommand(decoding: reader))
        case .signedWriteCommand: self = .signedWriteCommand(try SignedWriteCommand(decoding: reader))
        }
    }

    /// The opcode: the octet that starts the PDU.
    public var opcode: UInt8 {
        switch self {
        case .errorResponse: ErrorResponse.opcode.rawValue
        case .exchangeMTURequest: ExchangeMTURequest.opcode.rawValue
        case .exchangeMTUResponse: ExchangeMTUResponse.opcode.rawValue
        case .findInformationRequest: FindInformationRequest.opcode.rawValue
        case .findInformationResponse: FindInformationResponse.opcode.rawValue
        case .findByTypeValueRequest: FindByTypeValueRequest.opcode.rawValue
        case .findByTypeValueResponse: FindByTypeValueResponse.opcode.rawValue
        case .readByTypeRequest: ReadByTypeRequest.opcode.rawValue
        case .readByTypeResponse: ReadByTypeResponse.opcode.rawValue
        case .readRequest: ReadRequest.opcode.rawValue
        case .readResponse: ReadResponse.opcode.rawValue
        case .readBlobRequest: ReadBlobRequest.opcode.rawValue
        case .readBlobResponse: ReadBlobResponse.opcode.rawValue
        case .readMultipleRequest: ReadMultipleRequest.opcode.rawValue
        case .readMultipleResponse: ReadMultipleResponse.opcode.rawValue
        case .readByGroupTypeRequest: ReadByGroupTypeRequest.opcode.rawValue
        case .readByGroupTypeResponse: ReadByGroupTypeResponse.opcode.rawValue
        case .writeRequest: WriteRequest.opcode.rawValue
        case .writeResponse: WriteResponse.opcode.rawValue
        case .prepareWriteRequest: PrepareWriteRequest.opcode.rawValue
        case .prepareWriteResponse: PrepareWriteResponse.opcode.rawValue
        case .executeWriteRequest: ExecuteWriteRequest.opcode.rawValue
        case .executeWriteResponse: ExecuteWriteResponse.opcode.rawValue
        case .handleValueNotification: HandleValueNotification.opcode.rawValue
        case .handleValueIndication: HandleValueIndication.opcode.rawValue
        case .handleValueConfirmation: HandleValueConfirmation.opcode.rawValue
        case .readMultipleVariableRequest: ReadMultipleVariableRequest.opcode.rawValue
        case .readMultipleVariableResponse: ReadMultipleVariableResponse.opcode.rawValue
        case .multipleHandleValueNotification: MultipleHandleValueNotification.opcode.rawValue
        case .writeCommand: WriteCommand.opcode.rawValue
        case .signedWriteCommand: SignedWriteCommand.opcode.rawValue
        case .unknown(let opcode, _): opcode
        }
    }

    /// Appends the whole PDU, opcode first.
    public func encode(into writer: inout ByteWriter) {
        switch self {
        case .errorResponse(let pdu): pdu.encode(into: &writer)
        case .exchangeMTURequest(let pdu): pdu.encode(into: &writer)
        case .exchangeMTUResponse(let pdu): pdu.encode(into: &writer)
        case .findInformationRequest(let pdu): pdu.encode(into: &writer)
        case .findInformationResponse(let pdu): pdu.encode(into: &writer)
        case .findByTypeValueRequest(let pdu): pdu.encode(into: &writer)
        case .findByTypeValueResponse(let pdu): pdu.encode(into: &writer)
        case .readByTypeRequest(let pdu): pdu.encode(into: &writer)
        case .readByTypeResponse(let pdu): pdu.encode(into: &writer)
        case .readRequest(let pdu): pdu.encode(into: &writer)
        case .readResponse(let pdu): pdu.encode(into: &writer)
        case .readBlobRequest(let pdu): pdu.encode(into: &writer)
        case .readBlobResponse(let pdu): pdu.encode(into: &writer)
        case .readMultipleRequest(let pdu): pdu.encode(into: &writer)
        case .readMultipleResponse(let pdu): pdu.encode(into: &writer)
        case .readByGroupTypeRequest(let pdu): pdu.encode(into: &writer)
        case .readByGroupTypeResponse(let pdu): pdu.encode(into: &writer)
        case .writeRequest(let pdu): pdu.encode(into: &writer)
        case .writeResponse(let pdu): pdu.encode(into: &writer)
        case .prepareWriteRequest(let pdu): pdu.encode(into: &writer)
        case .prepareWriteResponse(let pdu): pdu.encode(into: &writer)
        case .executeWriteRequest(let pdu): pdu.encode(into: &writer)
        case .executeWriteResponse(let pdu): pdu.encode(into: &writer)
        case .handleValueNotification(let pdu): pdu.encode(into: &writer)
        case .handleValueIndication(let pdu): pdu.encode(into: &writer)
        case .handleValueConfirmation(let pdu): pdu.encode(into: &writer)
        case .readMultipleVariableRequest(let pdu): pdu.encode(into: &writer)
        case .readMultipleVariableResponse(let pdu): pdu.encode(into: &writer)
        case .multipleHandleValueNotification(let pdu): pdu.encode(into: &writer)
        case .writeCommand(let pdu): pdu.encode(into: &writer)
        case .signedWriteCommand(let pdu): pdu.encode(into: &writer)
        case .unknown(let opcode, let parameters):
            writer.append(opcode)
            writer.append(parameters)
        }
    }

    /// The PDU on one line, for example `ATT_READ_REQ handle 0x0003`.
    public var description: String {
        switch self {
        case .errorResponse(let pdu): pdu.description
        case .exchangeMTURequest(let pdu): pdu.description
        case .exchangeMTUResponse(let pdu): pdu.description
        case .findInformationRequest(let pdu): pdu.description
        case .findInformationResponse(let pdu): pdu.description
        case .findByTypeValueRequest(let pdu): pdu.description
        case .findByTypeValueResponse(let pdu): pdu.description
        case .readByTypeRequest(let pdu): pdu.description
        case .readByTypeResponse(let pdu): pdu.description
        case .readRequest(let pdu): pdu.description
        case .readResponse(let pdu): pdu.description
        case .readBlobRequest(let pdu): pdu.description
        case .readBlobResponse(let pdu): pdu.description
        case .readMultipleRequest(let pdu): pdu.description
        case .readMultipleResponse(let pdu): pdu.description
        case .readByGroupTypeRequest(let pdu): pdu.description
        case .readByGroupTypeResponse(let pdu): pdu.description
        case .writeRequest(let pdu): pdu.description
        case .writeResponse(let pdu): pdu.description
        case .prepareWriteRequest(let pdu): pdu.description
        case .prepareWriteResponse(let pdu): pdu.description
        case .executeWriteRequest(let pdu): pdu.description
        case .executeWriteResponse(let pdu): pdu.description
        case .handleValueNotification(let pdu): pdu.description
        case .handleValueIndication(let pdu): pdu.description
        case .handleValueConfirmation(let pdu): pdu.description
        case .readMultipleVariableRequest(let pdu): pdu.description
        case .readMultipleVariableResponse(let pdu): pdu.description
        case .multipleHandleValueNotification(let pdu): pdu.description
        case .writeCommand(let pdu): pdu.description
        case .signedWriteCommand(let pdu): pdu.description
        case .unknown(let opcode, let parameters):
            ([ATTOpcode.name(of: opcode)] + (parameters.isEmpty ? [] : [parameters.hexadecimal()]))
                .joined(separator: " ")
        }
    }
}
