/// Splits a message into chunks to notify one by one, and ends it with `EOM`.
///
/// Take `nextChunk`, notify it, and call `advance()` only once the link has accepted it. Under back-pressure, a sender
/// simply stops, and continues with the same chunk when the link is ready again.
///
///     while !sender.isFinished, notify(sender.nextChunk) { sender.advance() }
public struct ChunkedMessageSender: Sendable {
    /// The longest chunk, in octets. The terminator always has three.
    public let chunkSize: Int
    /// The number of octets of the message that the link has accepted.
    public private(set) var octetsSent = 0
    /// Whether the link has accepted everything, including the terminator.
    public private(set) var isFinished = false

    private let message: [UInt8]
    private let terminator = ChunkedMessage.terminator

    /// Creates a sender for one message.
    ///
    /// - Parameter chunkSize: The maximum number of octets in one notification: ATT_MTU - 3. Values below 1 count as 1.
    public init(_ message: some Collection<UInt8>, chunkSize: Int = ChunkedMessage.defaultChunkSize) {
        self.message = Array(message)
        self.chunkSize = max(1, chunkSize)
    }

    /// The length of the message in octets, without the terminator.
    public var octetCount: Int { message.count }

    /// The next chunk to notify, a view of the message itself. Empty once `isFinished`.
    public var nextChunk: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            if isFinished { return message.span.extracting(0..<0) }
            if octetsSent == message.count { return terminator.span }
            return message.span.extracting(octetsSent..<octetsSent + nextLength)
        }
    }

    /// Advances to the next chunk. Call it once `nextChunk` was accepted. Once `isFinished`, it has no effect.
    public mutating func advance() {
        if octetsSent == message.count { isFinished = true } else { octetsSent += nextLength }
    }

    /// The number of octets of the message in the next chunk.
    private var nextLength: Int {
        let length = min(chunkSize, message.count - octetsSent)
        // A chunk that reads `EOM` would end the message at the receiver. Two octets cannot, and the next chunk is
        // checked in turn.
        return ChunkedMessage.isTerminator(message.span.extracting(octetsSent..<octetsSent + length)) ? 2 : length
    }
}
