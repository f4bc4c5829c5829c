import BluetoothLE

/// Attempts at an operation that a reset of the controller, a damaged packet or a lost link may interrupt. The time
/// limit for all attempts starts when this value is created.
public struct Attempts: Sendable {
    /// The time limit for all attempts.
    public let timeout: Seconds
    /// The time since this value was created.
    private let elapsed: @Sendable () -> Duration
    private let limits = AnswerLimits()
    private let pairings: PairingActivity

    /// Starts the time limit for all attempts.
    public init(within timeout: Seconds) { self.init(within: timeout, .current) }

    init(within timeout: Seconds, _ pairings: PairingActivity) {
        self.timeout = timeout
        self.pairings = pairings
        elapsed = Self.stopwatch(TimeLimits.clock)
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// The remaining time.
    public var left: Duration { max(.zero, timeout.duration - elapsed()) }

    /// The time limit for an answer from the device. It leaves time for further attempts.
    public var answerLimit: Duration { answerLimit(roundTrip: .zero) }

    func answerLimit(roundTrip: Duration) -> Duration {
        limits.limit(left: left, of: timeout.duration, roundTrip: roundTrip)
    }

    /// Waits for a device's answer, with a limit that leaves time for further attempts. Without it, a lost packet would
    /// take the 30 s after which the Attribute Protocol times out (Core 5.4, Vol 3, Part F, 3.3.3). The limit does not
    /// expire during a pairing in which the user takes part.
    ///
    /// - Throws: `.peerNotResponding` if the device took too long.
    public func answer<Value: Sendable>(
        of connection: Connection, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
    ) async throws(BluetoothError) -> Value {
        let link = connection.parameters
        return try await answer(
            roundTrip: AnswerLimits.roundTrip(interval: link.interval, latency: link.latency), body)
    }

    func answer<Value: Sendable>(
        roundTrip: Duration, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
    ) async throws(BluetoothError) -> Value {
        let limit = answerLimit(roundTrip: roundTrip), clock = TimeLimits.clock
        let value = try await race(body) { [pairings] in try? await pairings.wait(for: limit, by: clock) }
        guard let value else {
            limits.exceeded()
            throw .peerNotResponding
        }
        return value
    }

    /// Runs `body`, and again if that may help, as long as there is time. Links are ended before it runs again.
    ///
    /// - Throws: the error of the last attempt, or an earlier one if the last attempt only failed to find the device
    ///   again.
    public func run<Value>(on adapter: Adapter, _ body: () async throws -> Value) async throws -> Value {
        var history = AttemptHistory()
        while true {
            do {
                return try await body()
            } catch {
                try Task.checkCancellation()
                let pause: Duration
                switch history.verdict(after: error, left: left) {
                case .again(let duration): pause = duration
                case .end(let error): throw error
                }
                say("\(error); trying again")
                for connection in adapter.connections { await connection.end() }
                pairings.endAll()
                try await TimeLimits.clock.sleep(for: pause)
            }
            let left = left
            do throws(BluetoothError) {
                try await withTimeout(left) { () throws(BluetoothError) in try await adapter.waitUntilReady() }
            } catch {
                throw error == .timedOut ? history.telling ?? error : error
            }
        }
    }

    /// Runs an operation that sends commands to the controller, and again if a command was damaged or the controller is
    /// being reset. There is no time limit, but the controller may refuse only a few times.
    public static func untilTaken<Value>(
        on adapter: Adapter, _ body: () async throws(BluetoothError) -> Value
    ) async throws -> Value {
        try await unlimited(ready: { try await adapter.waitUntilReady() }, body)
    }

    /// Runs an operation that lasts until it is cancelled, and again if that may help. There is no time limit. Failures
    /// count as consecutive only if each attempt ends within a minute.
    public static func unlimited<Value>(on adapter: Adapter, _ body: () async throws -> Value) async throws -> Value {
        try await unlimited(ready: { try await adapter.waitUntilReady() }, body)
    }

    static func unlimited<Value>(
        ready: () async throws -> Void, _ body: () async throws -> Value
    ) async throws -> Value {
        var history = AttemptHistory()
        while true {
            let settling = Attempts(within: Self.settlingTime)
            do {
                return try await body()
            } catch {
                try Task.checkCancellation()
                if settling.left == .zero { history = AttemptHistory() }
                guard case .again(let pause) = history.verdict(after: error, left: Self.settlingTime.duration) else {
                    throw error
                }
                say("\(error); trying again")
                try await TimeLimits.clock.sleep(for: pause)
            }
            try await ready()
        }
    }

    /// An attempt that lasts this long does not count as a failure.
    private static let settlingTime = Seconds(60)
}

extension Connection {
    /// Ends the link. Waits at most one second for the controller to confirm that.
    fileprivate func end() async {
        try? await withTimeout(.seconds(1)) { () async throws(BluetoothError) in try await disconnect() }
    }
}
