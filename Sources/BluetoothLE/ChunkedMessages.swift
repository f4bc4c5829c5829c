import BluetoothAdapter
import BluetoothGATT
import Synchronization

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
    ///   - idleTimeout: how long to wait for the next octet of it. Empty notifications are no progress.
    ///   - timeLimit: how long the whole message may take, an hour by default: the largest by default takes less, even
    ///     where a link carries 20 octets ten times a second.
    ///   - progress: called after each chunk with how many octets have arrived.
    /// - Throws: `.messageIncomplete`, with the number of octets that had come, if the link or a part of its stream is lost
    ///   half way, if the peer stops sending, or if it is too slow; `.messageTooLong`. A message is never returned in part,
    ///   and what is left of one that broke off is not taken for another: the call waits until the peer knows that no
    ///   more is wanted, for `idleTimeout` at most.
    public func receiveMessage(
        from characteristic: DiscoveredCharacteristic, maximumSize: Int = ChunkedMessage.defaultMaximumSize,
        idleTimeout: Duration = .seconds(30), timeLimit: Duration = .seconds(3600),
        progress: @escaping @Sendable (_ octetsReceived: Int) -> Void = { _ in }
    ) async throws(BluetoothError) -> [UInt8] {
        let chunks = try await notifications(of: characteristic)
        let pace = TransferPace(idleTimeout: idleTimeout, timeLimit: timeLimit)
        let message: [UInt8]
        do throws(BluetoothError) {
            let received = try await race { () async throws(BluetoothError) in
                try await Self.message(from: chunks, maximumSize: maximumSize) { octets in
                    pace.note(octets)
                    progress(octets)
                }
            } against: {
                await pace.waitForEnd()
            }
            guard let received else { throw .timedOut }
            message = received
        } catch {
            let error = error == .timedOut ? .messageIncomplete(bytesReceived: pace.octets, pace.interruption) : error
            // What is still on its way must not be taken for the beginning of another message. A task that was cancelled
            // waits for nothing.
            try? await withTimeout(idleTimeout) { () throws(BluetoothError) in
                try await unsubscribe(from: characteristic)
            }
            throw error
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
        while true {
            let chunk: [UInt8]?
            do throws(BluetoothError) {
                chunk = try await chunks.next()
            } catch .disconnected(let reason) {
                throw .messageIncomplete(bytesReceived: receiver.bytesSoFar, .disconnected(reason))
            } catch .dataLost {
                throw .messageIncomplete(bytesReceived: receiver.bytesSoFar, .dataLost)
            }
            // Another task ended the subscription.
            guard let chunk else { throw .cancelled }
            do throws(ChunkedMessageError) {
                switch try receiver.receive(chunk.span) {
                case .complete(let message): return message
                case .incomplete(let bytesSoFar): progress(bytesSoFar)
                }
            } catch {
                throw .messageTooLong(maximum: receiver.maximumSize)
            }
        }
    }
}

/// How far a transfer has come, and how long it may still take.
private final class TransferPace: Sendable {
    private let idleTimeout: Duration
    private let timeLimit: Duration
    private let stopwatch = Stopwatch()
    /// How many octets have come, and when the last ones did.
    private let state = Mutex((octets: 0, lastProgress: Duration.zero))

    init(idleTimeout: Duration, timeLimit: Duration) {
        (self.idleTimeout, self.timeLimit) = (idleTimeout, timeLimit)
    }

    /// How many octets have come.
    var octets: Int { state.withLock { $0.octets } }

    /// So many octets have come. Progress is that there are more than before.
    func note(_ octets: Int) {
        state.withLock { state in
            guard octets > state.octets else { return }
            state = (octets, stopwatch.elapsed())
        }
    }

    /// When the transfer is over, as far as is known now, from its beginning on.
    private var deadline: Duration { min(timeLimit, state.withLock { $0.lastProgress } + idleTimeout) }

    /// Returns when the transfer has been without progress for too long, or takes too long altogether.
    func waitForEnd() async {
        // One sleep for each `idleTimeout`, however much progress there is in it.
        while !Task.isCancelled, deadline > stopwatch.elapsed() { try? await stopwatch.sleep(deadline) }
    }

    /// Which of the two it was.
    var interruption: MessageInterruption { deadline < timeLimit ? .stalled(idleTimeout) : .tooSlow(timeLimit) }
}
