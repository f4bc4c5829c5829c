import BluetoothBase

/// Puts a message together from the chunks of a `ChunkedMessageSender`.
///
/// A message is returned whole or not at all: if it grows too long, or the link or a part of its stream is lost, it ends
/// in an error.
public struct ChunkedMessageReceiver: Sendable {
    /// What a chunk led to.
    public enum Progress: Equatable, Sendable {
        /// More follows; this many octets have arrived.
        case incomplete(bytesSoFar: Int)
        /// The terminator came. The receiver is ready for the next message.
        case complete([UInt8])
    }

    /// The longest message taken, in octets.
    public let maximumSize: Int

    private var message: [UInt8] = []
    /// Why the rest of the current message is thrown away; nil where it is not.
    private var discarding: ChunkedMessageError?

    public init(maximumSize: Int = ChunkedMessage.defaultMaximumSize) {
        self.maximumSize = max(0, maximumSize)
    }

    /// How many octets of the current message are held.
    public var bytesSoFar: Int { message.count }

    /// Takes the value of one notification.
    ///
    /// - Throws: `messageTooLong` for the chunk that passes `maximumSize` and for every further one of the same message,
    ///   the terminator included; after that the receiver is ready for the next message. So also what `noteLoss` has
    ///   thrown.
    public mutating func receive(_ chunk: Span<UInt8>) throws(ChunkedMessageError) -> Progress {
        let isLast = ChunkedMessage.isTerminator(chunk)
        if discarding == nil {
            if isLast { return .complete(takeMessage()) }
            if chunk.count <= maximumSize - message.count {
                chunk.withUnsafeBufferPointer { message.append(contentsOf: $0) }
                return .incomplete(bytesSoFar: message.count)
            }
            message = []
        }
        let error = discarding ?? .messageTooLong(maximum: maximumSize)
        discarding = isLast ? nil : error
        throw error
    }

    /// Gives up the current message because a part of the link's stream was lost, and throws away the rest of it. Where no
    /// chunk had come, the next message is given up: its beginning may be what was lost.
    ///
    /// - Throws: always: `dataLost`, or `messageTooLong` if the message was being thrown away for that.
    public mutating func noteLoss() throws(ChunkedMessageError) {
        let error = discarding ?? .dataLost(bytesReceived: takeMessage().count)
        discarding = error
        throw error
    }

    /// Ends the current message because its link was lost. The receiver is ready for a message on another link.
    ///
    /// - Throws: `linkLost` if a message had begun; if it was being thrown away, why.
    public mutating func end() throws(ChunkedMessageError) {
        if let error = discarding {
            discarding = nil
            throw error
        }
        let lost = takeMessage()
        if !lost.isEmpty { throw .linkLost(bytesReceived: lost.count) }
    }

    private mutating func takeMessage() -> [UInt8] {
        defer { message = [] }
        return message
    }
}
