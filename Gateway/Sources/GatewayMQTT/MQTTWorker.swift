import Foundation
import GatewayConfiguration
import GatewayPipeline
import Logging
import Synchronization

/// The work of the sink's thread, turn by turn.
final class MQTTWorker {
    private enum State {
        /// There is no connection, and the next attempt starts at the given time.
        case waiting(until: ContinuousClock.Instant)
        /// Another thread is connecting. Only that thread uses the client.
        case connecting
        /// There is a connection, but the broker has not answered yet.
        case greeting
        case connected(since: ContinuousClock.Instant)
        case ended
    }

    private unowned let sink: MQTTSink
    private let client: MosquittoClient
    private let waiting: MessageStore
    private let clock = ContinuousClock()
    private var state: State
    private var backoff: Backoff
    private var status = SinkStatus()
    private var failures = FailureLog()

    /// Messages from the inbox that are not stored yet.
    private var backlog: ArraySlice<Publication> = []
    /// The number of messages to store per turn. It is limited, so that messages are sent while many arrive.
    private static let batch = 500
    /// The time of the next intake. Messages that arrive until then are stored together, in one disk transaction.
    private var nextIntake: ContinuousClock.Instant
    private static let intakeInterval = Duration.milliseconds(10)
    /// Whether messages are waiting for the next intake.
    private var isAwaited = false

    /// Messages in transit, by the client's identifier.
    private var onTheirWay: [Int32: MessageStore.ID] = [:]
    /// The result from the thread that connects.
    private let outcome = Mutex<Result<Void, BrokerFailure>?>(nil)
    private var goodbye: (deadline: ContinuousClock.Instant, farewell: Int32?)?

    private var options: MQTTSink.Options { sink.options }
    private var logger: Logger { options.logger }

    init(_ sink: MQTTSink) throws {
        self.sink = sink
        let will = Publication(topic: sink.options.availabilityTopic, text: "offline", isRetained: true)
        client = try MosquittoClient(sink.options.broker, clientID: sink.options.clientID, will: will)
        waiting = MessageStore(try Spool(sink.options), limits: sink.options.spool)
        state = .waiting(until: clock.now)
        nextIntake = clock.now
        backoff = Backoff(last: sink.options.broker.longestWait)
    }

    // MARK: - Turns

