import BluetoothBase

/// A whole L2CAP PDU in a basic frame: a view of the bytes it was decoded from (Core 5.4, Vol 3, Part A, 3.1).
public struct L2CAPFrame: ~Escapable {
    /// The length of the basic header, in octets: a length and a channel identifier, two octets each.
    @inlinable public static var headerLength: Int { 4 }

    /// The channel endpoint on the receiving device.
    public var channel: ChannelIdentifier
    /// The octets after the header, up to 65535.
    public var payload: Span<UInt8>

    /// Creates a frame, which refers to the memory of `payload`. The payload must not exceed 65535 octets.
    @inlinable
    @_lifetime(copy payload)
    public init(channel: ChannelIdentifier, payload: Span<UInt8>) {
        self.channel = channel
        self.payload = payload
    }

    /// Decodes a reassembled PDU, which must be exactly as long as its header states.
    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let length = Int(try reader.readUInt16())
        channel = try reader.readChannelIdentifier()
        payload = try reader.readBytes(length)
        try reader.finish()
    }

    /// A faster alternative to `init(decoding:)`; nil if `bytes` is not exactly one PDU.
    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init?(whole bytes: Span<UInt8>) {
        guard bytes.count >= 4, bytes.count == 4 &+ (Int(bytes[0]) | Int(bytes[1]) << 8) else { return nil }
        channel = ChannelIdentifier(UInt16(bytes[2]) | UInt16(bytes[3]) << 8)
        payload = bytes.extracting(droppingFirst: 4)
    }

    /// The length of the whole PDU that begins with `start`, including the header. Nil until the length field is
    /// complete, because a first fragment may be a single octet.
    @inlinable
    public static func totalLength(ofPDUStartingWith start: Span<UInt8>) -> Int? {
        guard start.count >= 2 else { return nil }
        return headerLength &+ Int(start[0]) &+ Int(start[1]) << 8
    }

    /// The fields of the basic header at the beginning of `start`: the payload's length and its channel. Nil until the
    /// header is complete.
    public static func header(
        ofPDUStartingWith start: Span<UInt8>
    ) -> (length: Int, channel: ChannelIdentifier)? {
        var reader = ByteReader(start)
        guard let length = try? reader.readUInt16(), let channel = try? reader.readChannelIdentifier() else {
            return nil
        }
        return (Int(length), channel)
    }

    /// Appends the header and the payload.
    @inlinable
    public func encode(into writer: inout ByteWriter) {
        let start = Self.open(channel, in: &writer)
        writer.append(payload)
        Self.close(start, in: &writer)
    }
}

// MARK: - Writing in place

extension L2CAPFrame {
    /// The header of a frame with `length` octets of payload for `channel`, least significant octet first.
    @inlinable @inline(__always)
    public static func header(to channel: ChannelIdentifier, payloadLength length: Int) -> UInt32 {
        UInt32(UInt16(truncatingIfNeeded: length)) | UInt32(channel.rawValue) << 16
    }

    /// Appends a header for `channel` whose length is filled in later, so that the payload can be written directly
    /// after it. Returns the argument for `close`.
    @inlinable @inline(__always)
    public static func open(_ channel: ChannelIdentifier, in writer: inout ByteWriter) -> Int {
        let start = writer.count
        writer.append(UInt16(0))
        writer.append(channel)
        return start
    }

    /// Fills in the length of the frame opened at `start`. Everything appended since is its payload, which must not
    /// exceed 65535 octets.
    @inlinable @inline(__always)
    public static func close(_ start: Int, in writer: inout ByteWriter) {
        writer.overwrite(UInt16(truncatingIfNeeded: writer.count &- start &- headerLength), at: start)
    }
}
