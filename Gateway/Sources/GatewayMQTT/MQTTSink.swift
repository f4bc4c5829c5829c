import Foundation
import GatewayConfiguration
import GatewayPipeline
import Logging
import Synchronization

/// The broker as a sink: what is lasting goes by way of the disk.
///
/// One thread does everything: it stores what has come, sends what is next, and listens to the broker. The others put
/// messages into its inbox and wake it.
public final class MQTTSink: Sink {
    public struct Options: Sendable {
        public var broker: BrokerSettings
        public var clientID: String
        /// The file for messages that wait; nil keeps them in memory.
        public var spoolPath: String?
        public var spool: SpoolSettings
        /// Where it is told whether the gateway is there.
        public var availabilityTopic: String
        /// Topics to listen to.
        public var subscriptions: [String] = []
        public var logger: Logger
        /// Called on the sink's thread each time that the broker has accepted the connection.
        public var onConnect: @Sendable () -> Void = {}
        /// Called on the sink's thread with what comes from the broker.
        public var onMessage: @Sendable (MQTTMessage) -> Void = { _ in }

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

    /// More than this waits for the thread only if the disk stands still.
    static let inboxLimit = 100_000

    /// Starts the thread.
    ///
    /// - Throws: what is wrong with the settings of the broker, or with the file.
    public init(_ options: Options) throws {
        self.options = options
        waker = try Waker()
        let worker = try MQTTWorker(self)
        // The thread owns the worker from here on.
        let box = Handover(worker)
        Thread.detachNewThread { box.worker.run() }
    }

    public var status: SinkStatus { shown.withLock { $0 } }

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

    /// Sends an answer if the broker is there: whoever asked waits now and not later.
    public func answer(_ answer: MQTTAnswer) {
        inbox.withLock { if $0.answers.count < 1000 { $0.answers.append(answer) } }
        waker.wake()
    }

    /// Sends what is left, as far as the broker takes it in some seconds, says goodbye and ends.
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

    /// Carries the worker to its thread. It is unchecked since the worker is handed over once and not used here again.
    private struct Handover: @unchecked Sendable {
        let worker: MQTTWorker
        init(_ worker: MQTTWorker) { self.worker = worker }
    }
}

/// A message for whoever has asked.
public struct MQTTAnswer: Sendable {
    public var topic: String
    public var payload: [UInt8]
    public var correlationData: [UInt8]?

    public init(topic: String, payload: [UInt8], correlationData: [UInt8]? = nil) {
        self.topic = topic
        self.payload = payload
        self.correlationData = correlationData
    }
}
