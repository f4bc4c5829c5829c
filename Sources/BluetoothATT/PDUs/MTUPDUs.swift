import BluetoothBase

/// ATT_EXCHANGE_MTU_REQ (Core 5.4, Vol 3, Part F, 3.4.2.1).
public struct ExchangeMTURequest: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .exchangeMTURequest }

    /// The longest PDU the client can receive, in octets. Less than 23 is not allowed but can be received; `ATTBearer`
    /// handles it.
    public var clientRxMTU: UInt16

    @inlinable
    public init(clientRxMTU: UInt16) {
        self.clientRxMTU = clientRxMTU
    }

    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        clientRxMTU = try parameters.readUInt16()
        try parameters.finish()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(clientRxMTU)
    }
}

/// ATT_EXCHANGE_MTU_RSP (Core 5.4, Vol 3, Part F, 3.4.2.2).
public struct ExchangeMTUResponse: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .exchangeMTUResponse }

    /// The longest PDU the server can receive, in octets.
    public var serverRxMTU: UInt16

    @inlinable
    public init(serverRxMTU: UInt16) {
        self.serverRxMTU = serverRxMTU
    }

    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        serverRxMTU = try parameters.readUInt16()
        try parameters.finish()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(serverRxMTU)
    }
}