    func run() {
        // The thread keeps its sink alive until it ends.
        let sink = sink
        while true {
            if case .ended = state { break }
            turn()
        }
        let lost = waiting.close()
        if lost > 0 { logger.error("\(lost) messages are lost, because they could not be written to disk") }
        let ending = sink.inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.ending.removeAll() }
            return inbox.ending
        }
        for continuation in ending { continuation.resume() }
    }

    private func turn() {
        let (answers, isStopping) = takeInbox()
        let publications = backlog.prefix(Self.batch)
        backlog = backlog.dropFirst(Self.batch)
        let lasting = publications.filter { $0.importance == .lasting }
        // If messages were only delivered, their removal from disk can wait until others are stored.
        if !lasting.isEmpty || clock.now >= nextIntake { store(lasting) }
        advance()
        if case .connected = state {
            send(publications.filter { $0.importance == .passing }, answers)
            pump()
        } else {
            status.droppedPassing += UInt64(publications.count { $0.importance == .passing })
        }
        if isStopping { leave() }
        show()
        if case .ended = state { return }
        wait()
    }

    /// Takes messages from the inbox, once the earlier ones are stored.
    private func takeInbox() -> (answers: [MQTTAnswer], isStopping: Bool) {
        let now = clock.now
        return sink.inbox.withLock { inbox in
            if backlog.isEmpty, !inbox.publications.isEmpty, now >= nextIntake || inbox.isStopping {
                backlog = inbox.publications[...]
                inbox.publications = []
                nextIntake = now.advanced(by: Self.intakeInterval)
            }
            isAwaited = !inbox.publications.isEmpty
            status.droppedOverload += inbox.dropped
            inbox.dropped = 0
            defer { inbox.answers.removeAll() }
            return (inbox.answers, inbox.isStopping)
        }
    }

    private func show() {
        status.waiting = waiting.count
        status.droppedSuperseded = waiting.losses.superseded
        status.droppedOldest = waiting.losses.oldest
        sink.shown.withLock { $0 = status }
    }

    /// Stores lasting messages, and removes delivered ones.
    private func store(_ lasting: [Publication]) {
        switch waiting.store(lasting, at: clock.now) {
        case .diskTakesNone(let reason):
            logger.error(
                """
                messages wait in memory only, because they cannot be written to disk: \(reason); \
                retrying with backoff
                """)
        case .diskTakesAgain: logger.info("messages are written to disk again")
        case nil: break
        }
    }

    /// Waits for the socket, for messages, or for the time of the next attempt.
    private func wait() {
        var descriptors = [pollfd(fd: sink.waker.descriptor, events: Int16(POLLIN), revents: 0)]
        var timeout: Int32 = 1000
        switch state {
        case .waiting(let until):
            timeout = min(timeout, Self.milliseconds(until: until, from: clock.now))
        case .greeting, .connected:
            let events = POLLIN | (client.wantsToWrite ? POLLOUT : 0)
            descriptors.append(pollfd(fd: client.socket, events: Int16(events), revents: 0))
        case .connecting, .ended: break
        }
        if waiting.hasNewsForDisk { timeout = min(timeout, 100) }
        if isAwaited { timeout = min(timeout, Self.milliseconds(until: nextIntake, from: clock.now)) }
        if !backlog.isEmpty { timeout = 0 }
        _ = poll(&descriptors, nfds_t(descriptors.count), timeout)
        if descriptors[0].revents != 0 { sink.waker.clear() }
        guard descriptors.count == 2 else { return }
        let happened = Int32(descriptors[1].revents)
        client.turn(isReadable: happened & (POLLIN | POLLHUP | POLLERR) != 0, isWritable: happened & POLLOUT != 0)
    }

    /// The time until an instant, rounded up so that the thread does not wake too early.
    private static func milliseconds(until end: ContinuousClock.Instant, from now: ContinuousClock.Instant) -> Int32 {
        Int32(max(0, min(1000, now.duration(to: end) / .milliseconds(1))).rounded(.up))
    }

    // MARK: - The connection

    private func advance() {
        switch state {
        case .waiting(let until) where until <= clock.now: connect()
        case .connecting: finishConnecting()
        case .greeting, .connected: takeEvents()
        case .waiting, .ended: break
        }
    }

    private func connect() {
        state = .connecting
        let attempt = Attempt(client: client, worker: self, waker: sink.waker)
        Thread.detachNewThread { attempt.run() }
    }

    /// Transfers the client to the thread that connects. It is unchecked because the worker does not touch the client
    /// until the outcome is available.
    private struct Attempt: @unchecked Sendable {
        let client: MosquittoClient
        let worker: MQTTWorker
        /// Held directly, because the sink may no longer exist when there is an outcome.
        let waker: Waker

        func run() {
            let outcome: Result<Void, BrokerFailure>
            do throws(BrokerFailure) {
                outcome = .success(try client.connect())
            } catch {
                outcome = .failure(error)
            }
            worker.outcome.withLock { $0 = outcome }
            waker.wake()
        }
    }

    private func finishConnecting() {
        switch outcome.withLock({ outcome in
            defer { outcome = nil }
            return outcome
        }) {
        case .success: state = .greeting
        case .failure(let failure): lose(failure)
        case nil: break
        }
    }

    private func lose(_ failure: BrokerFailure) {
        let now = clock.now
        if case .connected(let since) = state { backoff.connectionLasted(since.duration(to: now)) }
        let wait = backoff.wait(random: .random(in: 0...1))
        state = .waiting(until: now.advanced(by: wait))
        status.isConnected = false
        status.failure = failure.description
        if let count = failures.record(failure.description) {
            let again = count > 1 ? ", \(count) times so far" : ""
            logger.warning("\(options.broker.displayName): \(failure)\(again); retrying with backoff")
        }
    }

    private func takeEvents() {
        for event in client.takeEvents() {
            switch event {
            case .connected(nil): greet()
            // An event that the connection has ended follows.
            case .connected(let refusal?): failures.refusal = refusal
            case .disconnected(let failure):
                if case .waiting = state { break }
                lose(failures.takeRefusal() ?? failure)
            case .published(let identifier, let refusal):
                if goodbye?.farewell == identifier { goodbye?.farewell = -1 }
                guard let id = onTheirWay.removeValue(forKey: identifier) else { break }
                waiting.finish(id)
                if let refusal {
                    status.refused += 1
                    if status.refused.isPowerOfTwo { logger.error("the broker rejected a message: \(refusal)") }
                } else {
                    status.delivered += 1
                }
            case .message(let message): options.onMessage(message)
            }
        }
        // libmosquitto has no event for a connection that was never established.
        switch state {
        case .greeting, .connected: if client.socket < 0 { lose(client.silentLoss()) }
        case .waiting, .connecting, .ended: break
        }
    }

    private func greet() {
        state = .connected(since: clock.now)
        status.isConnected = true
        status.failure = nil
        status.connections += 1
        failures.reset()
        let online = Publication(topic: options.availabilityTopic, text: "online", isRetained: true)
        _ = try? client.publish(online, quality: 1)
        for filter in options.subscriptions { try? client.subscribe(to: filter) }
        let losses = waiting.losses.superseded + waiting.losses.oldest
        logger.info(
            "connected to \(options.broker.displayName); \(waiting.count) messages are waiting, \(losses) were dropped"
        )
        options.onConnect()
    }

    // MARK: - Messages

    private func send(_ passing: [Publication], _ answers: [MQTTAnswer]) {
        for publication in passing {
            if (try? client.publish(publication, quality: 0))?.isConnected == true {
                status.sent += 1
            } else {
                status.droppedPassing += 1
            }
        }
        for answer in answers {
            let publication = Publication(topic: answer.topic, payload: answer.payload)
            _ = try? client.publish(publication, quality: 1, correlationData: answer.correlationData)
        }
    }

    /// Passes the next messages to the client, up to its window.
    private func pump() {
        let room = MosquittoClient.window - onTheirWay.count
        guard room > 0 else { return }
        for entry in waiting.take(room) {
            do throws(BrokerFailure) {
                // The client owns the message from here on, even if the connection is lost.
                let (identifier, _) = try client.publish(entry.publication, quality: 1)
                onTheirWay[identifier] = entry.id
            } catch {
                // Another attempt would fail in the same way.
                waiting.finish(entry.id)
                status.refused += 1
                logger.error("cannot send a message to \(entry.publication.topic): \(error)")
            }
        }
    }

    // MARK: - The end

    /// Continues until everything is delivered, or for up to three seconds. Then reports that the gateway is offline.
    private func leave() {
        let now = clock.now
        if goodbye == nil { goodbye = (now.advanced(by: .seconds(3)), nil) }
        guard let goodbye else { return }
        guard case .connected = state else {
            // The thread that connects may still succeed. It may also hang for minutes, and then keeps the client.
            if case .connecting = state, now < goodbye.deadline { return }
            state = .ended
            return
        }
        let isDone = backlog.isEmpty && waiting.count == 0 && onTheirWay.isEmpty
        if goodbye.farewell == nil, isDone || now >= goodbye.deadline {
            let offline = Publication(topic: options.availabilityTopic, text: "offline", isRetained: true)
            self.goodbye?.farewell = (try? client.publish(offline, quality: 1))?.identifier ?? -1
        }
        guard self.goodbye?.farewell == -1 || now >= goodbye.deadline.advanced(by: .seconds(1)) else { return }
        store([])
        client.disconnect()
        client.turn(isReadable: false, isWritable: true)
        state = .ended
    }
}

extension UInt64 {
    fileprivate var isPowerOfTwo: Bool { self != 0 && self & (self - 1) == 0 }
}
