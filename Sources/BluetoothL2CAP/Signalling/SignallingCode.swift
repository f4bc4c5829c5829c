/// The code that starts every signalling command (Core 5.4, Vol 3, Part A, Table 4.2).
///
/// The codes used only on BR/EDR links are recognized, but not handled.
public enum SignallingCode: UInt8, Sendable, CaseIterable {
    case commandReject = 0x01
    case connectionRequest = 0x02
    case connectionResponse = 0x03
    case configurationRequest = 0x04
    case configurationResponse = 0x05
    case disconnectionRequest = 0x06
    case disconnectionResponse = 0x07
    case echoRequest = 0x08
    case echoResponse = 0x09
    case informationRequest = 0x0A
    case informationResponse = 0x0B
    case connectionParameterUpdateRequest = 0x12
    case connectionParameterUpdateResponse = 0x13
    case leCreditBasedConnectionRequest = 0x14
    case leCreditBasedConnectionResponse = 0x15
    case flowControlCredit = 0x16
    case creditBasedConnectionRequest = 0x17
    case creditBasedConnectionResponse = 0x18
    case creditBasedReconfigureRequest = 0x19
    case creditBasedReconfigureResponse = 0x1A

    /// Whether the command is a response. A response is never answered, not even with a reject.
    public var isResponse: Bool {
        switch self {
        case .commandReject, .connectionResponse, .configurationResponse, .disconnectionResponse, .echoResponse,
            .informationResponse, .connectionParameterUpdateResponse, .leCreditBasedConnectionResponse,
            .creditBasedConnectionResponse, .creditBasedReconfigureResponse:
            true
        case .connectionRequest, .configurationRequest, .disconnectionRequest, .echoRequest, .informationRequest,
            .connectionParameterUpdateRequest, .leCreditBasedConnectionRequest, .flowControlCredit,
            .creditBasedConnectionRequest, .creditBasedReconfigureRequest:
            false
        }
    }
}
