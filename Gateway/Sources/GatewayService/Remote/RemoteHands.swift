import BluetoothLE
import GatewayConfiguration
import GatewayMQTT
import GatewayPipeline
import Logging
import ServiceLifecycle
import Synchronization

/// Connects to devices for clients that send requests through the broker. Each connection has one owner, queues are
/// bounded, and every request has a deadline.
///
/// It is disabled unless devices are listed. Otherwise anyone who can write to the broker could, for example, open
/// locks.
public struct RemoteHands: Service {
    private struct Job: Sendable {
        var request: RemoteRequest
        var deadline: ContinuousClock.Instant
        var answer: @Sendable (RemoteAnswer) -> Void
    }

    /// The activity for one device.
    private struct Line {
        var link: RemoteLink
        var jobs: AsyncStream<Job>.Continuation
        var waiting = 0
    }

    /// The state that requests share.
    private final class Shared: Sendable {
        let lines = Mutex<[DeviceAddress: Line]>([:])
        let sink = Mutex<MQTTSink?>(nil)
        let requests: (stream: AsyncStream<MQTTMessage>, continuation: AsyncStream<MQTTMessage>.Continuation)
        init() {
            requests = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(RemoteHands.requestLimit))
        }
    }

    private let settings: RemoteSettings
    private let topics: Topics
    private let table: ConnectionTable
    private let fleet: @Sendable (DeviceAddress) -> (Adapter, String)?
    private let unpair: @Sendable (DeviceAddress) async throws(BluetoothError) -> Void
    private let logger: Logger
    private let shared = Shared()

    /// The maximum number of requests that wait to be processed, and of those that wait for one device.
    static let requestLimit = 64
    static let lineLimit = 16

    /// - Parameters:
    ///   - table: the places for connections.
    ///   - gateway: the gateway whose adapters connect to devices.
    public init(
        _ settings: RemoteSettings, _ topics: Topics, table: ConnectionTable, of gateway: GatewayService, logger: Logger
    ) {
        self.settings = settings
        self.topics = topics
        self.table = table
        fleet = gateway.adapter
        unpair = gateway.unpair
        self.logger = logger
    }

    /// The topic of requests.
    public var requestTopic: String { topics.gatewayRoot + "/request" }
    private var answerTopic: String { topics.gatewayRoot + "/answer" }

    /// Sets the sink for answers.
    public func use(_ sink: MQTTSink) { shared.sink.withLock { $0 = sink } }

    /// Handles a message from the broker. Called on the sink's thread.
    public func receive(_ message: MQTTMessage) {
        // The sender of a retained request no longer waits for an answer.
        guard message.topic == requestTopic, !message.isRetained else { return }
        if case .dropped = shared.requests.continuation.yield(message) {
            answer(
                message, .refused(RemoteRefusal(.busy, "too many requests are waiting")),
                id: RemoteRequest.id(of: message.payload))
        }
    }

    /// Performs requests until the service group shuts down, and then ends all connections.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await expire() }
                for await message in shared.requests.stream { begin(message, &group) }
                for line in shared.lines.withLock({ $0.values.map { $0 } }) { line.jobs.finish() }
            }
        }
        for line in shared.lines.withLock({ $0.values.map { $0 } }) { await line.link.end() }
    }

    // MARK: - Requests

    private func begin(_ message: MQTTMessage, _ group: inout DiscardingTaskGroup) {
        let request: RemoteRequest
        do throws(RemoteRefusal) {
            request = try RemoteRequest(message.payload)
            guard settings.allowed.contains(request.device.plain) else {
                throw RemoteRefusal(.notAllowed, "remote.allow does not contain the device", id: request.id)
            }
            guard settings.allowsPairing || !request.action.concernsBonds else {
                throw RemoteRefusal(.notAllowed, "remote.pair does not allow pairing", id: request.id)
            }
        } catch {
            return answer(message, .refused(error), id: error.id)
        }
        let job = Job(request: request, deadline: .now.advanced(by: request.timeout)) {
            answer(message, $0, id: request.id)
        }
        let isTaken = shared.lines.withLock { lines in
            if lines[request.device.plain] == nil { lines[request.device.plain] = open(request.device, &group) }
            guard let line = lines[request.device.plain], line.waiting < Self.lineLimit else { return false }
            lines[request.device.plain]?.waiting += 1
            line.jobs.yield(job)
            return true
        }
        if !isTaken { job.answer(.refused(RemoteRefusal(.busy, "too many requests are waiting for this device"))) }
    }

    /// Begins to serve a device. The number of such devices is limited by the configuration.
    private func open(_ device: DeviceAddress, _ group: inout DiscardingTaskGroup) -> Line {
        let (stream, jobs) = AsyncStream<Job>.makeStream()
        let link = RemoteLink(
            device,
            RemoteLink.Surroundings(
                adapter: fleet, table: table, unpair: unpair,
                tell: { path, json in tell(path, json) }))
        group.addTask {
            for await job in stream {
                let answer = await link.perform(job.request, deadline: job.deadline)
                shared.lines.withLock { $0[device.plain]?.waiting -= 1 }
                job.answer(answer)
            }
        }
        return Line(link: link, jobs: jobs)
    }

    /// Ends connections whose owners have sent no request for too long.
    private func expire() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let limit = ContinuousClock.now.advanced(by: .zero - settings.idle)
            for line in shared.lines.withLock({ $0.values.map { $0 } }) where line.link.isIdle(since: limit) {
                await line.link.end()
            }
        }
    }

    // MARK: - Answers

    private func answer(_ message: MQTTMessage, _ answer: RemoteAnswer, id: String?) {
        let wanted = message.responseTopic.flatMap { isForAnswers($0) ? $0 : nil }
        let answer = MQTTAnswer(
            topic: wanted ?? answerTopic, payload: Array(answer.json(id: id).utf8),
            correlationData: message.correlationData)
        shared.sink.withLock { $0 }?.answer(answer)
    }

    /// Whether an answer may be sent to a topic. In the topic of requests it would be the next request. If the topic is
    /// invalid or reserved for the broker, the broker may end the connection.
    private func isForAnswers(_ topic: String) -> Bool {
        topic != requestTopic && !topic.hasPrefix("$") && Topics.isPath(topic)
    }

    private func tell(_ path: String, _ json: String) {
        let publication = Publication(
            topic: "\(topics.gatewayRoot)/notify/\(path)", text: json, importance: .passing)
        shared.sink.withLock { $0 }?.take([publication])
    }
}
