import BluetoothAdapter
import BluetoothGATT
import Synchronization

/// Messages of any length over notifications, divided into chunks. A notification that is exactly `EOM` ends the
/// message. See `ChunkedMessageSender` and `ChunkedMessageReceiver` for the rules.
extension Subscriber {
    /// How a message is divided.
    @nonexhaustive
    public enum ChunkSize: Equatable, Sendable {
        /// Chunks of this many octets, limited to what a notification can carry on the link.
        case octets(Int)
        /// Chunks as long as a notification can carry.
        case maximum
    }

    /// Sends a message to this subscriber, as fast as the link accepts it.
    ///
    /// - Parameters:
    ///   - message: the octets of the message.
    ///   - chunkSize: the number of octets in each notification.
    ///   - progress: called after each chunk with the number of octets of the message sent so far.
    /// - Throws: the errors of `notify`. Nothing more is sent after an error, so the receiver detects that the message
    ///   is incomplete.
    public func sendMessage(
        _ message: some Collection<UInt8>, chunkSize: ChunkSize = .octets(20),
        progress: @Sendable (_ octetsSent: Int) -> Void = { _ in }
    ) async throws(BluetoothError) {
        let longest = maximumLength, octets = Array(message)
        var sender =
            switch chunkSize {
            case .octets(let size): ChunkedMessageSender(octets, chunkSize: min(max(size, 1), longest))
            case .maximum: ChunkedMessageSender(octets, chunkSize: longest)
            }
        while !sender.isFinished {
            if Task.isCancelled { throw .cancelled }
            let chunk = Array(sender.nextChunk)
            try await notify(chunk)
            sender.advance()
            progress(sender.octetsSent)
        }
    }
}

extension Connection {
    /// Subscribes to a characteristic, receives one message, and unsubscribes.
    ///
    /// - Parameters:
    ///   - characteristic: the characteristic whose notifications carry the message.
    ///   - maximumSize: the maximum number of octets to accept.
    ///   - idleTimeout: how long to wait for the next octet of the message. Empty notifications do not count as
    ///     progress.
    ///   - timeLimit: how long the whole message may take. Defaults to one hour: a message of the default maximum size
    ///     takes less, even if the link carries only 20 octets ten times a second.
    ///   - progress: called after each chunk with the number of octets received so far.
    /// - Throws: `.messageIncomplete`, with the number of octets received, if the link ends, some of its data is lost,
    ///   the peer stops sending or the peer is too slow; `.messageTooLong`. Part of a message is never returned. After
    ///   an error, the call waits until the peer has confirmed the end of the subscription, for `idleTimeout` at most.
    ///   The rest of the message is therefore not mistaken for another message.
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
            let error =
                error == .timedOut
                ? .messageIncomplete(octetsReceived: pace.octets, interruption: pace.interruption) : error
            // Chunks in flight must not be mistaken for the beginning of another message. A cancelled task does not
            // wait.
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
            } catch {
                switch error.kind {
                case .disconnected(let reason):
                    throw .messageIncomplete(
                        octetsReceived: receiver.octetsReceived, interruption: .disconnected(reason))
                case .dataLost:
                    throw .messageIncomplete(octetsReceived: receiver.octetsReceived, interruption: .dataLost)
                default: throw error
                }
            }
            // Another task ended the subscription.
            guard let chunk else { throw .cancelled }
            do throws(ChunkedMessageError) {
                switch try receiver.receive(chunk.span) {
                case .complete(let message): return message
                case .incomplete(let octetsReceived): progress(octetsReceived)
                }
            } catch {
                throw .messageTooLong(maximum: receiver.maximumSize)
            }
        }
    }
}

/// The progress of a transfer, and how long it may still take.
private final class TransferPace: Sendable {
    private let idleTimeout: Duration
    private let timeLimit: Duration
    private let stopwatch = Stopwatch()
    /// The number of octets received, and the time when the last ones arrived.
    private let state = Mutex((octets: 0, lastProgress: Duration.zero))

    init(idleTimeout: Duration, timeLimit: Duration) {
        (self.idleTimeout, self.timeLimit) = (idleTimeout, timeLimit)
    }

    /// The number of octets received.
    var octets: Int { state.withLock { $0.octets } }

    /// Records the number of octets received so far. Only an increase counts as progress.
    func note(_ octets: Int) {
        state.withLock { state in
            guard octets > state.octets else { return }
            state = (octets, stopwatch.elapsed())
        }
    }

    /// The time, from the beginning of the transfer, at which it ends if there is no more progress.
    private var deadline: Duration { min(timeLimit, state.withLock { $0.lastProgress } + idleTimeout) }

    /// Returns when the transfer has made no progress for too long, or has exceeded its time limit.
    func waitForEnd() async {
        // One sleep for each `idleTimeout`, however often there is progress during it.
        while !Task.isCancelled, deadline > stopwatch.elapsed() { try? await stopwatch.sleep(deadline) }
    }

    /// Which of the two limits was exceeded.
    var interruption: MessageInterruption { deadline < timeLimit ? .stalled(idleTimeout) : .tooSlow(timeLimit) }
}
