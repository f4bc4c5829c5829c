import BluetoothLE
import BluetoothPlatform
import Dispatch
import Synchronization

/// Converts SIGINT, SIGTERM and SIGHUP to the cancellation of a task. If the task does not end in time, the process
/// ends. A second signal ends the process immediately.
final class Interruption: Sendable {
    private struct First {
        var signal: Int32
        var instant: ContinuousClock.Instant
    }

    /// Signals within this time after the first one count as the same: `timeout`, for example, sends two.
    private static let echo = Duration.milliseconds(500)

    /// A separate queue, because the threads that run tasks may all be blocked.
    private let queue = DispatchQueue(label: "signals", qos: .userInitiated)
    /// The time in which the task must end after the first signal.
    private let limit: Duration
    private struct State {
        var first: First?
        /// Cancels the task; nil before there is one.
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let sources: Mutex<[any DispatchSourceSignal]>

    /// Once this returns, the signals no longer kill the process.
    init(limit: Duration = .seconds(5)) {
        self.limit = limit
        // Under nohup, SIGHUP is ignored, and the program outlives its terminal.
        let signals = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
        let queue = queue
        sources = Mutex(signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) })
        // Writing to a closed output is an error for the writer, and must not kill the process.
        signal(SIGPIPE, SIG_IGN)
        let registrations = DispatchGroup()
        for (source, signal) in zip(sources.withLock { $0 }, signals) {
            source.setEventHandler { self.receive(signal, at: .now) }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
        }
        registrations.wait()
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        #if canImport(Musl)
        let handler = unsafe action.__sa_handler.sa_handler
        #else
        let handler = unsafe action.__sigaction_handler.sa_handler
        #endif
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The exit status for the signal that ended the program.
    var status: Int32? { state.withLock { $0.first.map { 128 + $0.signal } } }

    /// Makes signals cancel `task`. If there was already a signal, the task is cancelled immediately.
    func cancel<Value: Sendable>(_ task: Task<Value, Never>) {
        let isInterrupted = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.first != nil
        }
        if isInterrupted { task.cancel() }
    }

    private func receive(_ signal: Int32, at now: ContinuousClock.Instant) {
        let (earlier, cancel) = state.withLock { state in
            defer { state.first = state.first ?? First(signal: signal, instant: now) }
            return (state.first, state.cancel)
        }
        guard let earlier else {
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(limit.nanoseconds))) { Self.exit(128 + signal) }
            cancel?()
            return
        }
        if now - earlier.instant > Self.echo { Self.exit(128 + signal) }
    }

    /// Ends the process immediately, after restoring the terminal.
    private static func exit(_ status: Int32) {
        LiveScreen.leaveCurrent()
        _exit(status)
    }
}
