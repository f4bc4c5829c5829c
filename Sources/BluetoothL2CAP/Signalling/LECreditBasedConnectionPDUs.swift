import BluetoothBase

/// L2CAP_LE_CREDIT_BASED_CONNECTION_REQ: requests one credit-based channel (Core 5.4, Vol 3, Part A, 4.22).
public struct LECreditBasedConnectionRequest: SignallingPDU {
    /// The code of L2CAP_LE_CREDIT_BASED_CONNECTION_REQ: 0x14.
    public static var code: SignallingCode { .leCreditBasedConnectionRequest }

    /// The requested service, 0x0001 to 0x00FF.
    public var spsm: UInt16
    /// The channel's endpoint on the device that sends the request.
    public var source: ChannelIdentifier
    /// The longest SDU the sender accepts, in octets: 23 or more.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets: 23 to 65533.
    public var mps: UInt16
    /// The number of K-frames that the receiver may initially send.
    public var initialCredits: UInt16

    /// Creates a request for one channel. The parameters are not checked.
    public init(spsm: UInt16, source: ChannelIdentifier, mtu: UInt16, mps: UInt16, initialCredits: UInt16) {
        self.spsm = spsm
        self.source = source
        self.mtu = mtu
        self.mps = mps
        self.initialCredits = initialCredits
    }

    /// Decodes the five fields. Throws unless there are exactly ten octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        spsm = try data.readUInt16()
        source = try data.readChannelIdentifier()
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        initialCredits = try data.readUInt16()
        try data.finish()
    }

    /// Appends the five fields: ten octets.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(spsm)
        writer.append(source)
        writer.append(mtu)
        writer.append(mps)
        writer.append(initialCredits)
    }
}

/// L2CAP_LE_CREDIT_BASED_CONNECTION_RSP (Core 5.4, Vol 3, Part A, 4.23).
public struct LECreditBasedConnectionResponse: SignallingPDU {
    /// The code of L2CAP_LE_CREDIT_BASED_CONNECTION_RSP: 0x15.
    public static var code: SignallingCode { .leCreditBasedConnectionResponse }

    /// The channel's endpoint on the device that sends the response. If the request is refused, 0, like every other
    /// field except `result`.
    public var destination: ChannelIdentifier
    /// The longest SDU the sender accepts, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets.
    public var mps: UInt16
    /// The number of K-frames that the receiver may initially send.
    public var initialCredits: UInt16
    /// Whether the channel was opened, and otherwise the reason for the refusal.
    public var result: CreditBasedConnectionResult

    /// Creates a response. The parameters are not checked. To refuse a request, use `init(refusing:)`.
    public init(
        destination: ChannelIdentifier, mtu: UInt16, mps: UInt16, initialCredits: UInt16,
        result: CreditBasedConnectionResult = .successful
    ) {
        self.destination = destination
        self.mtu = mtu
        self.mps = mps
        self.initialCredits = initialCredits
        self.result = result
    }

    /// Creates a response that refuses the request.
    public init(refusing result: CreditBasedConnectionResult) {
        self.init(destination: 0, mtu: 0, mps: 0, initialCredits: 0, result: result)
    }

    /// Decodes the five fields. Throws unless there are exactly ten octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        destination = try data.readChannelIdentifier()
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        initialCredits = try data.readUInt16()
        result = CreditBasedConnectionResult(rawValue: try data.readUInt16())
        try data.finish()
    }

    /// Appends the five fields: ten octets.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(destination)
        writer.append(mtu)
        writer.append(mps)
        writer.append(initialCredits)
        writer.append(result.rawValue)
    }
}

/// L2CAP_FLOW_CONTROL_CREDIT_IND: the receiver may send more K-frames on a channel. It has no response (Core 5.4, Vol
/// 3, Part A, 4.24).
public struct FlowControlCredit: SignallingPDU {
    /// The code of L2CAP_FLOW_CONTROL_CREDIT_IND: 0x16.
    public static var code: SignallingCode { .flowControlCredit }

    /// The channel's endpoint on the device that sends this command.
    public var channel: ChannelIdentifier
    /// The number of additional K-frames: 1 to 65535.
    public var credits: UInt16

    /// Creates a command that gives the receiver `credits` more K-frames. The parameters are not checked.
    public init(channel: ChannelIdentifier, credits: UInt16) {
        self.channel = channel
        self.credits = credits
    }

    /// Decodes the endpoint and the number of credits. Throws unless there are exactly four octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        channel = try data.readChannelIdentifier()
        credits = try data.readUInt16()
        try data.finish()
    }

    /// Appends the endpoint and the number of credits: four octets.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(channel)
        writer.append(credits)
    }
}
