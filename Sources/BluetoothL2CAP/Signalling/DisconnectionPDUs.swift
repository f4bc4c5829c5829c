import BluetoothBase

/// L2CAP_DISCONNECTION_REQ: asks the receiver to close a credit-based channel (Core 5.4, Vol 3, Part A, 4.6).
public struct DisconnectionRequest: SignallingPDU {
    public static var code: SignallingCode { .disconnectionRequest }

    /// The channel's endpoint on the device that receives the request.
    public var destination: ChannelIdentifier
    /// The channel's endpoint on the device that sends the request.
    public var source: ChannelIdentifier

    public init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
    }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        destination = try data.readChannelIdentifier()
        source = try data.readChannelIdentifier()
        try data.finish()
    }

    public func encodeData(into writer: inout ByteWriter) {
        writer.append(destination)
        writer.append(source)
    }
}

/// L2CAP_DISCONNECTION_RSP: the channel is closed (Core 5.4, Vol 3, Part A, 4.7). Both endpoints as the request had them.
public struct DisconnectionResponse: SignallingPDU {
    public static var code: SignallingCode { .disconnectionResponse }

    /// The channel's endpoint on the device that sends the response.
    public var destination: ChannelIdentifier
    /// The channel's endpoint on the device that receives the response.
    public var source: ChannelIdentifier

    public init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
    }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        destination = try data.readChannelIdentifier()
        source = try data.readChannelIdentifier()
        try data.finish()
    }

    public func encodeData(into writer: inout ByteWriter) {
        writer.append(destination)
        writer.append(source)
    }
}
