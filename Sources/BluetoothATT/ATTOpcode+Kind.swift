import BluetoothBase

extension ATTOpcode {
    /// The six kinds of ATT PDU (Core 5.4, Vol 3, Part F, 3.3, Table 3.1).
    public enum Kind: Sendable, CaseIterable {
        /// Client to server, answered by a response.
        case request
        /// Server to client, the answer to a request.
        case response
        /// Client to server, never answered.
        case command
        /// Server to client, never answered.
        case notification
        /// Server to client, answered by a confirmation.
        case indication
        /// Client to server, the answer to an indication.
        case confirmation

        /// The kind of PDU that starts with `byte`. Every byte has a kind.
        ///
        /// An unassigned opcode is a command if the Command Flag, bit 6, is set: a server ignores it. Otherwise it is a
        /// request: a server responds with Request Not Supported (3.3.1).
        @inlinable
        public init(ofOpcode byte: UInt8) {
            self = ATTOpcode(rawValue: byte)?.kind ?? (byte & 0x40 != 0 ? .command : .request)
        }
    }

    /// The kind of PDU that the opcode starts.
    @inlinable
    public var kind: Kind {
        switch self {
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest, .prepareWriteRequest,
            .executeWriteRequest, .readMultipleVariableRequest:
            .request
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse:
            .response
        case .writeCommand, .signedWriteCommand: .command
        case .handleValueNotification, .multipleHandleValueNotification: .notification
        case .handleValueIndication: .indication
        case .handleValueConfirmation: .confirmation
        }
    }

    /// The response that a server sends if it accepts this request; nil if this is not a request.
    @inlinable
    public var response: ATTOpcode? {
        switch self {
        case .exchangeMTURequest: .exchangeMTUResponse
        case .findInformationRequest: .findInformationResponse
        case .findByTypeValueRequest: .findByTypeValueResponse
        case .readByTypeRequest: .readByTypeResponse
        case .readRequest: .readResponse
        case .readBlobRequest: .readBlobResponse
        case .readMultipleRequest: .readMultipleResponse
        case .readByGroupTypeRequest: .readByGroupTypeResponse
        case .writeRequest: .writeResponse
        case .prepareWriteRequest: .prepareWriteResponse
        case .executeWriteRequest: .executeWriteResponse
        case .readMultipleVariableRequest: .readMultipleVariableResponse
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse, .writeCommand,
            .signedWriteCommand, .handleValueNotification, .multipleHandleValueNotification, .handleValueIndication,
            .handleValueConfirmation:
            nil
        }
    }
}

extension ATTOpcode: CustomStringConvertible {
    /// The name that the specification gives the PDU, for example `ATT_READ_REQ`.
    public var name: String {
        switch self {
        case .errorResponse: "ATT_ERROR_RSP"
        case .exchangeMTURequest: "ATT_EXCHANGE_MTU_REQ"
        case .exchangeMTUResponse: "ATT_EXCHANGE_MTU_RSP"
        case .findInformationRequest: "ATT_FIND_INFORMATION_REQ"
        case .findInformationResponse: "ATT_FIND_INFORMATION_RSP"
        case .findByTypeValueRequest: "ATT_FIND_BY_TYPE_VALUE_REQ"
        case .findByTypeValueResponse: "ATT_FIND_BY_TYPE_VALUE_RSP"
        case .readByTypeRequest: "ATT_READ_BY_TYPE_REQ"
        case .readByTypeResponse: "ATT_READ_BY_TYPE_RSP"
        case .readRequest: "ATT_READ_REQ"
        case .readResponse: "ATT_READ_RSP"
        case .readBlobRequest: "ATT_READ_BLOB_REQ"
        case .readBlobResponse: "ATT_READ_BLOB_RSP"
        case .readMultipleRequest: "ATT_READ_MULTIPLE_REQ"
        case .readMultipleResponse: "ATT_READ_MULTIPLE_RSP"
        case .readByGroupTypeRequest: "ATT_READ_BY_GROUP_TYPE_REQ"
        case .readByGroupTypeResponse: "ATT_READ_BY_GROUP_TYPE_RSP"
        case .writeRequest: "ATT_WRITE_REQ"
        case .writeResponse: "ATT_WRITE_RSP"
        case .prepareWriteRequest: "ATT_PREPARE_WRITE_REQ"
        case .prepareWriteResponse: "ATT_PREPARE_WRITE_RSP"
        case .executeWriteRequest: "ATT_EXECUTE_WRITE_REQ"
        case .executeWriteResponse: "ATT_EXECUTE_WRITE_RSP"
        case .handleValueNotification: "ATT_HANDLE_VALUE_NTF"
        case .handleValueIndication: "ATT_HANDLE_VALUE_IND"
        case .handleValueConfirmation: "ATT_HANDLE_VALUE_CFM"
        case .readMultipleVariableRequest: "ATT_READ_MULTIPLE_VARIABLE_REQ"
        case .readMultipleVariableResponse: "ATT_READ_MULTIPLE_VARIABLE_RSP"
        case .multipleHandleValueNotification: "ATT_MULTIPLE_HANDLE_VALUE_NTF"
        case .writeCommand: "ATT_WRITE_CMD"
        case .signedWriteCommand: "ATT_SIGNED_WRITE_CMD"
        }
    }

    /// The name of the PDU in the specification, such as `ATT_READ_REQ`.
    public var description: String { name }

    /// The name of the PDU that starts with `byte`; its number if the opcode is unassigned.
    public static func name(of byte: UInt8) -> String {
        ATTOpcode(rawValue: byte)?.name ?? "ATT opcode 0x" + hexadecimal(byte)
    }
}
