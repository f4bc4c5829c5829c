import BluetoothBase

/// ATT_EXCHANGE_MTU_REQ (Core 5.4, Vol 3, Part F, 3.4.2.1).
public struct ExchangeMTURequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_EXCHANGE_MTU_REQ: 0x02.
    public static var opcode: ATTOpcode { .exchangeMTURequest }

    /// The longest PDU that the client can receive, in octets. A value below 23 is not allowed but can arrive;
    /// `ATTBearer` handles it.
    public var clientRxMTU: UInt16

    /// Creates a request with the client's receive MTU, in octets. The minimum of 23 is not checked.
    @inlinable
    public init(clientRxMTU: UInt16) {
        self.clientRxMTU = clientRxMTU
    }

    /// Decodes the client's receive MTU. Throws unless there are exactly two octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        clientRxMTU = try parameters.readUInt16()
        try parameters.finish()
    }

    /// Appends the two octets of the client's receive MTU.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(clientRxMTU)
    }
}

/// ATT_EXCHANGE_MTU_RSP (Core 5.4, Vol 3, Part F, 3.4.2.2).
public struct ExchangeMTUResponse: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_EXCHANGE_MTU_RSP: 0x03.
    public static var opcode: ATTOpcode { .exchangeMTUResponse }

    /// The longest PDU that the server can receive, in octets.
    public var serverRxMTU: UInt16

    /// Creates a response with the server's receive MTU, in octets. The minimum of 23 is not checked.
    @inlinable
    public init(serverRxMTU: UInt16) {
        self.serverRxMTU = serverRxMTU
    }

    /// Decodes the server's receive MTU. Throws unless there are exactly two octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        serverRxMTU = try parameters.readUInt16()
        try parameters.finish()
    }

    /// Appends the two octets of the server's receive MTU.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(serverRxMTU)
    }
}
