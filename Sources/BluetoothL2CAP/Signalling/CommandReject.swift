import BluetoothBase

/// L2CAP_COMMAND_REJECT_RSP: the answer to a command the receiver cannot make sense of (Core 5.4, Vol 3, Part A, 4.1).
public struct CommandReject: SignallingPDU {
    public static var code: SignallingCode { .commandReject }

    /// Why a command was rejected, with what the reason field is followed by (Tables 4.3 and 4.4).
    public enum Reason: Hashable, Sendable {
        /// 0x0000: the command, or what it asks for at this time, is not understood.
        case commandNotUnderstood
        /// 0x0001: the C-frame was longer than the rejecting device takes; `actual` is what it does take, in octets.
        case signallingMTUExceeded(actual: UInt16)
        /// 0x0002: the channel does not exist; the endpoints are named as the rejecting device sees them, and an
        /// endpoint the command did not carry is 0.
        case invalidChannelIdentifier(local: ChannelIdentifier, remote: ChannelIdentifier)
        /// A reason reserved for future use.
        case other(UInt16)
    }

    public var reason: Reason

    public init(_ reason: Reason) { self.reason = reason }

    public init(decoding data: consuming ByteReader) throws(DecodingFailure) {
        switch try data.readUInt16() {
        case 0x0000:
            reason = .commandNotUnderstood
        case 0x0001:
            reason = .signallingMTUExceeded(actual: try data.readUInt16())
        case 0x0002:
            let local = try data.readChannelIdentifier()
            reason = .invalidChannelIdentifier(local: local, remote: try data.readChannelIdentifier())
        case let value:
            // The data of a reason yet to be defined has no layout we could hold it to.
            reason = .other(value)
            return
        }
        try data.finish()
    }

    public func encodeData(into writer: inout ByteWriter) {
        switch reason {
        case .commandNotUnderstood:
            writer.append(UInt16(0x0000))
        case .signallingMTUExceeded(let actual):
            writer.append(UInt16(0x0001))
            writer.append(actual)
        case .invalidChannelIdentifier(let local, let remote):
            writer.append(UInt16(0x0002))
            writer.append(local)
            writer.append(remote)
        case .other(let value):
            writer.append(value)
        }
    }
}
