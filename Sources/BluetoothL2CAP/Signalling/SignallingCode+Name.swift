import BluetoothBase

extension SignallingCode: CustomStringConvertible {
    /// The name that the specification gives the command, for example `L2CAP_DISCONNECTION_REQ`.
    public var name: String {
        switch self {
        case .commandReject: "L2CAP_COMMAND_REJECT_RSP"
        case .connectionRequest: "L2CAP_CONNECTION_REQ"
        case .connectionResponse: "L2CAP_CONNECTION_RSP"
        case .configurationRequest: "L2CAP_CONFIGURATION_REQ"
        case .configurationResponse: "L2CAP_CONFIGURATION_RSP"
        case .disconnectionRequest: "L2CAP_DISCONNECTION_REQ"
        case .disconnectionResponse: "L2CAP_DISCONNECTION_RSP"
        case .echoRequest: "L2CAP_ECHO_REQ"
        case .echoResponse: "L2CAP_ECHO_RSP"
        case .informationRequest: "L2CAP_INFORMATION_REQ"
        case .informationResponse: "L2CAP_INFORMATION_RSP"
        case .connectionParameterUpdateRequest: "L2CAP_CONNECTION_PARAMETER_UPDATE_REQ"
        case .connectionParameterUpdateResponse: "L2CAP_CONNECTION_PARAMETER_UPDATE_RSP"
        case .leCreditBasedConnectionRequest: "L2CAP_LE_CREDIT_BASED_CONNECTION_REQ"
        case .leCreditBasedConnectionResponse: "L2CAP_LE_CREDIT_BASED_CONNECTION_RSP"
        case .flowControlCredit: "L2CAP_FLOW_CONTROL_CREDIT_IND"
        case .creditBasedConnectionRequest: "L2CAP_CREDIT_BASED_CONNECTION_REQ"
        case .creditBasedConnectionResponse: "L2CAP_CREDIT_BASED_CONNECTION_RSP"
        case .creditBasedReconfigureRequest: "L2CAP_CREDIT_BASED_RECONFIGURE_REQ"
        case .creditBasedReconfigureResponse: "L2CAP_CREDIT_BASED_RECONFIGURE_RSP"
        }
    }

    /// The name of the command in the specification, such as `L2CAP_DISCONNECTION_REQ`.
    public var description: String { name }

    /// The name of the command that starts with `byte`; its number if the code is unassigned.
    public static func name(of byte: UInt8) -> String {
        SignallingCode(rawValue: byte)?.name ?? "L2CAP code 0x" + hexadecimal(byte)
    }
}
