import BluetoothBase

/// L2CAP_CREDIT_BASED_CONNECTION_REQ: asks for up to five credit-based channels at once
/// (Core 5.4, Vol 3, Part A, 4.25).
public struct CreditBasedConnectionRequest: SignallingPDU {
    public static var code: SignallingCode { .creditBasedConnectionRequest }

    /// The service asked for, 0x0001 to 0x00FF.
    public var spsm: UInt16
    /// The longest SDU the sender accepts, in octets: 64 or more.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets: 64 to 65533.
    public var mps: UInt16
    /// How many K-frames the receiver may send at first on each channel: 1 or more.
    public var initialCredits: UInt16
    /// One to five endpoints on the device that sends the request; not necessarily distinct.
    public var sources: [ChannelIdentifier]

    public init(spsm: UInt16, mtu: UInt16, mps: UInt16, initialCredits: UInt16, sources: [ChannelIdentifier]) {
        self.spsm = spsm
        self.mtu = mtu
        self.mps = mps
        self.initialCredits = initialCredits
        self.sources = sources
    }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        spsm = try data.readUInt16()
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        initialCredits = try data.readUInt16()
        sources = try data.readChannelIdentifiers(count: 1...5)
    }

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
    public static var code: SignallingCode { .creditBasedConnectionResponse }

    /// The longest SDU the sender accepts, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets.
    public var mps: UInt16
    /// How many K-frames the receiver may send at first on each channel.
    public var initialCredits: UInt16
    public var result: CreditBasedConnectionResult
    /// The endpoints on the device that sends the response, in the order of the request's; 0 for a refused channel.
    public var destinations: [ChannelIdentifier]

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

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        initialCredits = try data.readUInt16()
        result = CreditBasedConnectionResult(rawValue: try data.readUInt16())
        destinations = try data.readChannelIdentifiers(count: 0...5)
    }

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
    public static var code: SignallingCode { .creditBasedReconfigureRequest }

    /// The longest SDU the sender accepts, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame the sender accepts, in octets.
    public var mps: UInt16
    /// One to five endpoints on the device that sends the request.
    public var channels: [ChannelIdentifier]

    public init(mtu: UInt16, mps: UInt16, channels: [ChannelIdentifier]) {
        self.mtu = mtu
        self.mps = mps
        self.channels = channels
    }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        mtu = try data.readUInt16()
        mps = try data.readUInt16()
        channels = try data.readChannelIdentifiers(count: 1...5)
    }

    public func encodeData(into writer: inout ByteWriter) {
        writer.append(mtu)
        writer.append(mps)
        for channel in channels { writer.append(channel) }
    }
}

/// L2CAP_CREDIT_BASED_RECONFIGURE_RSP (Core 5.4, Vol 3, Part A, 4.28).
public struct CreditBasedReconfigureResponse: SignallingPDU {
    public static var code: SignallingCode { .creditBasedReconfigureResponse }

    public var result: CreditBasedReconfigureResult

    public init(_ result: CreditBasedReconfigureResult) { self.result = result }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        result = CreditBasedReconfigureResult(rawValue: try data.readUInt16())
        try data.finish()
    }

    public func encodeData(into writer: inout ByteWriter) {
        writer.append(result.rawValue)
    }
}

extension ByteReader {
    /// Reads the rest as channel identifiers. The list's length is checked before anything is stored.
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
