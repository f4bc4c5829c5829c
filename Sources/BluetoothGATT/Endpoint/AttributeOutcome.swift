import BluetoothATT
import BluetoothBase

/// What a PDU of a peer, or the passing of time, brought about on a channel of an `AttributeEndpoint`.
///
/// Ranges count from the first octet of the PDU, the opcode, so that nothing needs to be copied.
public enum AttributeOutcome: Equatable, Sendable {
    /// The PDU was for our server.
    case server(GATTServerOutcome)
    /// The peer notified a value.
    case notification(AttributeHandle, value: Range<Int>)
    /// The peer notified several values: the parameters of a `MultipleHandleValueNotification`.
    case notifications(Range<Int>)
    /// The peer indicated a value. Its confirmation has been written.
    case indication(AttributeHandle, value: Range<Int>)
    /// The PDU was for our client. Operations that have ended by it are in `AttributeEndpoint.events`.
    case response
    /// The peer left a transaction unanswered. The channel is dead, its operations have failed, and whatever carries it is
    /// to be closed (Core 5.4, Vol 3, Part F, 3.3.3).
    case channelDied(ATTBearer.Expiry)
    /// Nothing came of it: a notification without its proper shape, or a channel that is not there.
    case ignored

    /// What a notification says. Nothing answers one, so that it needs neither a channel nor a writer.
    @inlinable @inline(__always)
    public static func notification(_ pdu: Span<UInt8>) -> AttributeOutcome {
        guard let notification = try? HandleValueNotification(decoding: parameters(of: pdu)),
            notification.handle.rawValue != 0
        else { return .ignored }
        return .notification(notification.handle, value: 3..<pdu.count)
    }

    /// What an indication says.
    static func indication(_ pdu: Span<UInt8>) -> AttributeOutcome? {
        guard let indication = try? HandleValueIndication(decoding: parameters(of: pdu)) else { return nil }
        // Handle 0 names nothing: the value is discarded, and confirmed all the same (Vol 3, Part F, 3.4.7.2).
        return indication.handle.rawValue == 0 ? .ignored : .indication(indication.handle, value: 3..<pdu.count)
    }

    @inlinable @inline(__always)
    @_lifetime(copy pdu)
    static func parameters(of pdu: Span<UInt8>) -> ByteReader {
        ByteReader(pdu.extracting(droppingFirst: 1))
    }
}
