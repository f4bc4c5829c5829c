import BluetoothAdapter
import BluetoothGATT

/// Messages of any length over notifications, cut into chunks. A notification that is exactly `EOM` ends the message.
/// See `ChunkedMessageSender` and `ChunkedMessageReceiver` for the rules.
extension Subscriber {
    /// How a message is cut.
    public enum ChunkSize: Equatable, Sendable {
        /// Into chunks of this many octets, at most what a notification carries on the link.
        case octets(Int)
        /// Into chunks as long as a notification can carry.
        case maximum
    }

    /// Sends a message to this subscriber, as fast as the link takes it.
    ///
    /// - Parameters:
    ///   - message: its octets.
    ///   - chunkSize: how many of them go into one notification.
    ///   - progress: called after each chunk with how many octets of the message have been sent.
    /// - Throws: what `notify` does; nothing more is sent then, so the receiver knows that the message is incomplete.
    public func send(
        message: [UInt8], chunkSize: ChunkSize = .octets(20),
        progress: @Sendable (_ octetsSent: Int) -> Void = { _ in }
    ) async throws(BluetoothError) {
        let longest = try await maximumLength
        var sender =
            switch chunkSize {
            case .octets(let size): ChunkedMessageSender(message, chunkSize: min(max(size, 1), longest))
            case .maximum: ChunkedMessageSender(message, chunkSize: longest)
            }
        while !sender.isFinished {
            if Task.isCancelled { throw .cancelled }
            let chunk = Array(sender.nextChunk)
            try await notify(chunk)
            sender.advance()
            progress(sender.bytesSent)
        }
    }
}

extension Connection {
    /// Subscribes to a characteristic, receives one message, and unsubscribes.
    ///
    /// - Parameters:
    ///   - characteristic: its notifications carry the message.
    ///   - maximumSize: how many octets to accept.
    ///   - idleTimeout: how long to wait for the next chunk.
    ///   - progress: called after each chunk with how many octets have arrived.
    /// - Throws: `.messageIncomplete` if the link or a part of its stream is lost half way, `.messageTooLong`, and
    ///   `.timedOut` if the peer stops sending. A message is never returned in part.
    public func receiveMessage(
        from characteristic: DiscoveredCharacteristic, maximumSize: Int = ChunkedMessage.defaultMaximumSize,
        idleTimeout: Duration = .seconds(30), progress: @escaping @Sendable (_ octetsReceived: Int) -> Void = { _ in }
    ) async throws(BluetoothError) -> [UInt8] {
        let chunks = try await notifications(of: characteristic)
        let message = try await withIdleTimeout(idleTimeout) { activity throws(BluetoothError) in
            try await Self.message(from: chunks, maximumSize: maximumSize) { octets in
                activity.note()
                progress(octets)
            }
        }
        // The message is complete even if the link ends now.
        try? await unsubscribe(from: characteristic)
        return message
    }

    private static func message(
        from chunks: EventSequence<[UInt8]>, maximumSize: Int, _ progress: (Int) -> Void
    ) async throws(BluetoothError) -> [UInt8] {
        var receiver = ChunkedMessageReceiver(maximumSize: maximumSize)
        var chunks = chunks.makeAsyncIterator()
        var received = 0
        while true {
            let chunk: [UInt8]?
            do throws(BluetoothError) {
                chunk = try await chunks.next()
            } catch .disconnected(let reason) {
                throw .messageIncomplete(bytesReceived: received, reason: reason)
            } catch .dataLost {
                throw .messageIncomplete(bytesReceived: received, reason: nil)
            }
            // Another task ended the subscription.
            guard let chunk else { throw .cancelled }
            do throws(ChunkedMessageError) {
                switch try receiver.receive(chunk.span) {
                case .complete(let message): return message
                case .incomplete(let bytesSoFar):
                    received = bytesSoFar
                    progress(received)
                }
            } catch {
                throw .messageTooLong(maximum: receiver.maximumSize)
            }
        }
    }
}
