import Foundation
import GatewayConfiguration
import GatewayPipeline
import Logging
import Synchronization

/// The broker as a sink. Lasting messages are stored on disk before they are sent.
///
/// One thread does all the work: it stores new messages, sends waiting ones, and handles messages from the broker.
/// Other threads put messages into its inbox and wake it.
public final class MQTTSink: Sink {
    /// The settings of a sink.
    public struct Options: Sendable {
        /// The address of the broker, and the parameters of the connection to it.
        public var broker: BrokerSettings
        /// The client identifier (MQTT 3.1.1, 3.1.3.1), which must be unique among the broker's clients.
        public var clientID: String
        /// The file for waiting messages; nil keeps them in memory.
        public var spoolPath: String?
        /// The limits for waiting messages. The path in these settings is not used: `spoolPath` replaces it.
        public var spool: SpoolSettings
        /// The topic that reports whether the gateway is available.
        public var availabilityTopic: String
        /// The topics to subscribe to.
        public var subscriptions: [String] = []
        /// The logger for changes of the connection and for errors.
        public var logger: Logger
        /// Called on the sink's thread whenever the broker has accepted a connection.
        public var onConnect: @Sendable () -> Void = {}
        /// Called on the sink's thread with each message from the broker.
        public var onMessage: @Sendable (MQTTMessage) -> Void = { _ in }

        /// Creates settings without subscriptions and callbacks.
        public init(
            broker: BrokerSettings, clientID: String, spoolPath: String?, spool: SpoolSettings,
            availabilityTopic: String, logger: Logger
        ) {
            self.broker = broker
            self.clientID = clientID
            self.spoolPath = spoolPath
            self.spool = spool
            self.availabilityTopic = availabilityTopic
            self.logger = logger
        }
    }

    struct Inbox {
        var publications: [Publication] = []
        var dropped: UInt64 = 0
        var answers: [MQTTAnswer] = []
        var isStopping = false
        var hasEnded = false
        var ending: [CheckedContinuation<Void, Never>] = []
    }

    let options: Options
    let inbox = Mutex(Inbox())
    let shown = Mutex(SinkStatus())
    let waker: Waker

    /// The limit for messages that wait for the thread. It is reached only if the disk stalls.
    static let inboxLimit = 100_000

    /// Starts the thread.
    ///
    /// - Throws: an error if the settings of the broker are invalid, or if the file cannot be used.
    public init(_ options: Options) throws {
        self.options = options
        waker = try Waker()
        let worker = try MQTTWorker(self)
        // The thread owns the worker from here on.
        let box = Handover(worker)
        Thread.detachNewThread { box.worker.run() }
    }

    /// The state of the connection and the numbers of messages after the thread's last turn.
    public var status: SinkStatus { shown.withLock { $0 } }

    /// Adds messages to the inbox without blocking. If 100,000 messages or more already wait there, the new ones are
    /// dropped and counted in `SinkStatus.droppedOverload`.
    public func take(_ publications: [Publication]) {
        guard !publications.isEmpty else { return }
        let wasEmpty = inbox.withLock { inbox in
            let wasEmpty = inbox.publications.isEmpty
            if inbox.publications.count < Self.inboxLimit {
                inbox.publications += publications
            } else {
                inbox.dropped += UInt64(publications.count)
            }
            return wasEmpty
        }
        if wasEmpty { waker.wake() }
    }

    /// Sends an answer if the broker is connected. Answers are not stored, because the requester waits for them now.
    public func answer(_ answer: MQTTAnswer) {
        inbox.withLock { if $0.answers.count < 1000 { $0.answers.append(answer) } }
        waker.wake()
    }

    /// Sends the remaining messages for up to a few seconds, disconnects, and ends the thread.
    public func stop() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                inbox.isStopping = true
                if !inbox.hasEnded { inbox.ending.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() } else { waker.wake() }
        }
    }

    /// Transfers the worker to its thread. It is unchecked because the worker is handed over once and not used here
    /// afterwards.
    private struct Handover: @unchecked Sendable {
        let worker: MQTTWorker
        init(_ worker: MQTTWorker) { self.worker = worker }
    }
}

/// A message in response to a request.
public struct MQTTAnswer: Sendable {
    /// The topic to publish the answer to.
    public var topic: String
    /// The octets of the message.
    public var payload: [UInt8]
    /// The correlation data of the request (MQTT 5, 3.3.2.3.6); nil if it had none. MQTT 3.1.1 cannot transmit it.
    public var correlationData: [UInt8]?

    /// Creates an answer. Pass the topic for a response and the correlation data of the request.
    public init(topic: String, payload: [UInt8], correlationData: [UInt8]? = nil) {
        self.topic = topic
        self.payload = payload
        self.correlationData = correlationData
    }
}
