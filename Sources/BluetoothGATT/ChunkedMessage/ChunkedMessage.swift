/// A message longer than a notification: its bytes in chunks, followed by one notification that is exactly `EOM`.
///
/// This is the convention of Apple's sample code for transferring text between a central and a peripheral. It has no
/// escape sequence, so the sender shortens a chunk that would read as the terminator.
public enum ChunkedMessage {
    /// The end of a message: the three octets `EOM`.
    public static let terminator: [UInt8] = [UInt8(ascii: "E"), UInt8(ascii: "O"), UInt8(ascii: "M")]

    /// A chunk size that every link can carry: the minimum ATT_MTU of 23, less the three octets before a notification's
    /// value.
    @inlinable public static var defaultChunkSize: Int { 20 }

    /// The default maximum message length of a receiver, in octets.
    @inlinable public static var defaultMaximumSize: Int { 512 * 1024 }

    static func isTerminator(_ chunk: Span<UInt8>) -> Bool {
        chunk.count == 3 && chunk[0] == UInt8(ascii: "E") && chunk[1] == UInt8(ascii: "O")
            && chunk[2] == UInt8(ascii: "M")
    }
}

/// Why a chunked message did not arrive.
@nonexhaustive
public enum ChunkedMessageError: Error, Equatable, Sendable {
    /// The message is longer than the receiver's `maximumSize`, in octets.
    case messageTooLong(maximum: Int)
    /// The link was lost before the terminator arrived; `octetsReceived` octets had arrived.
    case linkLost(octetsReceived: Int)
    /// A part of the link's stream was lost after `octetsReceived` octets of the message.
    case dataLost(octetsReceived: Int)
}
