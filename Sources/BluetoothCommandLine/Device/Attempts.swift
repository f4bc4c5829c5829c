import BluetoothLE

/// Attempts at something that a reset of the controller, a damaged packet or a lost link interrupts, within one time that
/// begins when this is made.
public struct Attempts: Sendable {
    /// How long the attempts may take.
    public let timeout: Seconds
    /// The time since this was made.
    private let elapsed: @Sendable () -> Duration
    private let limits = AnswerLimits()
    private let pairings: PairingActivity

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

    /// The time that is left.
    public var left: Duration { max(.zero, timeout.duration - elapsed()) }

    /// How long the device may take to answer, so that there is time for other attempts.
    public var answerLimit: Duration { answerLimit(roundTrip: .zero) }

    func answerLimit(roundTrip: Duration) -> Duration {
        limits.limit(left: left, of: timeout.duration, roundTrip: roundTrip)
    }

    /// Waits for what a device answers, for no longer than there is time for other attempts. A lost packet would otherwise take the
    /// 30 s after which the Attribute Protocol times out (Core 5.4, Vol 3, Part F, 3.3.3). A limit does not expire during a pairing in
    /// which a person takes part.
    ///
    /// - Throws: `.peerNotResponding` if the device took too long.
    public func answer<Value: Sendable>(
        of connection: Connection, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
    ) async throws(BluetoothError) -> Value {
        let link = try await connection.parameters
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

    /// Carries out `body`, again where that may help, for as long as there is time. Links are ended before it is repeated.
    ///
    /// - Throws: the error of the last attempt, or of an earlier one if the last only failed to find the device again.
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
                for connection in await adapter.connections { await connection.end() }
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

    /// Carries out something that sends commands to the controller, again if one of them was damaged or the controller is being
    /// reset. There is no time limit, but the controller may refuse only a few times.
    public static func untilTaken<Value>(
        on adapter: Adapter, _ body: () async throws(BluetoothError) -> Value
    ) async throws -> Value {
        try await unlimited(ready: { try await adapter.waitUntilReady() }, body)
    }

    /// Carries out something that lasts until it is cancelled, again where that may help. There is no time limit. Errors are only
    /// taken for one failure after the other if the next attempt ends within a minute.
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

    /// An attempt that has lasted this long was no failure.
    private static let settlingTime = Seconds(60)
}

extension Connection {
    /// Ends the link. A controller that does not confirm that is not waited for.
    fileprivate func end() async {
        try? await withTimeout(.seconds(1)) { () async throws(BluetoothError) in try await disconnect() }
    }
}
