import BluetoothBase

/// The reason why a stream of H4 packets can no longer be decoded.
@nonexhaustive
public enum H4Fault: Error, Equatable, Sendable {
    /// A packet indicator is not valid for this side, so the stream is out of sync. No packet boundary after it can be
    /// trusted, so the transport must be reset.
    case unexpectedIndicator(UInt8)
}

/// Splits a stream of bytes into H4 packets (Core 5.4, Vol 4, Part A, 2).
///
/// Bytes arrive in pieces of any size. A packet contained in one piece is delivered in place. A split packet is
/// assembled in a buffer, which grows with the bytes that arrive and not with the length that a header claims.
public struct H4Framer: Sendable {
    /// The side that reads the stream, which determines the packets it may contain.
    public enum Receiver: Sendable {
        /// The host, which reads events and data.
        case host
        /// The controller, which reads commands and data.
        case controller
    }

    /// The side that reads the stream.
    public let receiver: Receiver
    /// The error that ended the stream, if any. It persists until `reset()`.
    public private(set) var fault: H4Fault?
    /// The part of an incomplete packet that has arrived.
    private var partial: [UInt8] = []

    /// The number of bytes of an incomplete packet that have arrived.
    public var partialByteCount: Int { partial.count }

    /// Creates a framer at the start of a stream. The receiver determines the packet indicators that are valid.
    public init(receiver: Receiver) { self.receiver = receiver }

    /// Receives the next bytes of the stream, and delivers each packet that they complete, starting with its indicator.
    ///
    /// - Throws: at the first byte that can't begin a packet, after delivering the packets before it. Every later call
    ///   throws too.
    public mutating func receive(_ bytes: Span<UInt8>, _ deliver: (Span<UInt8>) -> Void) throws(H4Fault) {
        if let fault { throw fault }
        var offset = 0
        if !partial.isEmpty {
            try complete(with: bytes, at: &offset)
            guard partial.count == Self.length(of: partial.span) else { return }
            deliver(partial.span)
            partial.removeAll(keepingCapacity: true)
        }
        while offset < bytes.count {
            let rest = bytes.extracting(offset..<bytes.count)
            try check(rest[0])
            guard let length = Self.length(of: rest), length <= rest.count else {
                rest.withUnsafeBufferPointer { partial.append(contentsOf: $0) }
                return
            }
            deliver(rest.extracting(0..<length))
            offset += length
        }
    }

    /// The length of the packet that these bytes begin with; nil if the packet is incomplete, or if its indicator isn't
    /// valid for the receiver. A reader that knows where a packet begins can deliver whole packets without a framer.
    @inlinable
    @inline(__always)
    public static func lengthOfWholePacket(_ bytes: Span<UInt8>, for receiver: Receiver) -> Int? {
        guard !bytes.isEmpty, isExpected(bytes[0], by: receiver), let length = length(of: bytes), length <= bytes.count
        else { return nil }
        return length
    }

    /// Discards a partial packet and a fault. Call this when the transport has been reset and starts a new stream.
    public mutating func reset() {
        partial.removeAll(keepingCapacity: true)
        fault = nil
    }

    /// Appends bytes to the partial packet: first those that complete its header, then those that its length requires.
    private mutating func complete(with bytes: Span<UInt8>, at offset: inout Int) throws(H4Fault) {
        while offset < bytes.count, Self.length(of: partial.span) == nil {
            partial.append(bytes[offset])
            offset += 1
        }
        guard let length = Self.length(of: partial.span) else { return }
        let count = min(length - partial.count, bytes.count - offset)
        bytes.extracting(offset..<(offset + count)).withUnsafeBufferPointer { partial.append(contentsOf: $0) }
        offset += count
    }

    private mutating func check(_ indicator: UInt8) throws(H4Fault) {
        guard !Self.isExpected(indicator, by: receiver) else { return }
        fault = .unexpectedIndicator(indicator)
        throw .unexpectedIndicator(indicator)
    }

    @inlinable
    static func isExpected(_ indicator: UInt8, by receiver: Receiver) -> Bool {
        switch (HCIPacketType(rawValue: indicator), receiver) {
        case (.aclData, _), (.synchronousData, _), (.isoData, _), (.event, .host), (.command, .controller): true
        case (.event, .controller), (.command, .host), (nil, _): false
        }
    }

    /// Returns the length of the packet that begins with these bytes, or nil if its length field has not arrived yet.
    @inlinable
    @inline(__always)
    static func length(of packet: Span<UInt8>) -> Int? {
        guard !packet.isEmpty, let type = HCIPacketType(rawValue: packet[0]) else { return nil }
        switch type {
        case .event: return packet.count < 3 ? nil : 3 + Int(packet[2])
        case .command, .synchronousData: return packet.count < 4 ? nil : 4 + Int(packet[3])
        case .aclData: return packet.count < 5 ? nil : 5 + Int(packet[3]) + Int(packet[4]) << 8
        // The two most significant bits of the length field of an ISO packet are not part of the length (Vol 4, Part E,
        // 5.4.5).
        case .isoData: return packet.count < 5 ? nil : 5 + Int(packet[3]) + Int(packet[4] & 0x3F) << 8
        }
    }
}
