import BluetoothATT
import BluetoothBase

/// The effect of a peer's PDU, or of a timeout, on a channel of an `AttributeEndpoint`.
///
/// Ranges count from the first octet of the PDU, the opcode, so nothing needs to be copied.
public enum AttributeOutcome: Equatable, Sendable {
    /// The PDU was for the local server.
    case server(GATTServerOutcome)
    /// The peer notified a value.
    case notification(AttributeHandle, value: Range<Int>)
    /// The peer notified several values: the parameters of a `MultipleHandleValueNotification`.
    case notifications(Range<Int>)
    /// The peer indicated a value. The confirmation has been written.
    case indication(AttributeHandle, value: Range<Int>)
    /// The PDU was for the local client. Operations that it ended are in `AttributeEndpoint.events`.
    case response
    /// The peer did not complete a transaction in time. The channel is dead, its operations have failed, and its
    /// transport must be closed (Core 5.4, Vol 3, Part F, 3.3.3).
    case channelDied(ATTBearer.Expiry)
    /// No effect: an empty PDU, an unknown channel, or a malformed notification or indication. An indication has been
    /// confirmed.
    case ignored
    /// No effect: a value of the peer in a PDU longer than the ATT_MTU (Vol 3, Part F, 3.2.8). An indication has been
    /// confirmed.
    case tooLong

    /// The outcome of a notification that is not too long. It has no response, so it needs neither a channel nor a
    /// writer.
    @inlinable @inline(__always)
    public static func notification(_ pdu: Span<UInt8>) -> AttributeOutcome {
        guard let notification = try? HandleValueNotification(decoding: parameters(of: pdu)),
            notification.handle.rawValue != 0
        else { return .ignored }
        return .notification(notification.handle, value: 3..<pdu.count)
    }

    /// The outcome of an indication, which is confirmed in any case (Vol 3, Part F, 3.4.7.2).
    static func indication(_ pdu: Span<UInt8>) -> AttributeOutcome {
        guard let indication = try? HandleValueIndication(decoding: parameters(of: pdu)),
            indication.handle.rawValue != 0
        else { return .ignored }
        return .indication(indication.handle, value: 3..<pdu.count)
    }

    @inlinable @inline(__always)
    @_lifetime(copy pdu)
    static func parameters(of pdu: Span<UInt8>) -> ByteReader {
        ByteReader(pdu.extracting(droppingFirst: 1))
    }
}
