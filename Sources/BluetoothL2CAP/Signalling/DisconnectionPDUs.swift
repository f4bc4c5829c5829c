import BluetoothBase

/// L2CAP_DISCONNECTION_REQ: asks the receiver to close a credit-based channel (Core 5.4, Vol 3, Part A, 4.6).
public struct DisconnectionRequest: SignallingPDU {
    /// The code of L2CAP_DISCONNECTION_REQ: 0x06.
    public static var code: SignallingCode { .disconnectionRequest }

    /// The channel's endpoint on the device that receives the request.
    public var destination: ChannelIdentifier
    /// The channel's endpoint on the device that sends the request.
    public var source: ChannelIdentifier

    /// Creates a request to close the channel between two endpoints.
    public init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
    }

    /// Decodes the two endpoints. Throws unless there are exactly four octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        destination = try data.readChannelIdentifier()
        source = try data.readChannelIdentifier()
        try data.finish()
    }

    /// Appends the destination and the source endpoint.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(destination)
        writer.append(source)
    }
}

/// L2CAP_DISCONNECTION_RSP: the channel is closed (Core 5.4, Vol 3, Part A, 4.7). It repeats both endpoints of the
/// request.
public struct DisconnectionResponse: SignallingPDU {
    /// The code of L2CAP_DISCONNECTION_RSP: 0x07.
    public static var code: SignallingCode { .disconnectionResponse }

    /// The channel's endpoint on the device that sends the response.
    public var destination: ChannelIdentifier
    /// The channel's endpoint on the device that receives the response.
    public var source: ChannelIdentifier

    /// Creates a response with the two endpoints of the request, unchanged.
    public init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
    }

    /// Decodes the two endpoints. Throws unless there are exactly four octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        destination = try data.readChannelIdentifier()
        source = try data.readChannelIdentifier()
        try data.finish()
    }

    /// Appends the destination and the source endpoint.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(destination)
        writer.append(source)
    }
}
