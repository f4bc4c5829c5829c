import BluetoothBase

/// L2CAP_CONNECTION_PARAMETER_UPDATE_REQ: a peripheral requests other connection parameters from its central (Core 5.4,
/// Vol 3, Part A, 4.20).
public struct ConnectionParameterUpdateRequest: SignallingPDU {
    /// The code of L2CAP_CONNECTION_PARAMETER_UPDATE_REQ: 0x12.
    public static var code: SignallingCode { .connectionParameterUpdateRequest }

    /// The requested parameters, which may be invalid.
    public var parameters: ConnectionParameters

    /// Creates a request for these parameters, which are not checked.
    public init(_ parameters: ConnectionParameters) { self.parameters = parameters }

    /// Decodes the four parameters. Throws unless there are exactly eight octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        parameters = try data.readConnectionParameters()
        try data.finish()
    }

    /// Appends the four parameters: eight octets.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(parameters)
    }
}

/// L2CAP_CONNECTION_PARAMETER_UPDATE_RSP: whether the central will change the parameters
/// (Core 5.4, Vol 3, Part A, 4.21).
public struct ConnectionParameterUpdateResponse: SignallingPDU {
    /// The code of L2CAP_CONNECTION_PARAMETER_UPDATE_RSP: 0x13.
    public static var code: SignallingCode { .connectionParameterUpdateResponse }

    /// The central's answer (Table 4.22).
    public struct Result: RawRepresentable, Hashable, Sendable {
        /// The Result field: 0 if the parameters are accepted, 1 if they are rejected.
        public var rawValue: UInt16

        /// Creates a result from its number. Reserved values are accepted.
        @inlinable
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The central accepts the parameters and will update the connection.
        public static let accepted = Self(rawValue: 0x0000)
        /// The central rejects the parameters. The connection keeps its current ones.
        public static let rejected = Self(rawValue: 0x0001)
    }

    /// Whether the central accepts the requested parameters.
    public var result: Result

    /// Creates a response with the central's answer.
    public init(_ result: Result) { self.result = result }

    /// Decodes the result. Throws unless there are exactly two octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        result = Result(rawValue: try data.readUInt16())
        try data.finish()
    }

    /// Appends the two octets of the result.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(result.rawValue)
    }
}

extension ConnectionParameterUpdateResponse.Result: CustomStringConvertible {
    /// `accepted`, `rejected`, or the number of a reserved result, such as `0x0002`.
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .rejected: "rejected"
        default: "0x" + hexadecimal(rawValue, digits: 4)
        }
    }
}
