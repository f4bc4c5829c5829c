import BluetoothBase

/// L2CAP_CONNECTION_PARAMETER_UPDATE_REQ: a peripheral requests other connection parameters from its central (Core 5.4,
/// Vol 3, Part A, 4.20).
public struct ConnectionParameterUpdateRequest: SignallingPDU {
    public static var code: SignallingCode { .connectionParameterUpdateRequest }

    /// The requested parameters; not necessarily valid.
    public var parameters: ConnectionParameters

    public init(_ parameters: ConnectionParameters) { self.parameters = parameters }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        parameters = try data.readConnectionParameters()
        try data.finish()
    }

    public func encodeData(into writer: inout ByteWriter) {
        writer.append(parameters)
    }
}

/// L2CAP_CONNECTION_PARAMETER_UPDATE_RSP: whether the central will change the parameters
/// (Core 5.4, Vol 3, Part A, 4.21).
public struct ConnectionParameterUpdateResponse: SignallingPDU {
    public static var code: SignallingCode { .connectionParameterUpdateResponse }

    /// What the central answers (Table 4.22).
    public struct Result: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt16

        @inlinable
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        public static let accepted = Self(rawValue: 0x0000)
        public static let rejected = Self(rawValue: 0x0001)
    }

    public var result: Result

    public init(_ result: Result) { self.result = result }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        result = Result(rawValue: try data.readUInt16())
        try data.finish()
    }

    public func encodeData(into writer: inout ByteWriter) {
        writer.append(result.rawValue)
    }
}

extension ConnectionParameterUpdateResponse.Result: CustomStringConvertible {
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .rejected: "rejected"
        default: "0x" + hexadecimal(rawValue, digits: 4)
        }
    }
}
