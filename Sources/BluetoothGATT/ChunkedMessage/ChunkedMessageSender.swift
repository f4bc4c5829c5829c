/// Cuts a message into chunks to notify one by one, and ends it with `EOM`.
///
/// Take `nextChunk`, notify it, and call `advance()` only once the link accepted it: a sender that meets back-pressure
/// simply stops, and goes on with the same chunk when the link is ready again.
///
///     while !sender.isFinished, notify(sender.nextChunk) { sender.advance() }
public struct ChunkedMessageSender: Sendable {
    /// The longest chunk, in octets. The terminator always has three.
    public let chunkSize: Int
    /// How many octets of the message have been accepted.
    public private(set) var bytesSent = 0
    /// Whether everything has been accepted, the terminator included.
    public private(set) var isFinished = false

    private let message: [UInt8]
    private let terminator = ChunkedMessage.terminator

    /// - Parameter chunkSize: The most octets one notification may carry: ATT_MTU less 3. At least 1 is used.
    public init(_ message: [UInt8], chunkSize: Int = ChunkedMessage.defaultChunkSize) {
        self.message = message
        self.chunkSize = max(1, chunkSize)
    }

    /// How many octets the message has, the terminator not counted.
    public var totalBytes: Int { message.count }

    /// What to notify next, a view of the message itself. Empty once `isFinished`.
    public var nextChunk: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            if isFinished { return message.span.extracting(0..<0) }
            if bytesSent == message.count { return terminator.span }
            return message.span.extracting(bytesSent..<bytesSent + nextLength)
        }
    }

    /// Goes on to the next chunk. Call it once `nextChunk` was accepted; after the end it does nothing.
    public mutating func advance() {
        if bytesSent == message.count { isFinished = true } else { bytesSent += nextLength }
    }

    /// How much of the message the next chunk holds.
    private var nextLength: Int {
        let length = min(chunkSize, message.count - bytesSent)
        // A chunk that reads `EOM` would end the message at the receiver. Two octets cannot, and the next chunk is
        // checked in turn.
        return ChunkedMessage.isTerminator(message.span.extracting(bytesSent..<bytesSent + length)) ? 2 : length
    }
}
