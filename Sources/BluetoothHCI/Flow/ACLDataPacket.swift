import BluetoothBase

/// An ACL data packet: a fragment of an L2CAP frame on one link (Core 5.4, Vol 4, Part E, 5.4.2). A view: it borrows
/// the bytes it was decoded from.
public struct ACLDataPacket: ~Escapable {
    /// The number of octets before the data, excluding the H4 indicator.
    @inlinable public static var headerLength: Int { 4 }

    /// The position of a fragment in a frame: the Packet_Boundary_Flag.
    public enum Boundary: UInt8, Sendable {
        /// The first fragment, from a host to an LE controller.
        case firstNonFlushable = 0b00
        /// A continuing fragment of an L2CAP frame.
        case continuing = 0b01
        /// The first fragment, from a controller to a host.
        case firstFlushable = 0b10
        /// A complete frame. Only AMP controllers, which no longer exist, used this value.
        case complete = 0b11
    }

    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The position of the fragment in the frame.
    public var boundary: Boundary
    /// The Broadcast_Flag, two bits. 0 is point-to-point, the only value allowed on an LE link.
    public var broadcast: UInt8
    /// The fragment.
    public var data: Span<UInt8>

    /// Creates a packet that borrows `data`. On an LE link, `broadcast` must be 0.
    @inlinable
    @_lifetime(copy data)
    public init(
        connectionHandle: ConnectionHandle, boundary: Boundary, broadcast: UInt8 = 0, data: Span<UInt8>
    ) {
        self.connectionHandle = connectionHandle
        self.boundary = boundary
        self.broadcast = broadcast
        self.data = data
    }

    /// Decodes a packet, without its H4 indicator: handle and flags, length and data.
    ///
    /// - Throws: `invalidLength` if the length field does not match the data that follows.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    public init(decoding packet: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(packet)
        let header = try reader.readUInt16()
        let length = Int(try reader.readUInt16())
        guard length == reader.remaining else { throw DecodingFailure(.invalidLength, at: 2) }
        connectionHandle = ConnectionHandle(header)
        boundary = Boundary(rawValue: UInt8(truncatingIfNeeded: header >> 12 & 0b11)) ?? .complete
        broadcast = UInt8(truncatingIfNeeded: header >> 14)
        data = reader.readRemaining()
    }

    /// Whether the flags are those with which a controller must mark the first fragment of a frame on an LE link.
    @inlinable @inline(__always)
    public var isOrdinaryStart: Bool { boundary == .firstFlushable && broadcast == 0 }

    /// Appends the complete packet, starting with its H4 indicator.
    @inlinable
    public func encodePacket(into writer: inout ByteWriter) {
        Self.encodeHeader(
            connectionHandle, boundary, broadcast: broadcast, length: UInt16(truncatingIfNeeded: data.count),
            into: &writer)
        writer.append(data)
    }

    /// Appends the H4 indicator and the header; the caller appends the data.
    @inlinable
    public static func encodeHeader(
        _ connectionHandle: ConnectionHandle, _ boundary: Boundary, broadcast: UInt8 = 0, length: UInt16,
        into writer: inout ByteWriter
    ) {
        writer.append(HCIPacketType.aclData.rawValue)
        writer.append(
            connectionHandle.rawValue | UInt16(boundary.rawValue) << 12 | UInt16(broadcast & 0b11) << 14)
        writer.append(length)
    }
}
