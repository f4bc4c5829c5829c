import BluetoothBase

/// L2CAP_CREDIT_BASED_CONNECTION_REQ: requests up to five credit-based channels at once (Core 5.4, Vol 3, Part A,
/// 4.25).
public struct CreditBasedConnectionRequest: SignallingPDU {
    /// The code of L2CAP_CREDIT_BASED_CONNECTION_REQ: 0x17.
    public static var code: SignallingCode { .creditBasedConnectionRequest }

    /// The requested service, 0x0001 to 0x00FF.
    public var spsm: UInt16
    /// The longest SDU the sender accepts, in octets: 64 or more.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets: 64 to 65533.
    public var mps: UInt16
    /// The number of K-frames that the receiver may initially send on each channel: 1 or more.
    public var initialCredits: UInt16
    /// One to five endpoints on the device that sends the request. A malformed request may repeat an endpoint.
    public var sources: [ChannelIdentifier]

    /// Creates a request for one channel from each of `sources`. The parameters are not checked.
    public init(spsm: UInt16, mtu: UInt16, mps: UInt16, initialCredits: UInt16, sources: [ChannelIdentifier]) {
        self.spsm = spsm
        self.mtu = mtu
        self.mps = mps
        self.initialCredits = initialCredits
        self.sources = sources
    }

    /// Decodes the parameters and the endpoints. Throws unless there are one to five endpoints.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        spsm = try data.readUInt16()
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        initialCredits = try data.readUInt16()
        sources = try data.readChannelIdentifiers(count: 1...5)
    }

    /// Appends the parameters and the endpoints: 8 octets and 2 for each endpoint.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(spsm)
        writer.append(mtu)
        writer.append(mps)
        writer.append(initialCredits)
        for source in sources { writer.append(source) }
    }
}

/// L2CAP_CREDIT_BASED_CONNECTION_RSP (Core 5.4, Vol 3, Part A, 4.26).
public struct CreditBasedConnectionResponse: SignallingPDU {
    /// The code of L2CAP_CREDIT_BASED_CONNECTION_RSP: 0x18.
    public static var code: SignallingCode { .creditBasedConnectionResponse }

    /// The longest SDU the sender accepts, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets.
    public var mps: UInt16
    /// The number of K-frames that the receiver may initially send on each channel.
    public var initialCredits: UInt16
    /// Whether the request succeeded, and otherwise why channels were refused or are pending.
    public var result: CreditBasedConnectionResult
    /// The endpoints on the device that sends the response, in the order of the request; 0 for a refused channel.
    public var destinations: [ChannelIdentifier]

    /// Creates a response. The parameters are not checked.
    public init(
        mtu: UInt16, mps: UInt16, initialCredits: UInt16, result: CreditBasedConnectionResult,
        destinations: [ChannelIdentifier]
    ) {
        self.mtu = mtu
        self.mps = mps
        self.initialCredits = initialCredits
        self.result = result
        self.destinations = destinations
    }

    /// Decodes the parameters, the result and the endpoints. Throws if there are more than five endpoints.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        initialCredits = try data.readUInt16()
        result = CreditBasedConnectionResult(rawValue: try data.readUInt16())
        destinations = try data.readChannelIdentifiers(count: 0...5)
    }

    /// Appends the parameters, the result and the endpoints: 8 octets and 2 for each endpoint.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(mtu)
        writer.append(mps)
        writer.append(initialCredits)
        writer.append(result.rawValue)
        for destination in destinations { writer.append(destination) }
    }
}

/// L2CAP_CREDIT_BASED_RECONFIGURE_REQ: the sender accepts other SDU and K-frame sizes from now on (Core 5.4, Vol 3,
/// Part A, 4.27).
public struct CreditBasedReconfigureRequest: SignallingPDU {
    /// The code of L2CAP_CREDIT_BASED_RECONFIGURE_REQ: 0x19.
    public static var code: SignallingCode { .creditBasedReconfigureRequest }

    /// The longest SDU the sender accepts, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets.
    public var mps: UInt16
    /// One to five endpoints on the device that sends the request.
    public var channels: [ChannelIdentifier]

    /// Creates a request to change the limits of `channels`. The parameters are not checked.
    public init(mtu: UInt16, mps: UInt16, channels: [ChannelIdentifier]) {
        self.mtu = mtu
        self.mps = mps
        self.channels = channels
    }

    /// Decodes the limits and the endpoints. Throws unless there are one to five endpoints.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        channels = try data.readChannelIdentifiers(count: 1...5)
    }

    /// Appends the MTU, the MPS and the endpoints: 4 octets and 2 for each endpoint.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(mtu)
        writer.append(mps)
        for channel in channels { writer.append(channel) }
    }
}

/// L2CAP_CREDIT_BASED_RECONFIGURE_RSP (Core 5.4, Vol 3, Part A, 4.28).
public struct CreditBasedReconfigureResponse: SignallingPDU {
    /// The code of L2CAP_CREDIT_BASED_RECONFIGURE_RSP: 0x1A.
    public static var code: SignallingCode { .creditBasedReconfigureResponse }

    /// Whether the limits were changed, and otherwise the reason for the refusal.
    public var result: CreditBasedReconfigureResult

    /// Creates a response with this result for all channels of the request.
    public init(_ result: CreditBasedReconfigureResult) { self.result = result }

    /// Decodes the result. Throws unless there are exactly two octets.
    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        result = CreditBasedReconfigureResult(rawValue: try data.readUInt16())
        try data.finish()
    }

    /// Appends the two octets of the result.
    public func encodeData(into writer: inout ByteWriter) {
        writer.append(result.rawValue)
    }
}

extension ByteReader {
    /// Reads the rest as channel identifiers. The length of the list is checked before anything is stored.
    @_lifetime(self: copy self)
    mutating func readChannelIdentifiers(count: ClosedRange<Int>) throws(DecodingFailure) -> [ChannelIdentifier] {
        guard remaining % 2 == 0, count.contains(remaining / 2) else {
            throw DecodingFailure(.invalidLength, at: offset)
        }
        var channels: [ChannelIdentifier] = []
        channels.reserveCapacity(remaining / 2)
        while remaining > 0 { channels.append(try readChannelIdentifier()) }
        return channels
    }
}
