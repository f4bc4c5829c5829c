import BluetoothBase

/// Reassembles a message from the chunks of a `ChunkedMessageSender`.
///
/// A message is returned whole or not at all. If it grows too long, or if the link or a part of its stream is lost, it
/// ends with an error.
public struct ChunkedMessageReceiver: Sendable {
    /// The result of a chunk.
    public enum Progress: Equatable, Sendable {
        /// More chunks follow; this many octets have arrived.
        case incomplete(octetsReceived: Int)
        /// The terminator arrived. The receiver is ready for the next message.
        case complete([UInt8])
    }

    /// The maximum message length, in octets.
    public let maximumSize: Int

    private var message: [UInt8] = []
    /// Why the rest of the current message is discarded; nil if it is not discarded.
    private var discarding: ChunkedMessageError?

    /// Creates a receiver for messages of up to `maximumSize` octets. A negative size counts as 0.
    public init(maximumSize: Int = ChunkedMessage.defaultMaximumSize) {
        self.maximumSize = max(0, maximumSize)
    }

    /// The number of octets of the current message received so far.
    public var octetsReceived: Int { message.count }

    /// Handles the value of one notification.
    ///
    /// - Throws: `messageTooLong` for the chunk that exceeds `maximumSize`. The rest of that message throws the same
    ///   error, including the terminator, after which the receiver is ready for the next message. After `noteLoss`, the
    ///   rest of the message throws the error that `noteLoss` threw.
    public mutating func receive(_ chunk: Span<UInt8>) throws(ChunkedMessageError) -> Progress {
        let isLast = ChunkedMessage.isTerminator(chunk)
        if discarding == nil {
            if isLast { return .complete(takeMessage()) }
            if chunk.count <= maximumSize - message.count {
                chunk.withUnsafeBufferPointer { message.append(contentsOf: $0) }
                return .incomplete(octetsReceived: message.count)
            }
            message = []
        }
        let error = discarding ?? .messageTooLong(maximum: maximumSize)
        discarding = isLast ? nil : error
        throw error
    }

    /// Discards the current message, including the chunks still to come, because a part of the link's stream was lost.
    /// If no chunk had arrived, the next message is discarded, because its beginning may have been lost.
    ///
    /// - Throws: Always: `dataLost`, or the earlier error if the message was already being discarded.
    public mutating func noteLoss() throws(ChunkedMessageError) {
        let error = discarding ?? .dataLost(octetsReceived: takeMessage().count)
        discarding = error
        throw error
    }

    /// Ends the current message because its link was lost. The receiver is then ready for a message on another link.
    ///
    /// - Throws: `linkLost` if a message had begun; if it was being discarded, the reason for that.
    public mutating func end() throws(ChunkedMessageError) {
        if let error = discarding {
            discarding = nil
            throw error
        }
        let lost = takeMessage()
        if !lost.isEmpty { throw .linkLost(octetsReceived: lost.count) }
    }

    private mutating func takeMessage() -> [UInt8] {
        defer { message = [] }
        return message
    }
}
