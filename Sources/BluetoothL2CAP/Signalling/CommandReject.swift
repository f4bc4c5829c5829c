import BluetoothBase

/// L2CAP_COMMAND_REJECT_RSP: the response to a command that the receiver does not understand (Core 5.4, Vol 3, Part A,
/// 4.1).
public struct CommandReject: SignallingPDU {
    /// The code of L2CAP_COMMAND_REJECT_RSP: 0x01.
    public static var code: SignallingCode { .commandReject }

    /// Why a command was rejected, with the data that follows the reason field (Tables 4.3 and 4.4).
    public enum Reason: Hashable, Sendable {
        /// 0x0000: the command is not understood, or not valid in this state.
        case commandNotUnderstood
        /// 0x0001: the C-frame was longer than the rejecting device accepts; `actual` is its signalling MTU, in octets.
        case signallingMTUExceeded(actual: UInt16)
        /// 0x0002: the channel does not exist; the endpoints are from the point of view of the rejecting device, and 0
        /// if the command did not contain them.
        case invalidChannelIdentifier(local: ChannelIdentifier, remote: ChannelIdentifier)
        /// A reason reserved for future use.
        case other(UInt16)
    }

    /// Why the command was rejected, with the data of that reason.
    public var reason: Reason

    /// Creates a response that rejects a command for this reason.
    public init(_ reason: Reason) { self.reason = reason }

    /// Decodes the reason and its data. Throws if the data does not have the length that the reason requires. The data
    /// of a reserved reason is ignored.
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
            // The data of an unknown reason has no layout to check.
            reason = .other(value)
            return
        }
        try data.finish()
    }

    /// Appends the reason and its data. A reserved reason is sent without data.
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
